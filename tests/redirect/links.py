"""What redirect tests share: rows as a look-up reads them, a database that is turned by hand, clocks."""

import asyncio
from dataclasses import replace

from laconic.clock import SECOND
from laconic.errors import Unavailable
from laconic.redirect.model import LinkRow

NOON = 1_750_000_000 * SECOND

LINK = LinkRow(
    link_id=42,
    location="https://example.com/v1",
    redirect_status=302,
    expires_at=None,
    is_active=True,
    is_deleted=False,
    gone_reason=None,
    version=1,
)


def link(version: int = 1, **changes: object) -> LinkRow:
    """A link whose target tells its version."""
    return replace(LINK, version=version, location=f"https://example.com/v{version}", **changes)  # type: ignore[arg-type]


class Clock:
    """Both clocks of a cache, turned by hand."""

    def __init__(self) -> None:
        self.moment = NOON

    def __call__(self) -> int:
        return self.moment

    def monotonic(self) -> float:
        return self.moment / SECOND

    def pass_seconds(self, seconds: float) -> None:
        self.moment += int(seconds * SECOND)


class Rows:
    """What the database holds. A look-up reads at once, and ends when the gate is open."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, str], LinkRow] = {}
        self.asked = 0
        self.is_away = False
        self.began = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, domain_id: int, code: str) -> LinkRow | None:
        self.asked += 1
        self.began.set()
        if self.is_away:
            raise Unavailable("The database is away.")
        row = self.rows.get((domain_id, code))
        await self.gate.wait()
        return row
