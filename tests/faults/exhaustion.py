"""Ways to take from a running server what it needs: room on the disk, syncs that work, files, memory."""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tests.flows.server import PATIENCE_SECONDS


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own, in memory."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "laconic", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Until not a byte more goes in; the file that does it."""
    path = folder / "ballast"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1024 * 1024, 4096):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    assert shutil.disk_usage(folder).free < 4096
    return path


@contextlib.contextmanager
def failing(process: psutil.Process, calls: str, error: str) -> Iterator[None]:
    """These system calls of the process, all its threads, fail with this error while the block runs."""
    strace = shutil.which("strace")
    assert strace, "strace was not found. Install it with `apt-get install strace`."
    command = [strace, "-f", "-q", "-p", str(process.pid), "-e", f"trace={calls}"]
    tracer = subprocess.Popen(
        [*command, "-e", f"inject={calls}:error={error}", "-o", "/dev/null"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_until_traced(process, tracer)
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait(PATIENCE_SECONDS)
        assert tracer.stderr is not None
        tracer.stderr.close()


def _wait_until_traced(process: psutil.Process, tracer: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    tasks = Path(f"/proc/{process.pid}/task")
    while not all("TracerPid:\t0\n" not in (task / "status").read_text() for task in tasks.iterdir()):
        assert tracer.poll() is None, tracer.stderr and tracer.stderr.read()
        assert time.monotonic() < deadline, "strace does not attach"
        time.sleep(0.01)


@contextlib.contextmanager
def limited(process: psutil.Process, what: int, limit: int) -> Iterator[None]:
    """`what` is a constant of `resource`."""
    before = resource.prlimit(process.pid, what)
    resource.prlimit(process.pid, what, (limit, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, what, before)
