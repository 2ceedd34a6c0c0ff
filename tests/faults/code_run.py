"""Allocators, fillers, PostgreSQL and Redis, and everything that is done to them while codes are given out."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from laconic.storage.engines import migrate
from tests.faults.code_worker import LEASE
from tests.redis_servers import client_of
from tests.servers import PostgresServer, RedisServer

_POLL_SECONDS = 0.05
_PATIENCE_SECONDS = 300.0
_ROOT = Path(__file__).parents[2]
_SET = "kgs:{default}:unused"
_NO_DATABASE = 'database "codes" does not exist'


@dataclass
class Result:
    given: int = 0
    duplicates: int = 0
    refusals: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    counter: int = 0
    skipped: int = 0
    seconds: float = 0.0

    @property
    def burnt(self) -> int:
        """Counters that became no code: unwanted ones, blocks of the killed, pools thrown away, what is ready."""
        return self.counter - self.skipped - self.given


class CodeRun:
    """Whatever is started here is ended by `close`."""

    def __init__(self, folder: Path, postgres: PostgresServer, redis: RedisServer, *, pool: int) -> None:
        self.folder = folder
        self.result = Result()
        self._postgres = postgres
        self._redis = redis
        self._pool = pool
        self._data = folder / "data"
        self._data.mkdir()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._away: list[tuple[float, float]] = []
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LACONIC_")},
            "LACONIC_DATABASE_URL": postgres.url("codes"),
            "LACONIC_REDIS_URL": redis.url(),
            "LACONIC_DATA": str(self._data),
            "LACONIC_KGS_POOL_MIN_SIZE": str(pool),
            "LACONIC_KGS_BATCH_SIZE": str(max(1_000, pool // 10)),
        }

    def start(self, allocators: int) -> None:
        self._sql("CREATE DATABASE codes")
        asyncio.run(migrate(self._postgres.url("codes")))
        self._sql("CREATE TABLE given (code text PRIMARY KEY)", database="codes")
        for number in range(2):
            self._spawn(f"filler {number}")
        for number in range(allocators):
            self._spawn(f"allocator {number}")

    def close(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self._processes.clear()

    def _spawn(self, name: str) -> None:
        role, number = name.split()
        arguments = ["fill"] if role == "filler" else ["allocate", str(self.folder / f"{number}.given")]
        with (self.folder / f"{role}-{number}.err").open("ab") as errors:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.code_worker", *arguments],
                cwd=_ROOT,
                env=self._environment,
                stdout=errors,
                stderr=errors,
            )

    def given(self) -> int:
        """By the sizes of the files: a code and its line end are eight bytes."""
        return sum(path.stat().st_size for path in self.folder.glob("*.given")) // 8

    def wait_for(self, count: int) -> None:
        """Until so many codes were given in all."""
        self._wait(lambda: self.given() >= count, f"{count} codes")

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not is_so():
            for name, process in self._processes.items():
                if process.poll() is not None:
                    self._start_again(name)
            assert time.monotonic() < deadline, f"{what} did not come; {self.given()} codes were given"
            time.sleep(_POLL_SECONDS)

    def _start_again(self, name: str) -> None:
        """As a supervisor would, whoever began just when the backup took the database's place. Nobody else may end."""
        errors = self._errors(name)
        assert _NO_DATABASE in errors[-len(_NO_DATABASE) - 200 :], f"{name} ended: {errors}"
        self._spawn(name)

    def _errors(self, name: str) -> str:
        return (self.folder / f"{name.replace(' ', '-')}.err").read_text()[-2_000:]

    # What can happen

    def kill_allocator(self) -> None:
        name = random.choice([name for name in self._processes if name.startswith("allocator")])
        self._kill(name)

    def kill_filler(self) -> None:
        """The one that has the lease."""
        self._kill(self._working_filler())

    def _kill(self, name: str) -> None:
        self._processes[name].kill()
        self._processes[name].wait()
        self._spawn(name)

    def stop_filler(self) -> None:
        """Past its lease: the other one takes over; then the first wakes and believes that it has the job."""
        process = self._processes[self._working_filler()]
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5 * LEASE / 1_000_000)
        process.send_signal(signal.SIGCONT)

    def _working_filler(self) -> str:
        rows = self._fetch("SELECT holder FROM job_lease")
        by_pid = {str(process.pid): name for name, process in self._processes.items()}
        holder = rows[0][0].split(":")[1] if rows else ""
        return by_pid.get(holder, "filler 0")

    def kill_redis(self) -> None:
        """It comes back empty."""
        (self._redis.folder / "dump.rdb").unlink(missing_ok=True)
        self._redis.kill()
        self._redis.start()

    def keep_redis(self) -> None:
        """What an old replica knows, of a set that is full: allocators wait so long."""
        pause = self.folder / "pause"
        pause.touch()
        with client_of(self._redis) as client:
            self._wait(lambda: client.scard(_SET) >= self._pool // 3, "a set that is full")
            client.save()
        pause.unlink()

    def promote_old_redis(self) -> None:
        """Redis comes back as it was at `keep_redis`: codes that were taken since are in its set again."""
        self._redis.kill()
        self._redis.start()

    def back_up(self) -> None:
        """A copy of the database, made while nobody is connected; what a dump read in anew would be."""
        self._alone("CREATE DATABASE backup TEMPLATE codes")

    def restore(self) -> None:
        """Half of the allocators go on with what they hold in memory, the others begin with what the backup knows."""
        self._alone("DROP DATABASE codes WITH (FORCE)", "ALTER DATABASE backup RENAME TO codes")
        allocators = sorted(name for name in self._processes if name.startswith("allocator"))
        sizes = {name: self._given_by(name) for name in allocators[::2]}
        for name in sizes:
            self._kill(name)
        self._wait(
            lambda: all(self._given_by(name) > size + 5_000 for name, size in sizes.items()), "restarts"
        )

    def _given_by(self, name: str) -> int:
        path = self.folder / f"{name.split()[1]}.given"
        return path.stat().st_size // 8 if path.exists() else 0

    def _alone(self, *statements: str) -> None:
        """While the database is away creates cannot be answered: refusals of that time are not counted."""
        since = time.time()
        self._sql("ALTER DATABASE codes ALLOW_CONNECTIONS false")
        self._sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'codes'", *statements
        )
        self._sql("ALTER DATABASE codes ALLOW_CONNECTIONS true")
        self.wait_for(self.given() + 5_000)
        self._away.append((since, time.time()))

    def do(self, what: str) -> None:
        """Several at once, without a pause, when there is a plus between them."""
        for one in what.split("+"):
            getattr(self, one)()
            self.result.done.append(one)

    # What came of it

    def finish(self) -> Result:
        self.close()
        result = self.result
        row = self._fetch("SELECT next, skipped FROM kgs_range")[0]
        result.counter, result.skipped = row[0], row[1]
        result.given = self.given()
        result.duplicates = _duplicates(self.folder)
        logs = [path.read_text() for path in self.folder.glob("*.log")]
        told = [json.loads(line) for log in logs for line in log.splitlines()]
        result.refusals = [
            one["refused"] for one in told if not any(start <= one["at"] <= end for start, end in self._away)
        ]
        return result

    def _sql(self, *statements: str, database: str = "postgres") -> None:
        asyncio.run(_execute(self._postgres.url(database), statements))

    def _fetch(self, statement: str) -> list[asyncpg.Record]:
        return asyncio.run(_fetch(self._postgres.url("codes"), statement))


async def _execute(url: str, statements: tuple[str, ...]) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def _fetch(url: str, statement: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(statement))
    finally:
        await connection.close()


def _duplicates(folder: Path) -> int:
    """Over all files, with the memory that sort(1) takes; a last line that a kill has cut is no code."""
    files = " ".join(f"'{path}'" for path in folder.glob("*.given"))
    done = subprocess.run(
        f"cat {files} | grep -xE '.{{7}}' | LC_ALL=C sort -S 256M | uniq -d | wc -l",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)
