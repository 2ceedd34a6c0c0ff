"""What people write: every text that is accepted comes back unchanged (P10)."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.flows.talk import JSON, NDJSON, URLS, fields_of, make, problem, read

TEXTS = [
    "plain",
    "",
    " outer and\tinner \n space ",
    "😀 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "e\u0301 is not é, and Å is not Å",
    "שלום עולם \u202egnol\u202c \u200f",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
    "'; DROP TABLE short_link; --",
    "Robert'); DELETE FROM users WHERE (''='",
    "$1 ?1 :name %s %(x)s {0} {{7*7}} ${7*7}",
    "<script>alert('XSS')</script>",
    '"><img src=x onerror=alert(1)>',
    "line one\r\nline two\u2028three\u2029four\x85five",
    "\x01\x02\x1f\x7f\x80\ufeff\ufffd\ufffe\uffff",
    "\U0001f600\U0010ffff",
    "\\u0000 \\ud800 \\x00 as text",
    "null",
    "NaN",
    "1e309",
]
DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize("text", TEXTS)
def test_p10_text_comes_back_unchanged(api: httpx.Client, text: str) -> None:
    """Title, description and metadata, keys too, after a create, an edit and in a list."""
    fields: dict[str, Any] = {"title": text, "description": text, "metadata": {text: [text, {"in": text}]}}
    made = make(api, **fields)
    assert made["title"] == text
    shown = read(api, made["short_code"])
    assert {name: shown[name] for name in fields} == fields
    other = make(api)["short_code"]
    edited = api.patch(f"{URLS}/{other}", json=fields)
    assert {name: edited.json()[name] for name in fields} == fields
    listed = api.get(URLS, params={"limit": 1}).json()["items"][0]
    assert {name: listed[name] for name in fields} == fields


@pytest.mark.parametrize(
    "value",
    [0, -1, 1 << 53, -(1 << 63), 1 << 64, 10**40, 0.1, 1.5e-7, -2.5, True, False, None, [], {}, [[[]]], ""],
)
def test_p10_metadata_values_come_back_unchanged(api: httpx.Client, value: Any) -> None:
    """Every JSON value, numbers of any size included."""
    shown = read(api, make(api, metadata={"value": value, "inner": [value]})["short_code"])
    assert shown["metadata"] == {"value": value, "inner": [value]}
    assert type(shown["metadata"]["value"]) is type(value)


@pytest.mark.parametrize("file", ["strings_naughty.jsonl", "xss_payloads.jsonl"])
def test_p10_naughty_strings_come_back_unchanged(api: httpx.Client, file: str) -> None:
    """Public collections of strings that break programs, in every field of a link that takes text."""
    if not (DATA / file).exists():
        pytest.skip(f"{DATA / file} is missing")
    texts = [next(iter(json.loads(line).values())) for line in (DATA / file).read_text().splitlines()]
    lines = [
        {
            "original_url": "https://example.com/",
            "title": text[:500],
            "metadata": {text: text},
            "description": text,
        }
        for text in texts
    ]
    answer = api.post(f"{URLS}/bulk", content="\n".join(map(json.dumps, lines)), headers=NDJSON)
    results = [json.loads(line) for line in answer.text.split("\n") if line]
    assert [result["status"] for result in results] == [201] * len(texts)
    for text, result in zip(texts, results, strict=True):
        shown = read(api, result["short_code"])
        assert (shown["title"], shown["description"]) == (text[:500], text)
        assert shown["metadata"] == {text: text}


@pytest.mark.parametrize("field", ["title", "description"])
def test_p10_nul_is_refused(api: httpx.Client, field: str) -> None:
    """U+0000 cannot be stored by every engine: 422 with the field's name, in a create and an edit."""
    code = make(api)["short_code"]
    for answer in (
        api.post(URLS, json={"original_url": "https://a.com", field: "a\0b"}),
        api.patch(f"{URLS}/{code}", json={field: "a\0b"}),
    ):
        assert fields_of(problem(answer, 422, "invalid_request")) == [field]


@pytest.mark.parametrize("metadata", [{"a": "\0"}, {"\0": 1}, {"a": [{"b": ["\0"]}]}])
def test_p10_nul_in_metadata_is_refused(api: httpx.Client, metadata: dict[str, Any]) -> None:
    """However deep it lies."""
    answer = api.post(URLS, json={"original_url": "https://a.com", "metadata": metadata})
    assert fields_of(problem(answer, 422, "invalid_request")) == ["metadata"]


@pytest.mark.parametrize(
    "escape", [r"\ud800", r"\udfff", r"a\ud83dz", r"\ud800\ud800", r"\udc00\ud800", r"\ud800\n"]
)
@pytest.mark.parametrize("field", ["original_url", "title", "description", "custom_code", "metadata"])
def test_p10_half_of_a_surrogate_pair_is_refused(api: httpx.Client, field: str, escape: str) -> None:
    """JSON can write it, but it is no character: 422."""
    value = f'{{"a":"{escape}"}}' if field == "metadata" else f'"https://a.com/{escape}"'
    first = "" if field == "original_url" else '"original_url":"https://a.com",'
    body = f'{{{first}"{field}":{value}}}'.encode()
    problem(api.post(URLS, content=body, headers=JSON), 422, "invalid_request")
