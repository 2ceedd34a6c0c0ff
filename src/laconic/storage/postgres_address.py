"""Where a PostgreSQL server is, by its URL, and how long to wait for it at the start."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from laconic.errors import CannotStart, SettingInvalid, Unavailable

T = TypeVar("T")

_POOLER = "pgbouncer=true"
_OPEN_SECONDS = 10.0
_PAUSE_SECONDS = 0.2
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    url: str
    is_pooler: bool

    @classmethod
    def from_url(cls, url: str) -> "PostgresAddress":
        """`?pgbouncer=true` says that a pooler stands between: no statement may outlive its transaction."""
        parts = urlsplit(url)
        options = parts.query.split("&")
        kept = "&".join(option for option in options if option != _POOLER)
        return cls(parts._replace(query=kept).geturl(), is_pooler=_POOLER in options)

    @property
    def name(self) -> str:
        """For messages: without user and password."""
        parts = urlsplit(self.url)
        return (parts.netloc.rpartition("@")[2] or "the local socket") + parts.path

    def options(self, command_timeout: float | None) -> dict[str, Any]:
        """What the driver is told for every connection."""
        return {
            "timeout": _CONNECT_SECONDS,
            "command_timeout": command_timeout,
            "server_settings": {"application_name": "laconic"},
            **({"statement_cache_size": 0} if self.is_pooler else {}),
        }

    async def patiently(
        self, connect: Callable[[], Awaitable[T]], *, hopeless: tuple[type[Exception], ...]
    ) -> T:
        """Waits for a server that is just being started, but neither for ever nor when it is `hopeless`."""
        last: BaseException = TimeoutError("no answer")
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                while True:
                    try:
                        return await connect()
                    except (Unavailable, ValueError) as error:
                        last = error.__cause__ or error
                        self._give_up_on(last, hopeless)
                    await asyncio.sleep(_PAUSE_SECONDS)
        except TimeoutError:
            raise Unavailable(
                f"PostgreSQL at {self.name} did not answer within {_OPEN_SECONDS:.0f} s: {str(last) or type(last).__name__}"
            ) from last

    def _give_up_on(self, error: BaseException, hopeless: tuple[type[Exception], ...]) -> None:
        if isinstance(error, hopeless):
            raise CannotStart(f"PostgreSQL at {self.name} does not let Laconic in: {error}") from error
        if isinstance(error, ValueError):
            # Not in the driver's words, which may hold a piece of the password.
            raise SettingInvalid(
                "The PostgreSQL URL cannot be read. It looks like postgresql://user:password@host:5432/database;"
                " special characters in the password are percent-encoded (@ as %40)."
            ) from None
