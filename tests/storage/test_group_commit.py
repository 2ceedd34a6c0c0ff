"""The writer's thread and whoever waits for it, when one of them goes first."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from laconic.storage.group_commit import GroupCommit, Session
from laconic.storage.sqlite import _WriterSession


@pytest.mark.parametrize("fails", [False, True], ids=["opens", "does not open"])
async def test_a_start_that_nobody_waits_for_any_more_says_nothing(tmp_path: Path, fails: bool) -> None:
    """A worker may be told to end while its database is being opened."""
    gate = threading.Event()
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, complaint: complaints.append(complaint))
    path = tmp_path / "laconic.db"
    path.touch()

    def open_session() -> Session:
        gate.wait()
        if fails:
            raise OSError("no such disk")
        return _WriterSession(path, 1024)

    commit = GroupCommit(open_session)
    starting = asyncio.create_task(commit.start())
    await asyncio.sleep(0)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    gate.set()
    await commit.close()
    await asyncio.sleep(0)
    assert complaints == []
