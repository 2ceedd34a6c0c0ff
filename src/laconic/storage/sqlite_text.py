"""SQL and search words as SQLite wants them."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from laconic.storage.database import Ids

# Each number of them is a statement of its own to prepare and remember; most have this many.
_MOST_IDS = 500
# Characters of which the index over URLs is made.
_PIECE = 3


@lru_cache(maxsize=1024)
def numbered(sql: str) -> str:
    """`$2` becomes `?2`: SQLite would number named parameters by first appearance."""
    return re.sub(r"\$(\d+)", r"?\1", sql)


@lru_cache(maxsize=256)
def insert_sql(table: str, columns: tuple[str, ...], count: int, on_conflict: str) -> str:
    """An INSERT of `count` rows at once."""
    row = "(" + ",".join("?" * len(columns)) + ")"
    return f"INSERT INTO {table} ({','.join(columns)}) VALUES {','.join([row] * count)} {on_conflict}"


def among(sql: str, ids: Ids, arguments: int) -> Iterator[tuple[str, Ids]]:
    """The statement for a part of the ids at a time, each with its ids; they come behind the other arguments."""
    for start in range(0, len(ids), _MOST_IDS):
        some = ids[start : start + _MOST_IDS]
        marks = ",".join(f"?{number}" for number in range(arguments + 1, arguments + 1 + len(some)))
        yield numbered(sql).replace("$ids", marks), some


def part_condition(text: str, argument: int) -> tuple[str, tuple[str, ...]] | None:
    """Links whose URLs hold the text's pieces of three characters, and those that the index has not reached yet."""
    if len(text) < _PIECE:
        return None
    # Side by side: those that overlap would cost three times as much and rule out few more.
    starts = (*range(0, len(text) - _PIECE, _PIECE), len(text) - _PIECE)
    pieces = sorted({text[start : start + _PIECE] for start in starts})
    query = " AND ".join('"' + piece.replace('"', '""') + '"' for piece in pieces)
    like = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    condition = (
        f"(id IN (SELECT rowid FROM short_link_url WHERE short_link_url MATCH ${argument})"
        " OR id > (SELECT past FROM search_position))"
        f" AND lower(original_url) LIKE lower(${argument + 1}) ESCAPE '\\'"
    )
    return condition, (query, like)


def search_condition(words: Sequence[str], argument: int) -> tuple[str, str]:
    """Each word in quotes, so that none is an operator; the star means "begins so"."""
    query = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
    return f"id IN (SELECT rowid FROM short_link_text WHERE short_link_text MATCH ${argument})", query
