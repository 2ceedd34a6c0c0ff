"""shorten, expand, list, edit, delete."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from laconic.cli.documents import created_document, link_document
from laconic.clock import DAY, HOUR, SECOND, now, to_rfc3339
from laconic.links.model import Created
from laconic.links.store import LinkStore
from laconic.storage.engines import open_database
from laconic.web.api.links import created_json, link_json
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, DEFAULT_WORKSPACE_ID
from tests.cli.conftest import Laconic

URL = "https://example.com/target"


def code_of(short_url: str) -> str:
    return short_url.rpartition("/")[2]


def test_shorten_prints_the_short_url_alone(laconic: Laconic) -> None:
    """So that $(laconic shorten …) can be used as it is."""
    made = laconic("shorten", URL)
    assert made.err == ""
    assert made.line().startswith("http://localhost:8000/")
    assert laconic("expand", code_of(made.line())).line() == URL


def test_shorten_takes_everything_a_link_can_have(laconic: Laconic) -> None:
    before = now()
    made = laconic(
        "shorten", URL, "--code", "sale24", "--title", "Sale é", "--description", "All of it",
        "--expires-in", "12h", "--status", "308", "--json",
    ).json()  # fmt: skip
    assert made["short_code"] == "sale24"
    assert made["short_url"] == "http://localhost:8000/sale24"
    link = laconic("expand", "sale24", "--json").json()
    assert (link["title"], link["description"]) == ("Sale é", "All of it")
    assert link["redirect_status"] == 308
    assert to_rfc3339(before + 12 * HOUR) <= link["expires_at"] <= to_rfc3339(now() + 12 * HOUR)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2999-01-31T12:00:00Z", "2999-01-31T12:00:00Z"),
        ("2999-01-31T12:00:00.25+02:00", "2999-01-31T10:00:00.250000Z"),
        ("2999-01-31 12:00:00-00:30", "2999-01-31T12:30:00Z"),
    ],
)
def test_an_expiry_may_be_a_moment(laconic: Laconic, text: str, expected: str) -> None:
    assert laconic("shorten", URL, "--expires-at", text, "--json").json()["expires_at"] == expected


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("30d", 2_592_000), ("2w", 1_209_600)]
)
def test_an_expiry_may_be_a_duration(laconic: Laconic, text: str, seconds: int) -> None:
    made = laconic("shorten", URL, "--expires-in", text, "--json").json()
    earliest = to_rfc3339(now() + (seconds - 60) * SECOND)
    assert earliest < made["expires_at"] <= to_rfc3339(now() + seconds * SECOND)


def test_reuse_gives_the_link_that_is_there(laconic: Laconic) -> None:
    first = laconic("shorten", URL, "--reuse").line()
    assert laconic("shorten", URL + "?utm_source=mail", "--reuse").line() == first
    assert laconic("shorten", URL, "--reuse", "--json").json()["existing"] is True
    assert laconic("shorten", URL).line() != first


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("shorten", "http://127.0.0.1/"), "url_refused"),
        (("shorten", "javascript:alert(1)"), "url_refused"),
        (("shorten", ""), "url_refused"),
        (("shorten", "https://example.com/" + "a" * 2048), "url_too_long"),
        (("shorten", URL, "--code", "taken24"), "code_taken"),
        (("shorten", URL, "--code", "Admin"), "code_refused"),
        (("shorten", URL, "--code", "a b"), "code_refused"),
        (("shorten", URL, "--status", "303"), "invalid_request"),
        (("shorten", URL, "--title", "t" * 501), "invalid_request"),
        (("shorten", URL, "--expires-at", "2001-01-01T00:00:00Z"), "invalid_request"),
        (("expand", "nobody"), "link_unknown"),
        (("expand", "gone1234"), "link_deleted"),
        (("expand", "not a code"), "code_malformed"),
        (("expand", "https://elsewhere.example/taken24"), "link_unknown"),
        (("edit", "nobody", "--disable"), "link_unknown"),
        (("edit", "gone1234", "--enable"), "link_deleted"),
        (("edit", "taken24", "--url", "http://10.0.0.1/"), "url_refused"),
        (("edit", "taken24", "--expires-at", "2001-01-01T00:00:00Z"), "invalid_request"),
        (("list", "--cursor", "forged"), "invalid_request"),
        (("key", "revoke", "lac_live_nobody"), "key_unknown"),
    ],
)
def test_a_refusal_is_one_line_and_status_1(laconic: Laconic, arguments: tuple[str, ...], code: str) -> None:
    """With --json it has the code of the API's problem documents."""
    assert laconic("shorten", URL, "--code", "taken24").status == 0
    assert laconic("shorten", URL, "--code", "gone1234").status == 0
    assert laconic("delete", "gone1234").status == 0
    told = laconic(*arguments)
    assert told.status == 1
    assert told.out == ""
    assert told.err.startswith("laconic: ")
    assert len(told.err.splitlines()) == 1
    as_json = laconic(*arguments, "--json")
    assert as_json.status == 1
    assert as_json.problem()["code"] == code


@pytest.mark.parametrize(
    "arguments",
    [
        ("shorten",),
        ("shorten", URL, "--colour", "red"),
        ("shorten", URL, "--expires-in", "soon"),
        ("shorten", URL, "--expires-in", "0s"),
        ("shorten", URL, "--expires-in", "12"),
        ("shorten", URL, "--expires-at", "tomorrow"),
        ("shorten", URL, "--expires-at", "2999-01-01T00:00:00"),
        ("shorten", URL, "--expires-in", "1h", "--expires-at", "2999-01-01T00:00:00Z"),
        ("shorten", URL, "--status", "many"),
        ("shorten", "https://example.com/\udcff"),
        ("edit", "code"),
        ("edit", "code", "--never-expires", "--expires-in", "1h"),
        ("list", "--limit", "0"),
        ("list", "--limit", "1001"),
        ("list", "--state", "odd"),
        ("list", "--sort", "title"),
        ("delete",),
        ("key", "create", ""),
        ("key", "create", "a\nb"),
        ("key", "create", "n" * 201),
        ("key", "create", "name", "--scope", "everything"),
        ("frobnicate",),
        ("key", "frobnicate"),
    ],
)
def test_what_is_not_understood_is_one_line_and_status_2(
    laconic_at: Callable[[str], Laconic], arguments: tuple[str, ...]
) -> None:
    """Before any database is touched."""
    laconic = laconic_at("sqlite:////nowhere/laconic.db")
    told = laconic(*arguments)
    assert (told.status, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1
    assert laconic("--json", *arguments).problem()["code"] == "usage"


@pytest.mark.parametrize(
    "written",
    [
        "sale24",
        " sale24 ",
        "/sale24",
        "sale24+",
        "localhost:8000/sale24",
        "http://localhost:8000/sale24",
        "HTTP://LOCALHOST:8000/sale24/",
        "http://127.0.0.1:8000/sale24?utm_source=mail",
        "http://[::1]:8000/sale24",
    ],
)
def test_a_link_may_be_named_as_it_was_copied(laconic: Laconic, written: str) -> None:
    laconic("shorten", URL, "--code", "sale24")
    assert laconic("expand", written).line() == URL


@pytest.mark.parametrize("written", ["", "/", "http://", "http://[::1", "a/b/c", "sale24!", "säle", "x" * 65])
def test_what_is_no_code_is_refused(laconic: Laconic, written: str) -> None:
    told = laconic("expand", "--json", "--", written)
    assert told.status == 1
    assert told.problem()["code"] == "code_malformed"


def test_expand_tells_where_visitors_are_sent(laconic: Laconic) -> None:
    """As it stands in the Location header; the URL as it was given is in the JSON."""
    laconic("shorten", "https://EXAMPLE.com/a b", "--code", "spaced")
    assert laconic("expand", "spaced").line() == "https://example.com/a%20b"
    assert laconic("expand", "spaced", "--json").json()["original_url"] == "https://EXAMPLE.com/a b"


def test_expand_says_when_visitors_are_not_sent(laconic: Laconic) -> None:
    """On standard error, so that the target stays alone on the other."""
    laconic("shorten", URL, "--code", "sale24")
    laconic("edit", "sale24", "--disable")
    shown = laconic("expand", "sale24")
    assert shown.line() == URL
    assert "disabled" in shown.err


def test_list_is_tab_separated_for_programs(laconic: Laconic) -> None:
    """One line for each link, whatever was written into it, newest first."""
    laconic("shorten", URL, "--code", "first24", "--title", "tab\there\nnew line \x1b[31mred")
    laconic("shorten", URL + "2", "--code", "second24", "--expires-at", "2999-01-31T12:00:00.5Z")
    second, first = (line.split("\t") for line in laconic("list").out.splitlines())
    assert second[:4] == ["second24", URL + "2", "0", "active"]
    assert second[5] == "2999-01-31T12:00:00Z"
    assert first[6] == r"tab\there\nnew line \x1b[31mred"
    assert len(first) == len(second) == 7


def test_list_is_paged(laconic: Laconic) -> None:
    """Each page tells where the next begins, on standard error or in the JSON."""
    codes = [laconic("shorten", f"{URL}/{number}", "--json").json()["short_code"] for number in range(5)]
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    while True:
        page = laconic("list", "--sort", "created_at", "--limit", "2", *cursor, "--json").json()
        seen += [item["short_code"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = ("--cursor", page["next_cursor"])
    assert seen == codes
    told = laconic("list", "--limit", "2").err
    assert told.startswith("There are more: add --cursor ")
    rest = laconic("list", "--limit", "4", *told.split()[-2:])
    assert len(rest.out.splitlines()) == 3
    assert rest.err == ""


def test_list_filters_and_sorts(laconic: Laconic) -> None:
    laconic("shorten", URL + "/a", "--code", "spring", "--title", "Spring sale")
    laconic("shorten", URL + "/b", "--code", "summer", "--title", "Summer sale")
    laconic("edit", "summer", "--disable")

    def codes(*arguments: str) -> list[str]:
        return [line.partition("\t")[0] for line in laconic("list", *arguments).out.splitlines()]

    assert codes("--search", "spri") == ["spring"]
    assert codes("--search", "sale") == ["summer", "spring"]
    assert codes("--search", "summer") == ["summer"]
    assert codes("--search", "/a") == ["spring"]
    assert codes("--search", "100%'; --") == []
    assert codes("--state", "disabled") == ["summer"]
    assert codes("--state", "active") == ["spring"]
    assert codes("--sort", "created_at") == ["spring", "summer"]
    assert codes("--sort", "-clicks") == ["summer", "spring"]


def test_an_empty_list_says_so(laconic: Laconic) -> None:
    """To the person, not to the program."""
    assert laconic("list").out == ""
    assert laconic("list").err == "No links.\n"
    assert laconic("list", "--json").json() == {"items": [], "next_cursor": None}


def test_edit_changes_what_is_named(laconic: Laconic) -> None:
    laconic("shorten", URL, "--code", "sale24", "--title", "Old", "--expires-in", "1d")
    edited = laconic(
        "edit", "sale24", "--url", URL + "/new", "--title", "New", "--status", "301", "--json"
    ).json()
    assert edited["original_url"] == URL + "/new"
    assert (edited["title"], edited["redirect_status"]) == ("New", 301)
    assert edited["expires_at"] is not None
    assert laconic("edit", "sale24", "--never-expires", "--title", "", "--json").json()["expires_at"] is None
    assert laconic("expand", "sale24", "--json").json()["title"] is None
    assert "(disabled)" in laconic("edit", "sale24", "--disable").line()
    assert (
        "(active)" in laconic("edit", "http://localhost:8000/sale24", "--enable", "--expires-in", "2d").line()
    )
    assert laconic("expand", "sale24", "--json").json()["expires_at"] > to_rfc3339(now() + DAY)


def test_delete_goes_on_behind_a_link_that_is_not_there(laconic: Laconic) -> None:
    """What can be deleted is, the rest is told, and the status says that not all was done."""
    laconic("shorten", URL, "--code", "first24")
    laconic("shorten", URL, "--code", "second24")
    done = laconic("delete", "first24", "nobody", "a b", "second24")
    assert done.status == 1
    assert done.out == "Deleted first24.\nDeleted second24.\n"
    assert len(done.err.splitlines()) == 2
    assert laconic("list").out == ""
    assert laconic("shorten", URL, "--code", "first24", "--json").problem()["code"] == "code_taken"


def test_delete_for_programs(laconic: Laconic) -> None:
    laconic("shorten", URL, "--code", "first24")
    assert laconic("delete", "first24", "--json").json() == {"deleted": ["first24"]}


@pytest.mark.parametrize("place", ["before", "after"])
def test_shared_options_stand_before_or_after_the_command(laconic: Laconic, place: str) -> None:
    words = ["key", "list"]
    arguments = ["--json", *words] if place == "before" else [*words, "--json"]
    assert laconic(*arguments).json() == {"items": []}
    assert laconic("key", "--json", "list").json() == {"items": []}


def test_json_is_what_the_api_answers(laconic: Laconic, migrated_url: str) -> None:
    """The shapes stand twice in the code, for the sake of a quick start; they must not drift apart."""
    laconic("shorten", URL, "--code", "sale24", "--title", "Sale", "--expires-in", "1d")

    async def find() -> Any:
        database = await open_database(migrated_url)
        try:
            return await LinkStore(database).find(DEFAULT_WORKSPACE_ID, DEFAULT_DOMAIN_ID, "sale24")
        finally:
            await database.close()

    link = asyncio.run(find())

    def base_url(domain_id: int, code: str) -> str:
        assert domain_id == DEFAULT_DOMAIN_ID
        return f"http://localhost:8000/{code}"

    assert link_document(link, base_url) == link_json(link, base_url)
    assert laconic("expand", "sale24", "--json").json() == link_json(link, base_url)
    for created in (Created(link), Created(link, existing=True)):
        assert created_document(created, base_url) == created_json(created, base_url)
