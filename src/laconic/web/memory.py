"""How much memory this process may still take, by a limit of its own or of the group it runs in.

Where next to none is left, writes are refused before they are read: what is left belongs to visitors, and to saying so.
Without this the limit would be met in the middle of something, where nobody can answer any more.
"""

import os
import resource
from pathlib import Path
from typing import NamedTuple

import structlog

log = structlog.get_logger(__name__)

# The largest body that is read into memory, what is made of it, and as much again.
_LEAST_BYTES = 16 * 1024 * 1024
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ProcessBytes(NamedTuple):
    """What a limit on addresses counts, and what is in memory."""

    virtual: int
    resident: int


def process_bytes() -> ProcessBytes:
    virtual, resident = Path("/proc/self/statm").read_bytes().split()[:2]
    return ProcessBytes(int(virtual) * _PAGE_BYTES, int(resident) * _PAGE_BYTES)


class MemoryRoom:
    """`is_short` is as old as the last look."""

    def __init__(self, group: Path | None = None) -> None:
        """`group` is the folder of a control group (version 2); by default, this process's own."""
        self._group = group or _own_group()
        self.is_short = False

    def look(self) -> None:
        """Once a second; it takes 16 us without a limit, 240 us with one (measured)."""
        was_short, self.is_short = self.is_short, self.left() < _LEAST_BYTES
        if self.is_short and not was_short:
            log.error("there is hardly any memory left: writes are refused")
        elif was_short and not self.is_short:
            log.info("there is memory again: writes are taken")

    def left(self) -> float:
        """Bytes; infinite where there is no limit."""
        return min(_left_to_process(), _left_to_group(self._group))


def _left_to_process() -> float:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return limit - process_bytes().virtual


def _left_to_group(group: Path) -> float:
    """What it holds of files counts for nothing: the kernel takes that back when it needs the room."""
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit == "max":
            return float("inf")
        taken = int((group / "memory.current").read_text())
        lines = (group / "memory.stat").read_text().splitlines()
        stat = {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}
        return int(limit) - taken + stat["active_file"] + stat["inactive_file"]
    except (OSError, ValueError, KeyError):
        # No such group, or one of version 1.
        return float("inf")


def _own_group() -> Path:
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return root
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    return root / own.lstrip("/")
