"""A tree of its own, in which one mutant after the other meets the tests."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tools.mutants.targets import Target

ROOT = Path(__file__).parents[2]
_ABSENT = ("cacheprovider", "xdist", "schemathesis", "platformdirs")
OPTIONS = [
    *("-x", "-q", "-k", "not postgres", "--assert=plain", "--tb=short", "--hypothesis-profile=mutants"),
    *(option for plugin in _ABSENT for option in ("-p", f"no:{plugin}")),
]


@dataclass(frozen=True)
class Mutant:
    path: str
    operator: str
    row: int
    was: str
    """The lines that are changed, and what they become."""
    becomes: str
    source: str


class Known:
    """What the trees know of the tests, and share: the seconds that each takes without a mutant."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class Tree:
    """A copy of what git knows of, so that no byte code and no data comes along, and a warm process in it."""

    def __init__(self, place: Path, known: "Known") -> None:
        self._place = place
        self._log = place.with_suffix(".log")
        self._known = known
        place.mkdir()
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
        # Byte code of all that is not mutated; none is written later, for that of the last mutant of the same size and
        # second would be taken for this one's.
        subprocess.run([sys.executable, "-m", "compileall", "-q", "src", "tests"], cwd=place, check=True)
        environment = {**os.environ, "PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        self._warm = subprocess.Popen(
            [sys.executable, ROOT / "tools" / "mutants" / "warm.py"],
            cwd=place,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._warm.stdin is not None
        self._warm.stdin.close()
        self._warm.wait()

    def load(self, target: Target) -> None:
        """The libraries that the target's tests use."""
        self._ask({"load": [*OPTIONS, *target.tests]})

    def is_killed(self, target: Target, mutant: Mutant) -> bool:
        """Do the tests notice? A mutant that never comes to an end is noticed too."""
        tests = target.tests_of(mutant.path)
        limit = self._limit(tests)
        file = self._place / mutant.path
        original = file.read_text()
        try:
            file.write_text(mutant.source)
            return self._run(tests, limit) != 0
        finally:
            file.write_text(original)

    def _limit(self, tests: tuple[str, ...]) -> float:
        """Seconds far above what they take. Without a mutant they must pass, or every mutant would be noticed."""
        for test in tests:
            with self._known.locks[test]:
                if test not in self._known.seconds:
                    began = time.monotonic()
                    if self._run((test,), 600) != 0:
                        raise SystemExit(f"{test} fails without any mutant:\n{self._log.read_text()[-4000:]}")
                    self._known.seconds[test] = time.monotonic() - began
        return 15 + 4 * sum(self._known.seconds[test] for test in tests)

    def _run(self, tests: tuple[str, ...], seconds: float) -> int | None:
        self._log.unlink(missing_ok=True)
        return self._ask({"arguments": [*OPTIONS, *tests], "seconds": seconds, "output": str(self._log)})

    def _ask(self, question: dict[str, object]) -> int | None:
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.write(json.dumps(question) + "\n")
        self._warm.stdin.flush()
        answer: int | None = json.loads(self._warm.stdout.readline())
        return answer
