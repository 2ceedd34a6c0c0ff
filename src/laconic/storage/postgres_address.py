"""Where a PostgreSQL server is, by its URL, and how long to wait for it at the start."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from laconic.errors import CannotStart, SettingInvalid, Unavailable

T = TypeVar("T")

_POOLER = "pgbouncer=true"
_ATTRIBUTES = "target_session_attrs="
_WRITABLE = _ATTRIBUTES + "read-write"
_OPEN_SECONDS = 10.0
_PAUSE_SECONDS = 0.2
_CONNECT_SECONDS = 5.0


@dataclass(slots=True)
class Turn:
    """Which of several hosts is asked first. It moves on when that one fails, for all who share the address."""

    host: int = 0

    def order(self, count: int) -> list[int]:
        return [(self.host + step) % count for step in range(count)]

    def failed(self, host: int, count: int) -> None:
        if self.host == host:
            self.host = (host + 1) % count


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    url: str
    is_pooler: bool
    turn: Turn = field(default_factory=Turn, compare=False)

    @classmethod
    def from_url(cls, url: str) -> "PostgresAddress":
        """`?pgbouncer=true` says that a pooler stands between: no statement may outlive its transaction.

        Of several hosts, `a:5432,b:5432`, the one that takes writes is used, unless the URL wants something else.
        """
        parts = urlsplit(url)
        options = parts.query.split("&") if parts.query else []
        kept = [option for option in options if option != _POOLER]
        if "," in parts.netloc.rpartition("@")[2] and not any(
            option.startswith(_ATTRIBUTES) for option in kept
        ):
            kept.append(_WRITABLE)
        return cls(parts._replace(query="&".join(kept)).geturl(), is_pooler=_POOLER in options)

    @property
    def urls(self) -> list[str]:
        """One for each host."""
        parts = urlsplit(self.url)
        user, at, hosts = parts.netloc.rpartition("@")
        return [parts._replace(netloc=user + at + host).geturl() for host in hosts.split(",")]

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
