"""What the kernel says of processes: CPU time, memory, who holds a connection."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_SETTLED_SHARE = 0.1
_LOOK_SECONDS = 0.3
# In a row: ingest may look for a moment whether a spike is over before it goes on.
_QUIET_LOOKS = 2
_LONGEST_SETTLING = 180.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes. `pss` counts a page that n processes share as 1/n of it."""

    rss: int
    pss: int


@dataclass(frozen=True, slots=True)
class _Stat:
    parent: int
    ticks: int


def tree(root: int) -> list[int]:
    """The process and all that descend from it. By parents, not by session: PostgreSQL's children leave theirs."""
    children: dict[int, list[int]] = {}
    for pid in _all_processes():
        stat = _stat(pid)
        if stat:
            children.setdefault(stat.parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time, with that of children which have ended and were waited for."""
    stats = [_stat(pid) for pid in pids]
    return sum(stat.ticks for stat in stats if stat) / _TICKS_PER_SECOND


def tree_cpu_seconds(roots: Iterable[int]) -> float:
    return sum(cpu_seconds(tree(root)) for root in roots)


def memory(pid: int) -> Memory:
    lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return Memory(kilobytes["Rss"] * 1024, kilobytes["Pss"] * 1024)


def tree_pss(roots: Iterable[int]) -> int:
    """Bytes that all the processes take together, each shared page counted once."""
    total = 0
    for root in roots:
        for pid in tree(root):
            try:
                total += memory(pid).pss
            except (FileNotFoundError, ProcessLookupError):
                continue
    return total


def settle(roots: Iterable[int]) -> bool:
    """Waits until the processes have nothing left to do (clicks to store, pages to write); False: they never had."""
    roots = list(roots)
    deadline = time.monotonic() + _LONGEST_SETTLING
    quiet = 0
    while quiet < _QUIET_LOOKS and time.monotonic() < deadline:
        before = tree_cpu_seconds(roots)
        time.sleep(_LOOK_SECONDS)
        is_quiet = tree_cpu_seconds(roots) - before <= _SETTLED_SHARE * _LOOK_SECONDS
        quiet = quiet + 1 if is_quiet else 0
    return quiet == _QUIET_LOOKS


def holder_of_connection(pids: Iterable[int], server_port: int, client_port: int) -> int | None:
    """Which of the processes holds the server's end of a loopback connection."""
    inode = _socket_inode(server_port, client_port)
    for pid in pids:
        for fd in (_PROC / str(pid) / "fd").iterdir():
            try:
                if os.readlink(fd) == f"socket:[{inode}]":
                    return pid
            except FileNotFoundError:
                continue
    return None


def _socket_inode(local_port: int, remote_port: int) -> str | None:
    for line in (_PROC / "net" / "tcp").read_text().splitlines()[1:]:
        columns = line.split()
        ports = tuple(int(address.rpartition(":")[2], 16) for address in columns[1:3])
        if ports == (local_port, remote_port):
            return columns[9]
    return None


def _all_processes() -> list[int]:
    return [int(entry) for entry in os.listdir(_PROC) if entry.isdecimal()]


def _stat(pid: int) -> _Stat | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # Behind the name, which may itself hold blanks and parentheses: proc(5), fields 3 and on.
    fields = text.rpartition(")")[2].split()
    return _Stat(int(fields[1]), sum(int(field) for field in fields[11:15]))
