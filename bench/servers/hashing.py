"""`laconic serve` whose web worker hashes passwords from SIGUSR1 to SIGUSR2, ten at a time.

No request makes a worker hash a password yet. This does in the worker's loop what a sign-in will do there, with the
class that it will use, and leaves no back door in the product.
"""

import asyncio
import signal
from typing import Any
from unittest import mock

from laconic.cli.main import main
from laconic.serve import supervisor
from laconic.serve.web_worker import run_web_worker
from laconic.workspaces.passwords import Passwords

_AT_ONCE = 10


class _Hashing:
    def __init__(self) -> None:
        self._passwords = Passwords()
        self._tasks: list[asyncio.Task[None]] = []
        self._made = 0

    def begin(self) -> None:
        self._made = 0
        self._tasks = [asyncio.create_task(self._hash_on()) for _ in range(_AT_ONCE)]

    def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        print(f"HASHED {self._made}", flush=True)

    async def _hash_on(self) -> None:
        while True:
            await self._passwords.hash("correct horse battery staple")
            self._made += 1


async def _run_and_hash(*arguments: Any) -> None:
    hashing = _Hashing()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, hashing.begin)
    loop.add_signal_handler(signal.SIGUSR2, hashing.end)
    await run_web_worker(*arguments)


if __name__ == "__main__":
    with mock.patch.object(supervisor, "run_web_worker", _run_and_hash):
        main()
