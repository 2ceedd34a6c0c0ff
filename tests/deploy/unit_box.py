"""Runs a command with the kernel's filters that a systemd unit asks for, where no systemd runs.

    python unit_box.py UNIT COMMAND…

Done as systemd does it, by libseccomp: SystemCallFilter, RestrictAddressFamilies, MemoryDenyWriteExecute,
NoNewPrivileges. What needs namespaces of its own (ProtectSystem, PrivateTmp) is not.
"""

import ctypes
import errno
import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000
_EQUAL, _EQUAL_MASKED = 4, 7
_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
_NO_NEW_PRIVILEGES = 38


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("how", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


class Filter:
    """One of the kernel's lists; of several the strictest answer counts."""

    def __init__(self, otherwise: int) -> None:
        self._library = ctypes.CDLL("libseccomp.so.2")
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(ctypes.c_uint32(otherwise)))

    def add(self, action: int, name: str, *comparisons: _Comparison) -> None:
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        # Calls of other machines have negative numbers.
        if number >= 0:
            array = (_Comparison * len(comparisons))(*comparisons)
            done = self._library.seccomp_rule_add_array(
                self._context, ctypes.c_uint32(action), number, len(comparisons), array
            )
            assert done == 0, name

    def load(self) -> None:
        assert self._library.seccomp_load(self._context) == 0


def expand(name: str) -> set[str]:
    """A group of calls, such as @system-service, is what systemd says it is."""
    if not name.startswith("@"):
        return {name}
    command = ["systemd-analyze", "syscall-filter", name]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words = [line.strip() for line in said.splitlines() if line.startswith("    ")]
    return set().union(*(expand(word) for word in words if not word.startswith("#")))


def allowed_calls(unit: str) -> set[str]:
    """What the lines of SystemCallFilter leave."""
    left = expand("@default")
    for line in re.findall(r"^SystemCallFilter=(.+)$", unit, re.MULTILINE):
        names = set().union(*(expand(word) for word in line.removeprefix("~").split()))
        left = left - names if line.startswith("~") else left | names
    return left


def restrict(unit: str) -> None:
    calls = Filter(_REFUSE | errno.EPERM)
    for name in allowed_calls(unit):
        calls.add(_ALLOW, name)
    others = Filter(_ALLOW)
    families = re.findall(r"^RestrictAddressFamilies=(.+)$", unit, re.MULTILINE)
    if families:
        # Each that is not named, up to the last one that Linux knows.
        for family in set(range(46)) - {_FAMILIES[name] for name in families[0].split()}:
            others.add(_REFUSE | errno.EAFNOSUPPORT, "socket", _Comparison(0, _EQUAL, family, 0))
    if "MemoryDenyWriteExecute=yes" in unit:
        both = mmap.PROT_WRITE | mmap.PROT_EXEC
        others.add(_REFUSE | errno.EPERM, "mmap", _Comparison(2, _EQUAL_MASKED, both, both))
        for name in ("mprotect", "pkey_mprotect"):
            execute = _Comparison(2, _EQUAL_MASKED, mmap.PROT_EXEC, mmap.PROT_EXEC)
            others.add(_REFUSE | errno.EPERM, name, execute)
    assert ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    others.load()
    calls.load()


if __name__ == "__main__":
    restrict(Path(sys.argv[1]).read_text())
    os.execvp(sys.argv[2], sys.argv[2:])
