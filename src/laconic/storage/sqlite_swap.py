"""Puts prepared files into the place of a data folder's files, all of them or none, whatever dies in between.

The plan is written down before the first file is moved. Whoever opens the folder next, after a kill, finds it and
carries it out to the end: every step can be done again.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PLAN = "restore.json"
_PATTERNS = ("laconic.db*", "clicks.db*", "clicks-*.db*", "new-clicks-*.db*")


@dataclass(frozen=True, slots=True)
class _Plan:
    stage: str
    aside: str
    old: list[str]
    new: list[str]
    # From, to: moved unless something is there.
    also: list[tuple[str, str]]

    def carry_out(self, folder: Path) -> None:
        stage, aside = folder / self.stage, folder / self.aside
        for name in self.old:
            if not (aside / name).exists() and (folder / name).exists():
                (folder / name).rename(aside / name)
        for name in self.new:
            if (stage / name).exists():
                (stage / name).rename(folder / name)
        for source, target in self.also:
            if Path(source).exists() and not Path(target).exists():
                shutil.move(source, target)
        _sync(aside)
        _sync(folder)
        shutil.rmtree(stage, ignore_errors=True)


def swap(folder: Path, stage: Path, aside: str, also: Sequence[tuple[Path, Path]]) -> Path | None:
    """`stage` is a folder inside `folder`. What was there is in `folder / aside` then; None when nothing was."""
    old = sorted(path.name for pattern in _PATTERNS for path in folder.glob(pattern))
    new = sorted(path.name for pattern in _PATTERNS for path in stage.glob(pattern))
    (folder / aside).mkdir(mode=0o700)
    plan = _Plan(stage.name, aside, old, new, [(str(source), str(target)) for source, target in also])
    hidden = folder / f".{PLAN}"
    with hidden.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump(asdict(plan), file)
        file.flush()
        os.fsync(file.fileno())
        hidden.rename(folder / PLAN)
        _sync(folder)
        plan.carry_out(folder)
        (folder / PLAN).unlink()
    if old:
        return folder / aside
    (folder / aside).rmdir()
    return None


def finish_swap(folder: Path) -> None:
    """What a killed restore had begun. Costs one look when there is nothing, which is always."""
    with _locked(folder / PLAN) as file:
        if file is not None:
            document = json.loads(file)
            also = [(source, target) for source, target in document.pop("also")]
            _Plan(**document, also=also).carry_out(folder)
            (folder / PLAN).unlink()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[str | None]:
    """The plan's text, once nobody else is at it; None when there is none (any more)."""
    try:
        file = path.open()
    except FileNotFoundError:
        yield None
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file.read() if path.exists() else None


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
