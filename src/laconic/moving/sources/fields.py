"""Values of other programs' rows, and reading their tables to the end."""

from collections.abc import AsyncIterator
from typing import Any

from laconic.links.model import LONGEST_TITLE
from laconic.storage.foreign import Foreign, Record

_PAGE = 2_000


async def paged(database: Foreign, table: str, key: str) -> AsyncIterator[Record]:
    """All rows of a table in the order of a column that has each value once."""
    after: Any = None
    while rows := await database.page(table, key, after, _PAGE):
        after = rows[-1][key]
        for row in rows:
            yield row


def text_of(value: Any) -> str:
    """Empty for none. Bytes are text in a column that compares byte by byte."""
    if value is None:
        return ""
    return bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | bytearray) else str(value)


def count_of(value: Any) -> int:
    """ValueError: this is no count."""
    text = text_of(value).strip().replace(",", "").replace(" ", "") or "0"
    count = int(float(text)) if "." in text else int(text)
    if not 0 <= count < 1 << 62:
        raise ValueError(f"{text[:40]!r} is no count")
    return count


def flag_of(value: Any) -> bool:
    return text_of(value).lower() in ("1", "true", "t", "yes")


def cut(title: Any) -> tuple[str | None, tuple[str, ...]]:
    """A title as long as one may be, and what to say of it."""
    text = text_of(title).replace("\0", "").strip()
    if len(text) > LONGEST_TITLE:
        return text[:LONGEST_TITLE], ("title cut to 500 characters",)
    return text or None, ()
