"""Passwords: argon2id, in one thread that stands back for the loop.

A hash takes tens of milliseconds of a core by design. The library gives the interpreter's lock away meanwhile, so a
thread will do; it is niced, because a redirect must not wait for a core behind somebody's sign-in.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from laconic.errors import TooManyRequests

T = TypeVar("T")

_NICE = 15
# RFC 9106, section 4, second recommended option, with one lane: the thread has one core.
_MEMORY_KIB = 64 * 1024
_PASSES = 3
# More than a second or two of work in front of somebody: better to say "in a moment" than to let all wait.
_MOST_WAITING = 40


class Passwords:
    """Hashes and checks, one at a time in each process."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1)
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="laconic-passwords", initializer=_stand_back)

    async def hash(self, password: str) -> str:
        return await self._in_turn(self._hasher.hash, password)

    async def is_right(self, password_hash: str, password: str) -> bool:
        return await self._in_turn(self._verify, password_hash, password)

    async def _in_turn(self, work: Callable[..., T], *arguments: str) -> T:
        if self._waiting >= _MOST_WAITING:
            raise TooManyRequests(1.0)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        finally:
            self._waiting -= 1

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def _stand_back() -> None:
    """Linux keeps a nice value for each thread. A sandbox may forbid it, which is no reason to let nobody in."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
