"""A name for each request that the application answers, so that an answer and its log lines are found together."""

import itertools
import re
import secrets
from collections.abc import Iterable

HEADER = b"x-request-id"
# What a proxy or a client has named may go into a log and back into a header: nothing but a plain word.
_SANE = re.compile(rb"[A-Za-z0-9._~:/+=@-]{1,128}")


class RequestIds:
    """Of one process."""

    def __init__(self) -> None:
        # No other process has this beginning, and none had it before.
        self._process = secrets.token_hex(6)
        self._numbers = itertools.count(1)

    def of(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The one that came with the request, if it is fit to be told on; otherwise a new one."""
        for name, value in headers:
            if name == HEADER and _SANE.fullmatch(value):
                return value.decode("ascii")
        return f"{self._process}{next(self._numbers):08x}"
