"""SQL and search words as SQLite wants them."""

import re
from collections.abc import Sequence
from functools import lru_cache


@lru_cache(maxsize=1024)
def numbered(sql: str) -> str:
    """`$2` becomes `?2`: SQLite would number named parameters by first appearance."""
    return re.sub(r"\$(\d+)", r"?\1", sql)


@lru_cache(maxsize=256)
def insert_sql(table: str, columns: tuple[str, ...], count: int, on_conflict: str) -> str:
    """An INSERT of `count` rows at once."""
    row = "(" + ",".join("?" * len(columns)) + ")"
    return f"INSERT INTO {table} ({','.join(columns)}) VALUES {','.join([row] * count)} {on_conflict}"


def search_condition(words: Sequence[str], argument: int) -> tuple[str, str]:
    """Each word in quotes, so that none is an operator; the star means "begins so"."""
    query = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
    return f"id IN (SELECT rowid FROM short_link_text WHERE short_link_text MATCH ${argument})", query
