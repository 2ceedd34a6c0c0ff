"""What a server claims before its first child starts: its data folder and its port."""

import contextlib
import ctypes
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laconic.clock import monotonic
from laconic.errors import CannotStart, DataFolderInUse
from laconic.storage.folder import claim_folder

_BACKLOG = 2048
# The children of a supervisor that was killed drain and end; a new server waits for them this long.
_ORPHANS_SECONDS = 10.0
_PAUSE_SECONDS = 0.05

# A filter of the kernel's for a listening socket: a segment with the flag SYN (2, in byte 13 of the TCP header) is
# dropped, any other let through. Each instruction: code, steps if so, steps if not, value.
_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27
_LOAD_BYTE, _TEST_BITS, _RETURN = 0x30, 0x45, 0x06
_NO_SYN = ((_LOAD_BYTE, 0, 0, 13), (_TEST_BITS, 0, 1, 0x02), (_RETURN, 0, 0, 0), (_RETURN, 0, 0, 0xFFFFFFFF))


def claim_data(folder: Path, on_wait: Callable[[], None] = lambda: None) -> int:
    """Locks the folder for this server and its children. `on_wait` is called when that takes a while."""
    deadline = monotonic() + _ORPHANS_SECONDS
    waits = False
    while True:
        try:
            return claim_folder(folder)
        except DataFolderInUse:
            if monotonic() > deadline or _holder_is_alive(folder):
                raise
        if not waits:
            waits = True
            on_wait()
        time.sleep(_PAUSE_SECONDS)


def _holder_is_alive(folder: Path) -> bool:
    """Does the server that has locked the folder still run, or only what it has left behind?"""
    try:
        os.kill(int((folder / "server.lock").read_text()), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        pass
    return True


def listen(host: str, port: int, count: int) -> list[socket.socket]:
    """One socket for each worker, so that the kernel spreads connections evenly; the port must be free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    first = socket.socket(family, socket.SOCK_STREAM)
    first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        # Without SO_REUSEPORT first: with it, a second server on the same port would go unnoticed.
        first.bind((host, port))
    except (OSError, UnicodeError) as error:
        first.close()
        raise _cannot_listen(host, port, error) from error
    if count == 1:
        first.listen(_BACKLOG)
        return [first]
    address = first.getsockname()
    first.close()
    return [_shared_listener(family, address) for _ in range(count)]


def _shared_listener(family: int, address: Any) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(address)
    listener.listen(_BACKLOG)
    return listener


def turn_away(listener: socket.socket) -> None:
    """From now on nobody new gets in; connections that are set up can still be accepted, and then the port be closed
    without a reset for anybody. Whoever knocks meanwhile knocks again a second later, at a closed port."""
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in _NO_SYN)
    memory = ctypes.create_string_buffer(program, len(program))
    # Where a kernel knows no filters the port is closed as it is.
    with contextlib.suppress(OSError):
        listener.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", len(_NO_SYN), ctypes.addressof(memory))
        )


def let_in(listener: socket.socket) -> None:
    """Undoes `turn_away`: a worker that was told to stop by itself is replaced, and its port is the next one's."""
    with contextlib.suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)


def _cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> CannotStart:
    if isinstance(error, socket.gaierror | UnicodeError):
        return CannotStart(
            f"Cannot listen on {host!r}: it is no address of this machine. Choose another with --host."
        )
    reason = error.strerror or str(error)
    option = "--host" if "assign" in reason else "--port"
    return CannotStart(f"Cannot listen on {host} port {port}: {reason}. Choose another with {option}.")
