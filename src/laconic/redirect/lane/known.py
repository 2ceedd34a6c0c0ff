"""Header blocks that the parser has read before: the same bytes mean the same thing.

Visitors of one site send few different header blocks: the host, the browser, its languages, a referrer. So a
block, everything behind the path, is parsed and judged by the strict parser the first time it comes; when
the very same bytes come again, what they meant is remembered. What is new in a request is then its path alone, and
that has to be a link's to the letter. Measured, with twelve headers: a third of the cost of parsing again.
"""

BLOCK_LIMIT = 2048
_MOST_BLOCKS = 8_192
GET = b"GET /"
_END = b"\r\n\r\n"
_VERSION = b" HTTP/1.1"
VERSION_LENGTH = len(_VERSION)


class Head:
    """What a header block of a plain GET over HTTP/1.1 says."""

    __slots__ = ("is_click", "is_last", "prefix", "visitor_key")

    def __init__(
        self, prefix: bytes, visitor_key: list[bytes | None], *, is_click: bool, is_last: bool
    ) -> None:
        self.prefix = prefix
        self.visitor_key = visitor_key
        self.is_click = is_click
        self.is_last = is_last


class KnownHeads:
    """Bounded; when it is full it is emptied, for telling old from new would cost more than parsing again."""

    def __init__(self) -> None:
        self.blocks: dict[bytes, Head] = {}

    def remember(self, data: bytes, head: Head) -> None:
        """`data` is one whole request, as the parser has just accepted it."""
        end = data.find(b"\r\n")
        block = data[end - VERSION_LENGTH :]
        if not is_plain_get(data, end) or len(block) > BLOCK_LIMIT:
            return
        if len(self.blocks) >= _MOST_BLOCKS:
            self.blocks.clear()
        self.blocks[block] = head


def is_plain_get(data: bytes, end: int) -> bool:
    """Is this one GET over HTTP/1.1, all of it and nothing behind it? `end` is where its first line ends."""
    return (
        data.startswith(GET)
        and data.startswith(_VERSION, end - VERSION_LENGTH)
        and data.find(_END, end) == len(data) - len(_END)
    )
