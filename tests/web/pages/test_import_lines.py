"""Files that people have become lines that a bulk create takes, wherever their bytes are cut."""

import csv
import io
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.csv_text import csv_lines
from laconic.web.api.problems import Problem
from laconic.web.api.streams import LARGEST_ITEM
from laconic.web.pages.import_lines import CsvFile, FileReader, JsonFile, Wishes, form_of


def lines_of(reader: FileReader, body: bytes, places: Sequence[int] = ()) -> list[Any]:
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    found: list[bytes] = []
    for start, end in itertools.pairwise(edges):
        found += reader.feed(body[start:end], is_end=False)
    found += reader.feed(b"", is_end=True)
    return [json.loads(line) for line in b"".join(found).splitlines()]


def read_csv(text: str | bytes, **wishes: Any) -> list[Any]:
    return lines_of(CsvFile(Wishes(**wishes)), text.encode() if isinstance(text, str) else text)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=12).map(
    str.strip
)


@given(
    rows=st.lists(st.tuples(texts.filter(bool), texts), max_size=6),
    places=st.lists(st.integers(0, 10_000), max_size=8),
    delimiter=st.sampled_from(",;\t"),
)
def test_cells_come_out_as_they_went_in(
    rows: list[tuple[str, str]], places: list[int], delimiter: str
) -> None:
    """Quotation marks, line breaks inside a cell, and characters cut in the middle of their bytes included."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([("url", "title"), *rows])
    wanted = [{"original_url": url} | ({"title": title} if title else {}) for url, title in rows]
    assert lines_of(CsvFile(Wishes()), text.getvalue().encode(), places) == [
        {name: value[1:] if _was_guarded(value) else value for name, value in row.items()} for row in wanted
    ]


def _was_guarded(text: str) -> bool:
    return text.startswith("'") and text[1:].lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize("name", ["original_url", "URL", "Long URL", " Destination ", "target"])
def test_other_programs_names_are_understood(name: str) -> None:
    """The column of the target may have any of the usual names."""
    assert read_csv(f"\ufeff{name};Alias;Colour\nhttps://a.example/;abcd;red\n") == [
        {"original_url": "https://a.example/", "custom_code": "abcd"}
    ]


def test_values_get_their_types() -> None:
    """Days, times without a zone, numbers and JSON in cells; what is none of it stays text, to be refused."""
    rows = read_csv(
        "url,expires_at,redirect_status,metadata,is_active\n"
        'https://a.example/,2030-01-02,301,"{""a"": 1}",true\n'
        "https://b.example/,2030-01-02 10:30,xx,{,no\n"
        "https://c.example/,2030-01-02T10:30:00+02:00\n"
    )
    assert rows == [
        {
            "original_url": "https://a.example/",
            "expires_at": "2030-01-02T00:00:00Z",
            "redirect_status": 301,
            "metadata": {"a": 1},
        },
        {
            "original_url": "https://b.example/",
            "expires_at": "2030-01-02T10:30:00Z",
            "redirect_status": "xx",
            "metadata": "{",
            "is_active": False,
        },
        {"original_url": "https://c.example/", "expires_at": "2030-01-02T10:30:00+02:00"},
    ]


def test_a_guarded_cell_is_bare_again() -> None:
    """What an export puts before a formula an import takes away: the title is the same after the round trip."""
    title = '=HYPERLINK("https://evil.example")'
    assert read_csv(csv_lines([("url", "title"), ("https://a.example/", title)])) == [
        {"original_url": "https://a.example/", "title": title}
    ]


def test_wishes_hold_for_every_line() -> None:
    """New codes, another domain, and links that are there already."""
    line = json.dumps(
        {
            "original_url": "https://a.example/",
            "short_code": "abcd",
            "id": "1",
            "click_count": 3,
            "title": "t",
        }
    ).encode()
    asked = {"original_url": "https://a.example/", "title": "t"}
    assert lines_of(JsonFile(Wishes()), line) == [{**asked, "custom_code": "abcd"}]
    wishes = Wishes(keep_codes=False, reuse=True, domain="go.example.com")
    assert lines_of(JsonFile(wishes), line) == [{**asked, "domain": "go.example.com", "reuse": True}]


def test_an_array_is_as_good_as_lines() -> None:
    """Whoever has one JSON document need not rewrite it."""
    items = [{"original_url": f"https://example.com/{number}"} for number in range(3)]
    assert lines_of(JsonFile(Wishes()), json.dumps(items, indent=1).encode(), [7, 30]) == items


def test_a_bad_line_is_left_for_whoever_makes_links() -> None:
    """It is refused there by its number, and spoils no other."""
    reader = JsonFile(Wishes())
    found = b"".join(reader.feed(b'{"url":\n"x"\n{"url": "https://a.example/"}\n', is_end=True))
    assert found.splitlines() == [b'{"url":', b'"x"', b'{"original_url":"https://a.example/"}']


def test_a_quotation_mark_that_never_ends_costs_one_row() -> None:
    """The rest of the file is not swallowed for ever, and memory stays small."""
    body = 'url\n"https://a.example/\n' + "https://b.example/\n" * (LARGEST_ITEM // 10)
    reader = CsvFile(Wishes())
    found: list[bytes] = []
    for start in range(0, len(body), 4096):
        found += reader.feed(body[start : start + 4096].encode(), is_end=False)
    found += reader.feed(b"", is_end=True)
    assert found[0] == b"null\n"
    assert json.loads(found[-1])["original_url"] == "https://b.example/"


def test_bytes_that_are_no_text_cost_one_row() -> None:
    """They reach whoever makes links as what they are, half of a surrogate pair, and are refused there."""
    rows = read_csv(b"url,title\nhttps://a.example/,\xff\nhttps://b.example/,ok\n")
    assert rows[0]["title"] == "\udcff"
    assert rows[1]["title"] == "ok"


def test_a_table_without_names_is_refused() -> None:
    """Nobody guesses which column is meant."""
    with pytest.raises(Problem, match="original_url"):
        read_csv("https://a.example/,abcd\n")


@pytest.mark.parametrize(
    ("name", "form"), [("links.CSV", "csv"), ("a.ndjson", "json"), ("a.jsonl", "json"), ("export.txt", "csv")]
)
def test_the_files_name_tells_its_form(name: str, form: str) -> None:
    assert form_of(name) == form
