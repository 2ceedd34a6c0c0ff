"""What a store must do that all machines share: fast, and lost at any time.

It makes things cheaper and never decides anything: whatever it holds can be had from the database, and whoever
reads from it must be able to tell what is too old. One engine implements it, `redis`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    # Not for commands: it brings structlog, which would double their start.
    from laconic.storage.breaker import Breaker

Argument = str | bytes | int
Call = tuple[str, Sequence[Argument]]
"""One key, and the arguments of a script that is run on it."""


@dataclass(frozen=True, slots=True)
class Script:
    """A program that runs inside the store, all of it or nothing, on one key: `KEYS[1]`, `ARGV[1]` and so on (Lua)."""

    text: str
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha1(self.text.encode()).hexdigest())  # noqa: S324


class SharedStore(Protocol):
    """Each verb answers within 50 ms or raises `SharedAway`.

    When several calls in a row have failed, the next ones raise at once, until a probe has found the store again:
    nobody waits twice for the same outage. A write that was given up may still happen, even much later.
    """

    @property
    def state(self) -> Literal["connected", "error"]:
        """As the last calls found it; costs nothing."""
        ...

    @property
    def breakers(self) -> "Sequence[Breaker]":
        """One for each server that was asked so far, and one for writes."""
        ...

    async def ping(self) -> bool:
        """Does it answer now?"""
        ...

    async def get(self, key: str) -> bytes | None: ...

    async def run(self, script: Script, key: str, *arguments: Argument) -> Any:
        """What the script returns."""
        ...

    async def run_many(self, script: Script, calls: Sequence[Call]) -> None:
        """The same for many keys in one round trip, in their order for any one key. What they return is dropped."""
        ...

    async def close(self) -> None: ...
