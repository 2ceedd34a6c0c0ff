"""On what it was measured: without this a number says nothing."""

import os
import platform
import shutil
import statistics
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

_SYNCS = 50


def describe(folder: Path) -> dict[str, Any]:
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "laconic": version("laconic"),
        "load": round(os.getloadavg()[0], 2),
        "disk": _file_system(folder),
        "sync_ms": round(_sync_milliseconds(folder), 3),
        "free_gib": shutil.disk_usage(folder).free >> 30,
    }


def as_text(machine: dict[str, Any]) -> str:
    busy = (
        "  (other work is under way: figures will be low)" if machine["load"] > machine["cores"] / 2 else ""
    )
    return (
        f"{machine['cores']} cores of {machine['processor']}, Linux {machine['kernel']}, Python {machine['python']},"
        f" Laconic {machine['laconic']}\n"
        f"disk {machine['disk']}, one sync {machine['sync_ms']} ms; load before the run {machine['load']}{busy}\n"
        f"{machine['engine']}; medians of {machine['rounds']} rounds of {machine['seconds']} s"
        f"{'; servers and load on cores of their own' if machine['pinned'] else ''}\n"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _file_system(folder: Path) -> str:
    """The type of the file system with the longest mount point above the folder."""
    best = ("", "unknown")
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        if folder.resolve().is_relative_to(mount) and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]


def _sync_milliseconds(folder: Path) -> float:
    """What every durable write waits for: near 0 on a disk in memory, where durable means nothing."""
    took = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000
