"""Rows out of SQL dumps, however they are written."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import ChoiceRefused
from laconic.storage.dump import read_dump
from laconic.storage.foreign import open_foreign


def rows_of(text: str, table: str = "t") -> list[tuple[Any, ...]]:
    return [
        row
        for found in read_dump(text.splitlines(keepends=True), lambda name: name == table)
        for row in found.rows
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(
            "INSERT INTO `t` VALUES (1,'it\\'s','a\\\\b\\nc',NULL),(2,'','x;\\',(',-1.5);\n",
            [(1, "it's", "a\\b\nc", None), (2, "", "x;',(", -1.5)],
            id="MySQL escapes with backslashes",
        ),
        pytest.param(
            "INSERT INTO `t` (`a`, `b`) VALUES\n(0x4142, _binary 'x'),\n(b'1', 'a'';\nb');\n",
            [(b"AB", "x"), (1, "a';\nb")],
            id="phpMyAdmin breaks lines",
        ),
        pytest.param(
            "INSERT INTO public.t VALUES (1, 'C:\\new', true, E'a\\nb', 'two\nlines;\nand ''one''');\n",
            [(1, "C:\\new", 1, "a\nb", "two\nlines;\nand 'one'")],
            id="a backslash is itself in standard SQL",
        ),
        pytest.param(
            'COPY public.t (id, "name") FROM stdin;\n1\ta\\tb\\\\\n2\t\\N\n\\.\n\nINSERT INTO other VALUES (1);\n',
            [("1", "a\tb\\"), ("2", None)],
            id="pg_dump copies",
        ),
        pytest.param(
            "INSERT INTO t VALUES(1,X'00ff','x');\nINSERT IGNORE INTO `db`.`t` VALUES (2);\n",
            [(1, b"\x00\xff", "x"), (2,)],
            id="SQLite, and a name with its database",
        ),
        pytest.param(
            "INSERT INTO `other` VALUES (1);\nSET x = 'INSERT INTO `t` VALUES (1);';\n",
            [],
            id="not asked for",
        ),
    ],
)
def test_rows_are_read_as_they_were(text: str, rows: list[tuple[Any, ...]]) -> None:
    """Quotes, brackets, semicolons and line ends inside a text are a part of it."""
    assert rows_of(text) == rows


@given(st.lists(st.tuples(st.integers(), st.none() | st.text(st.characters(codec="utf-8"))), min_size=1))
def test_any_text_comes_back(rows: list[tuple[int, str | None]]) -> None:
    """As mysqldump writes it: one row after another on one line."""
    table = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"})
    values = ",".join(
        f"({number},{'NULL' if text is None else chr(39) + text.translate(table) + chr(39)})"
        for number, text in rows
    )
    lines = [f"INSERT INTO `t` VALUES {values};\n"]
    assert [row for found in read_dump(lines, lambda _: True) for row in found.rows] == rows


async def test_a_dump_becomes_tables_that_can_be_paged(tmp_path: Path) -> None:
    """In the order of a key, behind a value of it; ids are numbers also where the dump has text."""
    file = tmp_path / "some.sql"
    file.write_text("COPY public.visits (id, note) FROM stdin;\n10\tten\n9\tnine\n2\ttwo\n\\.\n")
    database = await open_foreign(str(file), lambda _: True)
    try:
        assert await database.tables() == {"visits": frozenset({"id", "note"})}
        first = await database.page("visits", "id", None, 2)
        assert [row["note"] for row in first] == ["two", "nine"]
        assert await database.page("visits", "id", first[-1]["id"], 2) == [{"id": 10, "note": "ten"}]
        assert await database.count("visits") == 3
    finally:
        await database.close()


async def test_a_dump_that_names_no_columns_is_refused(tmp_path: Path) -> None:
    """Guessing which value is the URL would be worse."""
    file = tmp_path / "some.sql"
    file.write_text("INSERT INTO `visits` VALUES (1);\n")
    with pytest.raises(ChoiceRefused, match="columns"):
        await open_foreign(str(file), lambda _: True)
