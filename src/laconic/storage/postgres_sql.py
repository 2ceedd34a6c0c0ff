"""PostgreSQL's SQL and its answers, as text: what the engine has to write and to read itself."""

import re
from collections.abc import Mapping, Sequence

from laconic.storage.database import Ids

_READS = re.compile(r"\s*(SELECT|VALUES|TABLE|SHOW)\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\$(\d+)")
_CHANGED_ROWS = re.compile(r"(?:INSERT 0|UPDATE|DELETE|MERGE) (\d+)")

# Longer than any word that people search for; PostgreSQL refuses queries of very many bytes.
_SHORTEST_PART = 3
_LONGEST_WORD = 100

# Types without their limits (varchar, not varchar(20)), in words that a cast understands.
COLUMN_TYPES = (
    "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
    " WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped"
)

# The server asks whether we are still there: a machine that died gives its locks back within a minute, and
# no firewall forgets a connection for being idle.
KEEP_ALIVE = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"


ENSURE_MONTHS = "SELECT ensure_click_partitions($1::date, $2::integer)"
DROP_MONTH = "SELECT drop_click_partition($1::date)"
# Partitions by name, and what waits in the default one.
EVENT_MONTHS = (
    "SELECT replace(substr(relname, 13), '_', '-') FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid"
    " WHERE inhparent = 'click_event'::regclass AND relname ~ '^click_event_[0-9]{4}_[0-9]{2}$'"
    " UNION SELECT to_char(clicked_at AT TIME ZONE 'UTC', 'YYYY-MM') FROM click_event_default ORDER BY 1"
)

SIZE = (
    "SELECT pg_database_size(current_database()),"
    " has_function_privilege('pg_catalog.pg_ls_waldir()', 'execute')"
)
WAL_SIZE = "SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()"


def only_reads(sql: str) -> bool:
    """By its first word: a SELECT is taken for a read, whatever functions it calls."""
    return _READS.match(sql) is not None


def changed_rows(status: str) -> int:
    """From what the server answers to a statement, such as UPDATE 3."""
    changed = _CHANGED_ROWS.fullmatch(status)
    return int(changed[1]) if changed else 0


def among(sql: str, ids: Ids, argument: int) -> str:
    """An index probe for each id, whatever the planner believes: as a join or a list it would, on a table that has grown
    since its statistics were made, compare every row with every id. OFFSET 0 keeps it from seeing through this."""
    kind = "text" if isinstance(ids[0], str) else "bigint"
    if not only_reads(sql):
        return sql.replace("IN ($ids)", f"= ANY(${argument}::{kind}[])")
    probe = sql.replace("IN ($ids)", "= wanted.id")
    return (
        f"SELECT found.* FROM unnest(${argument}::{kind}[]) AS wanted (id)"
        f" CROSS JOIN LATERAL ({probe} OFFSET 0) AS found"
    )


def for_each(sql: str, example: Sequence[object]) -> str:
    """The same look-up for many sets of arguments such as `example`, an index probe for each, as above.

    A row begins with the place, from 1, of the set that it belongs to.
    """
    kinds = ["text" if isinstance(value, str) else "bigint" for value in example]
    arrays = ", ".join(f"${number}::{kind}[]" for number, kind in enumerate(kinds, 1))
    names = ", ".join(f"given{number}" for number in range(1, len(kinds) + 1))
    probe = _PLACEHOLDER.sub(r"wanted.given\1", sql)
    return (
        f"SELECT wanted.place, found.* FROM unnest({arrays}) WITH ORDINALITY AS wanted ({names}, place)"
        f" CROSS JOIN LATERAL ({probe} OFFSET 0) AS found"
    )


def insert_arrays(
    table: str, columns: Sequence[str], types: Mapping[str, str], same: Sequence[str] = ()
) -> str:
    """One array for each column: one statement whatever the number of rows, far from the limit of arguments. Those that
    are the same in each row come behind, as single values."""
    arrays = ", ".join(f"${number}::{types[column]}[]" for number, column in enumerate(columns, 1))
    values = "".join(f", ${number}::{types[column]}" for number, column in enumerate(same, len(columns) + 1))
    return (
        f"INSERT INTO {table} ({', '.join((*columns, *same))})"
        f" SELECT listed.*{values} FROM unnest({arrays}) AS listed ON CONFLICT DO NOTHING"
    )


# Whole numbers travel in merges as text: the driver asks each element of an array whether it is an array itself,
# which takes longer than all the rest.
_NUMBERS = {"bigint": "bigint", "integer": "integer", "date": "integer"}


def merge_arrays(
    table: str, columns: Sequence[str], types: Mapping[str, str], on_conflict: str
) -> tuple[str, frozenset[int]]:
    """The same for a merge, and the places of those columns that come as `array_text`.

    The arrays are unnested in the SELECT list, row by row as they are inserted: in FROM all rows would first be put
    aside, on disk when they are many.
    """
    values: list[str] = []
    as_text: set[int] = set()
    for place, column in enumerate(columns):
        kind = types[column]
        if kind in _NUMBERS:
            as_text.add(place)
            value = f"unnest(${place + 1}::text::{_NUMBERS[kind]}[])"
        else:
            value = f"unnest(${place + 1}::{kind}[])"
        values.append(f"DATE '1970-01-01' + {value}" if kind == "date" else value)
    sql = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} {on_conflict}"
    return sql, frozenset(as_text)


def array_text(numbers: Sequence[int]) -> str:
    return "{" + repr(list(numbers))[1:-1] + "}"


def part_condition(text: str, argument: int) -> tuple[str, tuple[str, ...]] | None:
    """As the trigram index has it, which needs three characters."""
    if len(text) < _SHORTEST_PART:
        return None
    like = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return f"lower(original_url) LIKE lower(${argument})", (like,)


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
