"""One writer thread for an engine that allows one writer: whoever waits together commits together.

A sync to disk costs the same for one transaction as for two hundred. So the thread takes all the work that
has gathered while the last commit was under way, runs each piece in a savepoint, and commits once.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from laconic.clock import monotonic
from laconic.errors import LaconicError, OutcomeUnknown, Unavailable
from laconic.storage.database import SLOW_SECONDS, Statements

T = TypeVar("T")
Work = Callable[[Statements], Awaitable[Any]]

# Bounds how long one commit may keep the others waiting.
_MOST_PER_COMMIT = 256


class Session(Protocol):
    """What the thread needs of a connection. Each verb may raise; `begin` waits for other processes."""

    statements: Statements

    def begin(self) -> None: ...

    def savepoint(self) -> None: ...

    def release(self) -> None: ...

    def undo_to_savepoint(self) -> None: ...

    def commit(self) -> None: ...

    def undo(self) -> None:
        """Rolls back whatever is open; does nothing when nothing is."""
        ...

    def is_open(self) -> bool:
        """Is a transaction open? An engine may have rolled it back by itself (disk full)."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class _Job:
    work: Work
    waiter: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = field(default=None)

    def settle(self) -> None:
        _settle(self.waiter, self.result, self.error)


def _settle(waiter: asyncio.Future[T], result: T, error: BaseException | None) -> None:
    if waiter.done():
        # Whoever waited has left meanwhile, or was told to end.
        return
    if error is None:
        waiter.set_result(result)
    else:
        waiter.set_exception(error)


def run_to_end(awaitable: Awaitable[T]) -> T:
    """Drives a coroutine whose awaits never suspend, outside any loop, and gives its result."""
    coroutine: Coroutine[Any, Any, T] = awaitable  # type: ignore[assignment]
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    coroutine.close()
    raise RuntimeError("a transaction awaited something other than its statements")


class GroupCommit:
    """Runs work in its own thread on its own session, in the order it came."""

    def __init__(self, open_session: Callable[[], Session]) -> None:
        self._loop = asyncio.get_running_loop()
        self._open_session = open_session
        self._jobs: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._closing = False
        # Work that has not been settled, and commits that took long.
        self.waiting = 0
        self.slow = 0
        self._thread = threading.Thread(target=self._run, name="laconic-writer", daemon=True)
        self._started: asyncio.Future[None] = self._loop.create_future()

    async def start(self) -> None:
        self._thread.start()
        await self._started

    async def run(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        waiter: asyncio.Future[T] = self._loop.create_future()
        with self._wake:
            if self._closing:
                raise Unavailable("The database is closed.")
            self._jobs.append(_Job(work, waiter))
            self.waiting += 1
            self._wake.notify()
        # A caller that goes away must not leave a half-told story: it takes its future with it, and the work is done
        # or undone all the same.
        return await waiter

    async def close(self) -> None:
        with self._wake:
            self._closing = True
            self._wake.notify()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            session = self._open_session()
        except BaseException as error:
            self._tell(self._tell_start, error)
            return
        self._tell(self._tell_start, None)
        while batch := self._next_batch():
            begun = monotonic()
            self._commit_together(session, batch)
            self.slow += monotonic() - begun > SLOW_SECONDS
            self._tell(self._settle_all, batch)
        session.close()

    def _tell_start(self, error: BaseException | None) -> None:
        _settle(self._started, None, error)

    def _settle_all(self, batch: list[_Job]) -> None:
        self.waiting -= len(batch)
        for job in batch:
            job.settle()

    def _tell(self, call: Callable[[Any], None], argument: Any) -> None:
        self._loop.call_soon_threadsafe(call, argument)

    def _next_batch(self) -> list[_Job]:
        """Waits for work; an empty list means that the thread shall end."""
        with self._wake:
            while not self._jobs and not self._closing:
                self._wake.wait()
            count = min(len(self._jobs), _MOST_PER_COMMIT)
            return [self._jobs.popleft() for _ in range(count)]

    def _commit_together(self, session: Session, batch: list[_Job]) -> None:
        try:
            session.begin()
            for job in batch:
                self._run_one(session, job, alone=len(batch) == 1)
        except Exception as error:
            _fail_all(batch, error if isinstance(error, LaconicError) else Unavailable(str(error)))
            session.undo()
            return
        if all(job.error for job in batch):
            session.undo()
            return
        try:
            session.commit()
        except Exception as error:
            session.undo()
            _fail_all(batch, OutcomeUnknown(f"The commit failed: {error}"))

    def _run_one(self, session: Session, job: _Job, *, alone: bool) -> None:
        if not alone:
            session.savepoint()
        try:
            job.result = run_to_end(job.work(session.statements))
        except BaseException as error:
            job.error = error
            if not session.is_open():
                # The engine has undone the whole transaction: what the others did is gone too.
                raise Unavailable(f"The transaction was rolled back: {error}") from error
            if not alone:
                session.undo_to_savepoint()
        else:
            if not alone:
                session.release()


def _fail_all(batch: list[_Job], error: Exception) -> None:
    for job in batch:
        job.error = job.error or error
