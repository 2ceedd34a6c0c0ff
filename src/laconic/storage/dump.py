"""Reading rows out of SQL dumps: what mysqldump, mariadb-dump, phpMyAdmin, pg_dump and sqlite3's .dump write.

A dump is read statement by statement; of those that insert rows, the rows are given, of all others nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from laconic.errors import ChoiceRefused

# Longer than any packet that MySQL sends by default, short enough for the memory of a small machine.
_LONGEST_STATEMENT = 256 * 1024 * 1024

_NAME = r"(?:[`\"]?[\w$]+[`\"]?\.)?[`\"]?(?P<table>[\w$]+)[`\"]?"
_CREATE = re.compile(rf"CREATE TABLE (?:IF NOT EXISTS )?{_NAME}\s*\((?P<body>.*)", re.IGNORECASE | re.DOTALL)
_INSERT = re.compile(
    rf"INSERT (?:IGNORE )?INTO {_NAME}\s*(?:\((?P<columns>[^)']*)\))?\s*VALUES\s*", re.IGNORECASE
)
_COPY = re.compile(rf"COPY {_NAME} \((?P<columns>[^)]*)\) FROM stdin;", re.IGNORECASE)
_COLUMN = re.compile(r"\s*(?:[`\"](?P<quoted>[^`\"]+)[`\"]|(?P<bare>\w+))\s+\S")
_NO_COLUMNS = frozenset("primary key unique constraint index fulltext spatial check foreign".split())

# A backslash escapes in MySQL, and elsewhere only in E'…'.
_ESCAPED = re.compile(r"'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
_PLAIN = re.compile(r"'((?:[^']|'')*)'", re.DOTALL)
_WORD = re.compile(r"[^\s,()']+")
_INTRODUCER = re.compile(r"(?:_binary|_utf8mb4|_utf8|[eExXbBnN])\s*(?=')")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "f": "\f", "v": "\v"}
_SPACE = re.compile(r"[\s,]*")


class Rows(NamedTuple):
    """Some rows of a table, in the order of its columns."""

    table: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class _Incomplete(Exception):
    """The statement goes on in the next line."""


def read_dump(lines: Iterable[str], wanted: Callable[[str], bool]) -> Iterator[Rows]:
    """The rows of the tables that are `wanted`."""
    columns: dict[str, tuple[str, ...]] = {}
    source = iter(lines)
    pending: list[str] = []
    size = 0
    for line in source:
        if not pending and (not line.strip() or line.startswith(("--", "#"))):
            continue
        if not pending and (copy := _COPY.match(line)):
            yield from _copied(source, copy, wanted)
            continue
        pending.append(line)
        size += len(line)
        if size > _LONGEST_STATEMENT:
            raise ChoiceRefused("source", "The dump has a statement that is too long to be read.")
        if not line.rstrip().endswith(";"):
            continue
        try:
            found = _rows_of("".join(pending), columns, wanted)
        except _Incomplete:
            continue
        pending, size = [], 0
        if found is not None:
            yield found


def _rows_of(
    statement: str, columns: dict[str, tuple[str, ...]], wanted: Callable[[str], bool]
) -> Rows | None:
    created = _CREATE.match(statement)
    if created is not None:
        columns[created["table"]] = tuple(_columns_of(created["body"]))
        return None
    insert = _INSERT.match(statement)
    if insert is None or not wanted(insert["table"]):
        return None
    table = insert["table"]
    names = _listed(insert["columns"]) if insert["columns"] else columns.get(table, ())
    # Backquotes are MySQL's; its strings have escapes.
    escaped = "`" in statement[: insert.end()]
    return Rows(table, names, list(_tuples(statement, insert.end(), escaped)))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip().strip('`"') for name in text.split(","))


def _columns_of(body: str) -> Iterator[str]:
    for line in body.splitlines():
        column = _COLUMN.match(line)
        if column is None:
            continue
        name = column["quoted"] or column["bare"]
        if column["quoted"] or name.lower() not in _NO_COLUMNS:
            yield name


def _tuples(text: str, at: int, escaped: bool) -> Iterator[tuple[Any, ...]]:
    while True:
        at = _after_space(text, at)
        if text[at : at + 1] != "(":
            # The end, or what may follow: ON DUPLICATE KEY …
            return
        row: list[Any] = []
        at = _after_space(text, at + 1)
        while text[at : at + 1] != ")":
            value, at = _value(text, at, escaped)
            row.append(value)
            at = _after_space(text, at)
        yield tuple(row)
        at += 1


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, escaped: bool) -> tuple[Any, int]:
    introducer = _INTRODUCER.match(text, at)
    kind = introducer[0].strip().lower() if introducer else ""
    at = introducer.end() if introducer else at
    if text[at : at + 1] == "'":
        has_escapes = escaped or kind == "e"
        found = (_ESCAPED if has_escapes else _PLAIN).match(text, at)
        if found is None:
            raise _Incomplete
        return _string(found[1], kind, has_escapes), found.end()
    word = _WORD.match(text, at)
    if word is None:
        raise _Incomplete
    return _literal(word[0]), word.end()


def _string(text: str, kind: str, has_escapes: bool) -> Any:
    if kind == "x":
        return bytes.fromhex(text)
    if kind == "b":
        return int(text or "0", 2)
    text = text.replace("''", "'")
    return re.sub(r"\\(.)", _unescape, text, flags=re.DOTALL) if has_escapes and "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[1])


def _literal(word: str) -> Any:
    named = {"null": None, "true": 1, "false": 0}
    if word.lower() in named:
        return named[word.lower()]
    if word.lower().startswith("0x"):
        return bytes.fromhex(word[2:])
    try:
        return int(word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        return word


_COPY_ESCAPE = re.compile(r"\\(.)")
_MOST_COPIED = 5_000


def _copied(lines: Iterator[str], copy: re.Match[str], wanted: Callable[[str], bool]) -> Iterator[Rows]:
    """The lines behind COPY, up to the one that ends them."""
    columns = _listed(copy["columns"])
    is_wanted = wanted(copy["table"])
    rows: list[tuple[Any, ...]] = []
    for line in lines:
        if line.rstrip("\r\n") == "\\.":
            break
        if is_wanted:
            rows.append(tuple(map(_copied_value, line.rstrip("\r\n").split("\t"))))
        if len(rows) >= _MOST_COPIED:
            yield Rows(copy["table"], columns, rows)
            rows = []
    if rows:
        yield Rows(copy["table"], columns, rows)


def _copied_value(text: str) -> Any:
    if text == "\\N":
        return None
    return _COPY_ESCAPE.sub(_unescape, text) if "\\" in text else text
