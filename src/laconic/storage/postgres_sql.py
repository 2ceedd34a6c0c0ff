"""PostgreSQL's SQL and its answers, as text: what the engine has to write and to read itself."""

import re
from collections.abc import Mapping, Sequence

_READS = re.compile(r"\s*(SELECT|VALUES|TABLE|SHOW)\b", re.IGNORECASE)
_CHANGED_ROWS = re.compile(r"(?:INSERT 0|UPDATE|DELETE|MERGE) (\d+)")

# Longer than any word that people search for; PostgreSQL refuses queries of very many bytes.
_LONGEST_WORD = 100

# Types without their limits (varchar, not varchar(20)), in words that a cast understands.
COLUMN_TYPES = (
    "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
    " WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped"
)

# The server asks whether we are still there: a machine that died gives its locks back within a minute, and
# no firewall forgets a connection for being idle.
KEEP_ALIVE = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"


def only_reads(sql: str) -> bool:
    """By its first word: a SELECT is taken for a read, whatever functions it calls."""
    return _READS.match(sql) is not None


def changed_rows(status: str) -> int:
    """From what the server answers to a statement, such as UPDATE 3."""
    changed = _CHANGED_ROWS.fullmatch(status)
    return int(changed[1]) if changed else 0


def insert_arrays(table: str, columns: Sequence[str], types: Mapping[str, str]) -> str:
    """One array for each column: one statement whatever the number of rows, far from the limit of arguments."""
    arrays = ", ".join(f"${number}::{types[column]}[]" for number, column in enumerate(columns, 1))
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING"


def search_condition(argument: int) -> str:
    """Worded as the index is, its WHERE included, or it would not be used."""
    document = "coalesce(title, '') || ' ' || coalesce(description, '')"
    match = f"to_tsvector('simple', {document}) @@ to_tsquery('simple', ${argument})"
    return f"((title IS NOT NULL OR description IS NOT NULL) AND {match})"


def prefix_query(words: Sequence[str]) -> str:
    """An argument for `to_tsquery`: all words, each as the beginning of one. Any text is a valid word."""
    return " & ".join(f"'{_escape(word)}':*" for word in map(_sendable, words) if word)


def _sendable(word: str) -> str:
    """Without what PostgreSQL's text cannot hold: U+0000 and lone surrogates."""
    return word.replace("\0", "").encode(errors="ignore").decode()[:_LONGEST_WORD]


def _escape(word: str) -> str:
    return word.replace("\\", "\\\\").replace("'", "''")
