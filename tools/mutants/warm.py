"""A process that has loaded every library the tests use and nothing of Laconic, and forks for each run of them.

Most of the time of a short run goes into loading libraries. At the moment of a fork there is neither a thread nor a
loop nor a socket here, so nothing can be lost by it. Reads runs as JSON lines, {arguments, seconds, output}; writes a line
for each: the exit code of pytest, or null when it did not come to an end in time. {load} has it load what these tests do.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path

_OURS = ("laconic", "tests", "conftest", "__main__")
_TICK = 0.05


def main() -> None:
    sys.path.insert(0, str(Path.cwd()))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    for line in sys.stdin:
        asked = json.loads(line)
        if "load" in asked:
            _load(asked["load"])
            answer: int | None = 0
        else:
            answer = _run(asked["arguments"], asked["seconds"], asked["output"])
        os.write(answers, f"{json.dumps(answer)}\n".encode())


def _load(arguments: list[str]) -> None:
    """What a run loads is asked of a child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _pytest([*arguments, "--collect-only"], os.devnull)
        with os.fdopen(writing, "w") as pipe:
            json.dump(list(sys.modules), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        names = json.load(pipe)
    os.waitpid(child, 0)
    for name in names:
        if name.partition(".")[0] not in _OURS:
            try:
                importlib.import_module(name)
            except Exception:  # some exist only in the company of others
                continue


def _run(arguments: list[str], seconds: float, output: str) -> int | None:
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(_pytest(arguments, output))
    code = _wait(child, seconds)
    # A server that the child had started and not stopped, or the child itself.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if code is None:
        os.waitpid(child, 0)
    return code


def _wait(child: int, seconds: float) -> int | None:
    # Counted, not looked up: a machine that stands still meanwhile kills no mutant.
    for _ in range(int(seconds / _TICK)):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_TICK)
    return None


def _pytest(arguments: list[str], output: str) -> int:
    import pytest

    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(target, 1)
    os.dup2(target, 2)
    try:
        return int(pytest.main(arguments))
    except BaseException:  # whatever a mutant does, it is the child's end and not ours
        return 1


if __name__ == "__main__":
    main()
