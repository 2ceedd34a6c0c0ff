"""What a backup needs of an engine: one consistent state of everything, held while it is copied."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from laconic.storage.database import Row

Progress = Callable[[int], None]
"""Told how many bytes more have been written."""


class Snapshot(Protocol):
    """The database as it was when the snapshot was opened. Nobody waits for it: creates and clicks go on.

    Links are not older than totals, and raw clicks are not older than the journal positions: what the totals have not
    got yet, the journals have, and what raw clicks have already is not added again.
    """

    engine: str

    schema: int
    """The number of the last migration."""

    async def fetch_one(self, sql: str, *args: Any) -> Row | None: ...

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...

    async def size(self) -> int:
        """Bytes that `write` is going to write, about."""
        ...

    async def write(self, folder: Path, progress: Progress) -> None:
        """Puts it into files of this folder, mode 0600, each synced."""
        ...
