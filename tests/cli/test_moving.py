"""export, import: what other shorteners have, and what another Laconic has, comes in whole and once."""

import asyncio
import fcntl
import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from laconic.clock import DAY, now, to_rfc3339
from laconic.moving.times import read_moment
from laconic.storage.database import Database
from laconic.storage.engines import open_database
from tests.cli.conftest import Laconic
from tests.moving import shorteners
from tests.moving.shorteners import DATA, FIREFOX, KUTT_LINKS, KUTT_VISITS, SHLINK, YOURLS_LINKS, kutt

T = TypeVar("T")


def at(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    async def run() -> T:
        database = await open_database(url)
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(run())


def rows(url: str, sql: str, *args: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in at(url, lambda database: database.fetch_all(sql, *args))]


def links_of(url: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    """By domain and code: where it leads, title, made, expiry, live, clicks, clicks of bots."""
    found = rows(
        url,
        "SELECT host, short_code, original_url, title, short_link.created_at, expires_at, is_active,"
        " coalesce(clicks, 0), coalesce(bot_clicks, 0) FROM short_link JOIN domain ON domain.id = domain_id"
        " LEFT JOIN link_total ON link_id = short_link.id",
    )
    return {(row[0], row[1]): (*row[2:6], bool(row[6]), *row[7:]) for row in found}


def sums(url: str, table: str, column: str = "clicks") -> int:
    return int(rows(url, f"SELECT coalesce(sum({column}), 0) FROM {table}")[0][0])


def counted(url: str) -> dict[str, int]:
    """All that counts clicks, in one look."""
    tables = (
        "link_total",
        "click_quarter",
        "workspace_total",
        "workspace_quarter",
        "click_daily",
        "workspace_daily",
    )
    return {table: sums(url, table) for table in tables}


def add_domain(url: str, number: int, host: str) -> None:
    async def work(database: Database) -> None:
        await database.execute(
            "INSERT INTO domain (id, workspace_id, host, is_default, verified_at, created_at)"
            " VALUES ($1, 1, $2, FALSE, $3, $3)",
            number,
            host,
            now(),
        )

    at(url, work)


def moment(text: str | None) -> int | None:
    return read_moment(text)


def test_yourls_comes_with_links_dates_and_counts_and_twice_without_doubles(
    laconic: Laconic, migrated_url: str
) -> None:
    """From a dump that mariadb-dump made; what cannot be kept is told, with its reason, and spoils nothing else."""
    first = laconic("import", str(DATA / "yourls.sql"), "--json")
    document = json.loads(first.out)
    assert first.status == 1
    expected = {
        ("localhost", keyword): (url, title, moment(made), None, True, clicks)
        for keyword, url, title, made, _, clicks in YOURLS_LINKS
    }
    assert {key: value[:6] for key, value in links_of(migrated_url).items()} == expected
    assert document["links"]["added"] == len(YOURLS_LINKS)
    assert {(line["short_code"], line["reason"]) for line in document["lines"]} == {
        ("a-code-much-too-long-for-us", "code_length"),
        ("docs", "code_reserved"),
        ("evil", "target_scheme"),
    }
    # Eight, five and three are in the log; four clicks of `a` have no time any more.
    assert document["clicks"] == {"added": 20, "dated": 16, "raw": 0, "without_link": 2, "left_alone": False}
    assert links_of(migrated_url)["localhost", "a"][6] == 1
    before = counted(migrated_url)
    assert before == {
        "link_total": 20,
        "click_quarter": 16,
        "workspace_total": 20,
        "workspace_quarter": 16,
        "click_daily": 16 * 6,
        "workspace_daily": 16 * 6,
    }
    second = json.loads(laconic("import", str(DATA / "yourls.sql"), "--json").out)
    assert second["links"]["present"] == len(YOURLS_LINKS)
    assert second["links"]["added"] == second["clicks"]["added"] == 0
    assert counted(migrated_url) == before
    assert {key: value[:6] for key, value in links_of(migrated_url).items()} == expected


@pytest.mark.parametrize("form", ["dump", "file", "server"])
def test_shlink_comes_with_links_dates_and_counts_and_twice_without_doubles(
    form: str, laconic: Laconic, migrated_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """From a dump, an SQLite file and a live PostgreSQL; with domains, tags, places and bots as Shlink saw them."""
    source = shlink_source(form, tmp_path, request)
    add_domain(migrated_url, 7, "s.example.org")
    document = json.loads(laconic("import", source, "--json").out)
    assert document["links"] == {
        "added": 3, "present": 0, "differs": 0, "changed": 0, "conflict": 0, "refused": 1,
    }  # fmt: skip
    assert [line["reason"] for line in document["lines"] if line["what"] == "refused"] == ["code_shape"]
    assert document["clicks"]["added"] == document["clicks"]["dated"] == 12
    expected = {
        ("localhost", "abc12"): ("https://example.com/shlink", "First \\ 'one'", "2021-03-04 05:06:07", None, 8, 1),
        ("localhost", "my-slug"): ("https://example.com/until", None, "2022-01-01 00:00:00", "2030-01-01", 0, 0),
        ("s.example.org", "abc12"): (
            "https://example.com/other", "On another domain", "2022-02-02 02:02:02", None, 4, 0,
        ),
    }  # fmt: skip
    assert links_of(migrated_url) == {
        key: (url, title, moment(made), moment(until), True, clicks, bots)
        for key, (url, title, made, until, clicks, bots) in expected.items()
    }
    kept = rows(
        migrated_url, "SELECT metadata FROM short_link WHERE original_url = $1", "https://example.com/shlink"
    )
    assert json.loads(kept[0][0]) == {"tags": ["autumn", "spring"]}
    places = rows(
        migrated_url,
        "SELECT value, sum(clicks) FROM workspace_daily WHERE dimension = 'country' GROUP BY value ORDER BY value",
    )
    assert [(value, int(clicks)) for value, clicks in places] == [("AU", 7), ("FR", 4), ("US", 1)]
    before = counted(migrated_url)
    again = json.loads(laconic("import", source, "--json").out)
    assert again["links"]["present"] == 3
    assert again["clicks"]["added"] == 0
    assert counted(migrated_url) == before


def shlink_source(form: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if form == "dump":
        return str(DATA / "shlink.sql")
    if form == "file":
        return str(shorteners.sqlite_file(tmp_path / "shlink.db", SHLINK))
    return asyncio.run(shorteners.postgres_database(request.getfixturevalue("fresh_postgres_url"), SHLINK))


@pytest.mark.parametrize("form", ["dump", "file", "server"])
def test_kutt_comes_with_links_dates_and_counts_and_twice_without_doubles(
    form: str, laconic: Laconic, migrated_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Clicks by the hour become clicks by the hour; a link that had a password leads nowhere."""
    add_domain(migrated_url, 7, "k.example.org")
    if form == "dump":
        source = str(DATA / "kutt.sql")
    elif form == "file":
        source = str(shorteners.sqlite_file(tmp_path / "kutt.sqlite", kutt()))
    else:
        url = request.getfixturevalue("fresh_postgres_url")
        source = asyncio.run(shorteners.postgres_database(url, kutt()))
    document = laconic("import", source, "--json").json()
    assert document["links"]["added"] == 4
    hosts = {None: "localhost", 1: "k.example.org"}
    assert links_of(migrated_url) == {
        (hosts[domain], code): (
            target,
            None,
            moment(made),
            moment(until),
            not (banned or password),
            clicks,
            0,
        )
        for _, code, _, banned, domain, password, until, target, clicks, made in KUTT_LINKS
    }
    assert document["notes"] == {"disabled, for it had a password": 1, "disabled, for it was banned": 1}
    assert document["clicks"] == {"added": 14, "dated": 10, "raw": 0, "without_link": 0, "left_alone": False}
    hours = rows(migrated_url, "SELECT quarter, clicks FROM workspace_quarter ORDER BY quarter")
    assert [(to_rfc3339(quarter)[:16], clicks) for quarter, clicks in hours] == [
        ("2023-05-01T10:00", 3),
        ("2023-05-01T23:00", 2),
        ("2023-05-02T00:00", 4),
        ("2023-05-02T08:00", 1),
    ]
    values = rows(
        migrated_url,
        "SELECT dimension, value, sum(clicks) FROM workspace_daily WHERE dimension IN ('country', 'referer')"
        " GROUP BY dimension, value ORDER BY dimension, value",
    )
    assert [(dimension, value, int(clicks)) for dimension, value, clicks in values] == [
        ("country", "", 5),
        ("country", "DE", 2),
        ("country", "US", 3),
        ("referer", "", 8),
        ("referer", "news.example.org", 2),
    ]
    before = counted(migrated_url)
    assert laconic("import", source, "--json").json()["clicks"]["added"] == 0
    assert counted(migrated_url) == before


def test_a_source_that_goes_on_is_caught_up_with(laconic: Laconic, migrated_url: str, tmp_path: Path) -> None:
    """The last hour of Kutt has grown, another has come, and a link: exactly that is added."""
    add_domain(migrated_url, 7, "k.example.org")
    laconic("import", str(shorteners.sqlite_file(tmp_path / "one.sqlite", kutt())), "--json").json()
    grown = (
        4,
        1,
        "2023-05-02 08:00:00",
        3,
        {"us": 2, "de": 1},
        {"direct": 3},
        {"br_edge": 3},
        {"os_windows": 3},
    )
    another = (5, 1, "2023-05-02 09:00:00", 2, {"us": 2}, {"direct": 2}, {"br_edge": 2}, {"os_windows": 2})
    links: tuple[tuple[Any, ...], ...] = ((*KUTT_LINKS[0][:8], 13, KUTT_LINKS[0][9]), *KUTT_LINKS[1:])
    links += (
        (5, "later", None, False, None, None, None, "https://example.com/later", 0, "2024-01-01 00:00:00"),
    )
    later = kutt((*KUTT_VISITS[:3], grown, another), links)
    document = laconic("import", str(shorteners.sqlite_file(tmp_path / "two.sqlite", later)), "--json").json()
    assert document["links"]["added"] == 1
    assert document["clicks"] == {"added": 4, "dated": 4, "raw": 0, "without_link": 0, "left_alone": False}
    assert links_of(migrated_url)["localhost", "kutt01"][5] == 13
    assert sums(migrated_url, "click_quarter") == 14
    assert sums(migrated_url, "click_daily") == sums(migrated_url, "workspace_daily") == 14 * 6


def test_single_clicks_of_a_log_are_kept_as_far_back_as_our_own(
    laconic: Laconic, migrated_url: str, tmp_path: Path
) -> None:
    """What is older than the retention is counted only; twice imported, each is there once."""
    recent = to_rfc3339(now() - DAY)[:19].replace("T", " ")
    times = [recent, recent, "2016-02-29 12:00:00"]
    log = [(number, time, "ozh", "direct", FIREFOX, "1.1.1.1", "AU") for number, time in enumerate(times, 1)]
    url = shorteners.Table(
        "p_url", shorteners.YOURLS[0].columns, "keyword, url, title, timestamp, ip, clicks", YOURLS_LINKS
    )
    table = shorteners.Table(
        "p_log", shorteners.YOURLS[2].columns, ", ".join(shorteners.YOURLS[2].columns), log
    )
    file = str(shorteners.sqlite_file(tmp_path / "prefixed.db", (url, table)))
    for _ in range(2):
        assert laconic("import", file, "--json").status == 0
        exported = [json.loads(line) for line in laconic("export").out.splitlines()]
        clicks = [one for one in exported if one["record"] == "click"]
        assert [(one["short_code"], one["country"], one["browser"]) for one in clicks] == [
            ("ozh", "AU", "Firefox")
        ] * 2
        assert len({one["id"] for one in clicks}) == 2
        assert sums(migrated_url, "click_quarter") == 3


def test_a_dry_run_says_the_same_and_writes_nothing(laconic: Laconic, migrated_url: str) -> None:
    """The numbers of a dry run are those of the import that follows."""
    dry = json.loads(laconic("import", str(DATA / "yourls.sql"), "--dry-run", "--json").out)
    assert links_of(migrated_url) == {}
    assert sum(counted(migrated_url).values()) == 0
    wet = json.loads(laconic("import", str(DATA / "yourls.sql"), "--json").out)
    assert {**dry, "dry_run": False} == wet
    again = json.loads(laconic("import", str(DATA / "yourls.sql"), "--dry-run", "--json").out)
    assert (again["links"]["added"], again["links"]["present"], again["clicks"]["added"]) == (0, 4, 0)


def test_a_code_that_leads_elsewhere_is_told_and_left_unless_asked(
    laconic: Laconic, migrated_url: str, tmp_path: Path
) -> None:
    """No clicks are added to it either; the diff says what differs."""
    laconic("shorten", "https://example.net/mine", "--code", "abcd")
    laconic("shorten", "https://example.com/same", "--code", "same", "--title", "Mine")
    file = tmp_path / "links.csv"
    file.write_text(
        "code,url,title,clicks\nabcd,https://example.com/theirs,Theirs,5\nsame,https://example.com/same,Theirs,2\n"
    )
    report = tmp_path / "report.ndjson"
    first = laconic("import", str(file), "--json", "--report", str(report))
    assert first.status == 1
    told = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(line["short_code"], line["what"], line["reason"], line["fields"]) for line in told] == [
        ("abcd", "conflict", "other_target", ["original_url", "title"]),
        ("same", "differs", None, ["title"]),
    ]
    assert links_of(migrated_url)["localhost", "abcd"][0] == "https://example.net/mine"
    assert sums(migrated_url, "link_total") == 2
    second = laconic("import", str(file), "--json", "--overwrite").json()
    assert second["links"]["changed"] == 2
    assert links_of(migrated_url)["localhost", "abcd"][:2] == ("https://example.com/theirs", "Theirs")
    assert sums(migrated_url, "link_total") == 7


def test_columns_of_a_csv_are_guessed_shown_and_overruled(
    laconic: Laconic, migrated_url: str, tmp_path: Path
) -> None:
    """By name where it tells, by content where it does not."""
    file = tmp_path / "strange.csv"
    file.write_text(
        "﻿Kurz;Wohin;Wann;Wie oft\nhttps://sho.rt/eins;https://example.com/1;31.12.2023 10:00;1,234\n"
        "https://sho.rt/zwei;https://example.com/2;01.02.2024;0\n"
    )
    shown = laconic("import", str(file))
    assert "Columns: url = Wohin, code = Kurz, created = Wann, clicks = Wie oft" in shown.err
    links = links_of(migrated_url)
    assert links["localhost", "eins"][0] == "https://example.com/1"
    assert links["localhost", "eins"][2] == moment("2023-12-31T10:00:00Z")
    assert links["localhost", "eins"][5] == 1234
    other = tmp_path / "other.csv"
    other.write_text("a,b,c\nhttps://example.com/x,https://example.com/longer,code1\n")
    laconic("import", str(other), "--column", "url=a")
    assert links_of(migrated_url)["localhost", "code1"][0] == "https://example.com/x"
    refused = laconic("import", str(other), "--column", "url=nowhere")
    assert (refused.status, "no such column" in refused.err) == (1, True)


def test_bitly_comes_as_its_api_answers(laconic: Laconic, migrated_url: str, tmp_path: Path) -> None:
    """Each custom back-half is a link of its own."""
    file = tmp_path / "bitly.json"
    link = {
        "created_at": "2020-05-06T07:08:09+0000",
        "id": "bit.ly/3abcDEF",
        "link": "https://bit.ly/3abcDEF",
        "custom_bitlinks": ["https://bit.ly/my-sale"],
        "long_url": "https://example.com/sale",
        "title": "Sale",
        "archived": False,
        "tags": ["x"],
    }
    file.write_text(json.dumps({"links": [link], "pagination": {"total": 1}}))
    assert laconic("import", str(file), "--json").json()["links"]["added"] == 2
    made = moment("2020-05-06T07:08:09Z")
    assert {key[1]: value[:3] for key, value in links_of(migrated_url).items()} == {
        "3abcDEF": ("https://example.com/sale", "Sale", made),
        "my-sale": ("https://example.com/sale", "Sale", made),
    }


def test_a_source_that_is_none_is_refused_in_a_line(laconic: Laconic, tmp_path: Path) -> None:
    """Neither a stack trace nor half an import."""
    file = tmp_path / "nothing.csv"
    file.write_text("just,some\nwords,here\n")
    assert "url=NAME" in laconic("import", str(file)).err
    assert laconic("import", "missing.csv").status == 3
    assert "mysqldump" in laconic("import", "mysql://x/y").err
    other = shorteners.sqlite_file(tmp_path / "other.db", [shorteners.Table("t", ("a",), "a", ((1,),))])
    assert "no database of" in laconic("import", str(other)).err
    broken = tmp_path / "broken.ndjson.gz"
    whole = laconic("export").out.encode()
    broken.write_bytes(gzip.compress(whole)[:-12])
    assert laconic("import", str(broken)).status in (1, 3)


def test_a_file_that_was_cut_off_is_told(laconic: Laconic, tmp_path: Path) -> None:
    """What is there comes in; that something is missing shows in words and in the exit status."""
    laconic("shorten", "https://example.com/", "--code", "abcd")
    lines = laconic("export").out.splitlines(keepends=True)
    file = tmp_path / "cut.ndjson"
    file.write_text("".join(lines[:-1]) + '{"record":"link","short_code":"half')
    result = laconic("import", str(file))
    assert result.status == 1
    assert "ends before its end" in result.out
    assert "unreadable: line 3" in result.out


def clicked_links(laconic: Laconic, tmp_path: Path) -> None:
    """Each click is counted by day and kept."""
    laconic("import", str(shorteners.clicked_yourls(tmp_path / "clicked.db", 40, 200)), "--json").json()


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.parametrize("name", ["all.ndjson", "all.ndjson.gz"])
def test_an_export_that_was_cut_off_is_gone_on_with(name: str, laconic: Laconic, tmp_path: Path) -> None:
    """What comes out are the bytes of the export that nobody disturbed; see tests/moving for cuts everywhere."""
    clicked_links(laconic, tmp_path)
    file, part = Path(name), Path(f"{name}.part")
    whole_counts = laconic("export", "-o", name, "--json").json()
    assert (whole_counts["links"], whole_counts["clicks"], whole_counts["days"] > 40) == (40, 200, True)
    packed, whole = file.read_bytes(), unpacked(file)
    for size in (len(packed) // 3, len(packed) - 300, len(packed)):
        part.write_bytes(packed[:size])
        file.unlink()
        assert laconic("export", "-o", name, "--resume", "--json").json() == whole_counts
        assert unpacked(file) == whole
        assert sorted(path.name for path in Path().glob("all.*")) == [name]


def test_only_the_export_that_was_cut_off_is_gone_on_with(laconic: Laconic, tmp_path: Path) -> None:
    """Not one with other contents, nor one that is still being written; and nothing of it is lost by the attempt."""
    clicked_links(laconic, tmp_path)
    laconic("export", "-o", "all.ndjson")
    part = Path("all.ndjson.part")
    lines = Path("all.ndjson").read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join(lines[:50]))
    arguments = ("export", "-o", "all.ndjson", "--resume", "--json")
    refused = laconic(*arguments, "--no-clicks")
    assert (refused.status, "clicks is True" in refused.problem()["detail"]) == (1, True)
    head = {**json.loads(lines[0]), "source": "elsewhere/default"}
    part.write_bytes(json.dumps(head).encode() + b"\n" + b"".join(lines[1:50]))
    assert "begun by another export" in laconic(*arguments).problem()["detail"]
    assert len(part.read_bytes().splitlines()) == 50
    unknown = lines[1].replace(b'"short_code":"', b'"short_code":"not')
    part.write_bytes(lines[0] + unknown)
    assert "is not known here" in laconic(*arguments).problem()["detail"]
    with part.open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        for again in (arguments, arguments[:3]):
            assert "Another export is writing" in laconic(*again).err
        assert part.read_bytes() == lines[0] + unknown
    assert laconic("export", "--resume").status == 2
