"""A bar for long work, on a terminal and nowhere else."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """`expect` says how many bytes there are to be, `advance` that so many more are done."""

    expect: Callable[[int], None]
    advance: Callable[[int], None]


@contextlib.contextmanager
def bar_of_bytes(what: str, *, is_wanted: bool = True) -> Iterator[Bar]:
    """On standard error, so that what the command prints stays its result."""
    if not (is_wanted and sys.stderr.isatty()):
        yield Bar(lambda _: None, lambda _: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(binary_units=True))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield Bar(
            lambda total: progress.update(task, total=total or None),
            lambda done: progress.advance(task, done),
        )
