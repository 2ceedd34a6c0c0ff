"""The port at the end of a server's life."""

import socket

import pytest

from laconic.serve.claims import listen, turn_away


def test_whoever_was_let_in_is_served_and_nobody_new_is_let_in() -> None:
    """A connection that waits to be accepted is not reset by the end, with a request in it that may be a write."""
    (listener,) = listen("127.0.0.1", 0, 1)
    address = listener.getsockname()
    with socket.create_connection(address) as early, socket.socket() as late:
        early.sendall(b"a request")
        turn_away(listener)
        late.settimeout(0.2)
        with pytest.raises(TimeoutError):
            late.connect(address)
        listener.setblocking(False)
        accepted, _ = listener.accept()
        with pytest.raises(BlockingIOError):
            listener.accept()
        listener.close()
        with accepted:
            assert accepted.recv(100) == b"a request"
            accepted.sendall(b"an answer")
            assert early.recv(100) == b"an answer"
