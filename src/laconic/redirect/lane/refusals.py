"""What a connection that is refused is told last."""

from laconic.redirect.model import status_line

Answer = tuple[bytes, bytes]
"""What stands before the date line, and what behind it."""


_TEXT = b"content-type: text/plain; charset=utf-8\r\n"


def _plain_answer(status: int, text: bytes, head: bytes = _TEXT) -> Answer:
    length = b"content-length: %d\r\nconnection: close\r\n\r\n" % len(text)
    return status_line(status), head + length + text


BAD_REQUEST = _plain_answer(400, b"This is not a valid HTTP request.\n")
TOO_LARGE = _plain_answer(431, b"The request head is too large.\n")
TOO_SLOW = _plain_answer(408, b"The request did not arrive in time.\n")
# Made now, because then there is no memory to make it. A problem document, for programs whose writes it refuses.
NO_MEMORY = _plain_answer(
    503,
    b'{"type":"urn:laconic:problem:unavailable","title":"The service is not available now","status":503,'
    b'"detail":"The server has no memory left just now.","code":"unavailable"}\n',
    b"content-type: application/problem+json\r\nretry-after: 1\r\n",
)
ONE_HOST = _plain_answer(400, b"A request has exactly one Host header.\n")
