"""Databases of other shorteners: their own tables with their own types, and rows as those programs write them.

The tables are those of YOURLS 1.10, Shlink 5 and Kutt 3 as their installers and migrations leave them. YOURLS knows
MySQL only; `data/` holds dumps that mariadb-dump 10.11 has made of these very tables and rows.
"""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from laconic.clock import DAY, now, to_rfc3339

DATA = Path(__file__).parent / "data"

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


@dataclass(frozen=True)
class Table:
    """`ddl` has names in braces where engines differ; rows are in the order of its columns."""

    name: str
    columns: tuple[str, ...]
    ddl: str
    rows: Sequence[Sequence[Any]]


_TYPES: Mapping[str, Mapping[str, str]] = {
    "mysql": {
        "id": "BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY",
        "serial": "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY",
        "time": "DATETIME",
        "zoned": "DATETIME",
        "bool": "TINYINT(1)",
        "json": "JSON",
        "uuid": "CHAR(36)",
        "code": "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "q": "`",
    },
    "postgres": {
        "id": "BIGSERIAL PRIMARY KEY",
        "serial": "SERIAL PRIMARY KEY",
        "time": "TIMESTAMP(0) WITHOUT TIME ZONE",
        "zoned": "TIMESTAMPTZ",
        "bool": "BOOLEAN",
        "json": "JSONB",
        "uuid": "UUID",
        "code": "VARCHAR(255)",
        "q": '"',
    },
    "sqlite": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "serial": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
        "time": "DATETIME",
        "zoned": "DATETIME",
        "bool": "BOOLEAN",
        "json": "JSON",
        "uuid": "CHAR(36)",
        "code": "VARCHAR(255) COLLATE BINARY",
        "q": '"',
    },
}

# YOURLS

YOURLS_LINKS = (
    # keyword, url, title, timestamp, ip, clicks
    (
        "a",
        "https://example.com/one?x=1&y='2'",
        "Back\\slash; and\na new line",
        "2015-06-07 08:09:10",
        "192.0.2.7",
        12,
    ),
    ("never", "https://example.com/never", None, "2019-12-31 23:59:59", "192.0.2.7", 0),
    ("news", "https://example.org/news", "Ünïcode 🎉 (x), ('y');", "2020-01-01 00:00:00", "2001:db8::1", 3),
    ("ozh", "https://ozh.org/", 'ozh\'s "site"', "2014-02-03 04:05:06", "127.0.0.1", 5),
)
YOURLS_REFUSED = (
    ("a-code-much-too-long-for-us", "https://example.com/long", "", "2015-01-01 00:00:00", "", 7),
    ("docs", "https://example.com/docs", "", "2015-01-01 00:00:00", "", 1),
    ("evil", "javascript:alert(1)", "", "2015-01-01 00:00:00", "", 2),
)
# Of the twelve clicks of `a` the log has eight: somebody has pruned it.
YOURLS_LOG = tuple(
    (number, *row)
    for number, row in enumerate(
        [
            *[
                (f"2015-06-08 10:{n:02d}:00", "a", "https://www.example.net/x", FIREFOX, "1.1.1.1", "AU")
                for n in range(6)
            ],
            ("2015-06-09 11:00:00", "a", "direct", GOOGLEBOT, "66.249.66.1", "US"),
            ("2015-06-09 11:20:00", "a", "direct", CHROME, "2001:db8::2", ""),
            *[
                (f"2014-02-0{n} 23:59:59", "ozh", "direct", CHROME, "203.0.113.9", "DE")
                for n in (3, 4, 5, 6, 7)
            ],
            *[(f"2020-01-01 00:00:0{n}", "news", "", "", "", "") for n in (1, 2, 3)],
            ("2016-01-01 00:00:00", "nobody-knows-it", "direct", CHROME, "203.0.113.9", "DE"),
            ("2016-01-01 00:00:00", "evil", "direct", CHROME, "203.0.113.9", "DE"),
        ],
        1,
    )
)
YOURLS = (
    Table(
        "yourls_url",
        ("keyword", "url", "title", "timestamp", "ip", "clicks"),
        "keyword varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '', url text NOT NULL,"
        " title text, {q}timestamp{q} timestamp NOT NULL DEFAULT current_timestamp(), ip varchar(41) NOT NULL,"
        " clicks int(10) unsigned NOT NULL, PRIMARY KEY (keyword), KEY ip (ip), KEY {q}timestamp{q} ({q}timestamp{q})",
        (*YOURLS_LINKS, *YOURLS_REFUSED),
    ),
    Table(
        "yourls_options",
        ("option_id", "option_name", "option_value"),
        "option_id bigint(20) unsigned NOT NULL auto_increment, option_name varchar(64) NOT NULL default '',"
        " option_value longtext NOT NULL, PRIMARY KEY (option_id, option_name)",
        ((1, "version", "1.10.2"), (2, "next_id", "42")),
    ),
    Table(
        "yourls_log",
        ("click_id", "click_time", "shorturl", "referrer", "user_agent", "ip_address", "country_code"),
        "click_id int(11) NOT NULL auto_increment, click_time datetime NOT NULL, shorturl varchar(100) BINARY NOT NULL,"
        " referrer varchar(200) NOT NULL, user_agent varchar(255) NOT NULL, ip_address varchar(41) NOT NULL,"
        " country_code char(2) NOT NULL, PRIMARY KEY (click_id), KEY shorturl (shorturl)",
        YOURLS_LOG,
    ),
)

# Shlink

SHLINK_LINKS = (
    # id, original_url, short_code, date_created, valid_since, valid_until, max_visits, domain_id, title
    (
        1,
        "https://example.com/shlink",
        "abc12",
        "2021-03-04 05:06:07",
        None,
        None,
        None,
        None,
        "First \\ 'one'",
    ),
    (
        2,
        "https://example.com/until",
        "my-slug",
        "2022-01-01 00:00:00",
        None,
        "2030-01-01 00:00:00",
        None,
        None,
        None,
    ),
    (3, "https://example.com/other", "abc12", "2022-02-02 02:02:02", None, None, 100, 2, "On another domain"),
    (4, "https://example.com/deep", "deep/er/slug", "2022-03-03 03:03:03", None, None, None, None, None),
)
SHLINK_VISITS = tuple(
    (number, *row)
    for number, row in enumerate(
        [
            # short_url_id, referer, date, remote_addr, user_agent, visit_location_id, type, potential_bot
            *[
                (
                    1,
                    "https://news.example.org/a",
                    f"2021-04-0{n} 10:00:00",
                    "1.1.1.0",
                    FIREFOX,
                    1,
                    "valid_short_url",
                    0,
                )
                for n in range(1, 8)
            ],
            (1, None, "2021-04-08 10:00:00", "66.249.66.0", GOOGLEBOT, None, "valid_short_url", 1),
            (None, None, "2021-04-08 11:00:00", "1.1.1.0", FIREFOX, None, "base_url", 0),
            *[(3, "", f"2022-05-01 0{n}:30:00", None, CHROME, 2, "valid_short_url", 0) for n in range(4)],
            (4, "", "2022-05-01 04:30:00", None, CHROME, None, "valid_short_url", 0),
        ],
        1,
    )
)
SHLINK = (
    Table(
        "domains",
        ("id", "authority", "base_url_redirect"),
        "id {id}, authority VARCHAR(255) NOT NULL UNIQUE, base_url_redirect VARCHAR(255) DEFAULT NULL",
        ((2, "s.example.org", None),),
    ),
    Table(
        "short_urls",
        (
            *("id", "original_url", "short_code", "date_created", "valid_since", "valid_until", "max_visits"),
            *("domain_id", "title", "title_was_auto_resolved", "crawlable", "forward_query"),
        ),
        "id {id}, original_url VARCHAR(2048) NOT NULL, short_code {code} NOT NULL, date_created {time} NOT NULL,"
        " valid_since {time} DEFAULT NULL, valid_until {time} DEFAULT NULL, max_visits INT DEFAULT NULL,"
        " domain_id BIGINT DEFAULT NULL, title VARCHAR(512) DEFAULT NULL, title_was_auto_resolved {bool} NOT NULL,"
        " crawlable {bool} NOT NULL, forward_query {bool} NOT NULL,"
        " CONSTRAINT unique_short_code_plus_domain UNIQUE (short_code, domain_id)",
        tuple((*row, False, False, True) for row in SHLINK_LINKS),
    ),
    Table(
        "tags", ("id", "name"), "id {id}, name VARCHAR(255) NOT NULL UNIQUE", ((1, "spring"), (2, "autumn"))
    ),
    Table(
        "short_urls_in_tags",
        ("short_url_id", "tag_id"),
        "short_url_id BIGINT NOT NULL, tag_id BIGINT NOT NULL, PRIMARY KEY (short_url_id, tag_id)",
        ((1, 1), (1, 2), (3, 2)),
    ),
    Table(
        "visit_locations",
        (
            "id",
            "country_code",
            "country_name",
            "region_name",
            "city_name",
            "timezone",
            "lat",
            "lon",
            "is_empty",
        ),
        "id {id}, country_code VARCHAR(255), country_name VARCHAR(255), region_name VARCHAR(255),"
        " city_name VARCHAR(255), timezone VARCHAR(255), lat DOUBLE PRECISION NOT NULL, lon DOUBLE PRECISION NOT NULL,"
        " is_empty {bool} NOT NULL",
        (
            (1, "AU", "Australia", "Queensland", "Brisbane", "Australia/Brisbane", -27.5, 153.0, False),
            (2, "FR", "France", "", "", "Europe/Paris", 48.9, 2.3, False),
        ),
    ),
    Table(
        "visits",
        (
            *("id", "short_url_id", "referer", "date", "remote_addr", "user_agent", "visit_location_id"),
            *("type", "potential_bot", "visited_url"),
        ),
        "id {id}, short_url_id BIGINT, referer VARCHAR(1024), {q}date{q} {time} NOT NULL, remote_addr VARCHAR(256),"
        " user_agent VARCHAR(512), visit_location_id BIGINT, type VARCHAR(255) NOT NULL,"
        " potential_bot {bool} NOT NULL, visited_url VARCHAR(2048)",
        tuple((*row[:-1], bool(row[-1]), None) for row in SHLINK_VISITS),
    ),
)

# Kutt

KUTT_LINKS = (
    # id, address, description, banned, domain_id, password, expire_in, target, visit_count, created_at
    (
        1,
        "kutt01",
        "A 'description'",
        False,
        None,
        None,
        None,
        "https://example.com/kutt",
        9,
        "2023-01-02 03:04:05",
    ),
    (
        2,
        "secret",
        None,
        False,
        None,
        "$2a$12$hash",
        None,
        "https://example.com/secret",
        1,
        "2023-02-02 03:04:05",
    ),
    (
        3,
        "kutt01",
        None,
        False,
        1,
        None,
        "2031-01-01 00:00:00",
        "https://example.com/own",
        4,
        "2023-03-03 03:04:05",
    ),
    (4, "banned", None, True, None, None, None, "https://example.com/banned", 0, "2023-04-04 03:04:05"),
)
_BROWSERS = tuple("br_chrome br_edge br_firefox br_ie br_opera br_other br_safari".split())
_SYSTEMS = tuple("os_android os_ios os_linux os_macos os_other os_windows".split())
KUTT_VISITS = (
    # id, link_id, created_at, total, countries, referrers, browsers, systems
    (
        1,
        1,
        "2023-05-01 10:15:00",
        3,
        {"de": 2, "unknown": 1},
        {"direct": 1, "news[dot]example[dot]org": 2},
        {"br_firefox": 3},
        {"os_linux": 3},
    ),
    (
        2,
        1,
        "2023-05-01 23:59:59",
        2,
        {"us": 2},
        {"direct": 2},
        {"br_chrome": 1, "br_other": 1},
        {"os_windows": 2},
    ),
    (3, 3, "2023-05-02 00:00:00", 4, {"fr": None}, {"direct": 4}, {"br_safari": 4}, {"os_macos": 4}),
    (4, 1, "2023-05-02 08:00:00", 1, {"us": 1}, {"direct": 1}, {"br_edge": 1}, {"os_windows": 1}),
)


def _kutt_visit(row: Sequence[Any]) -> tuple[Any, ...]:
    number, link_id, created, total, countries, referrers, browsers, systems = row
    counts = [browsers.get(name, 0) for name in _BROWSERS] + [systems.get(name, 0) for name in _SYSTEMS]
    return (number, json.dumps(countries), created, created, link_id, json.dumps(referrers), total, *counts)


def kutt(
    visits: Sequence[Sequence[Any]] = KUTT_VISITS, links: Sequence[Sequence[Any]] = KUTT_LINKS
) -> tuple[Table, ...]:
    counters = ", ".join(f"{name} INTEGER NOT NULL DEFAULT 0" for name in (*_BROWSERS, *_SYSTEMS))
    return (
        Table(
            "domains",
            ("id", "banned", "address", "homepage", "uuid", "created_at", "updated_at"),
            "id {serial}, banned {bool} NOT NULL, address VARCHAR(255) NOT NULL UNIQUE, homepage VARCHAR(255),"
            " uuid {uuid} NOT NULL, created_at {zoned} NOT NULL, updated_at {zoned} NOT NULL",
            (
                (1, False, "k.example.org", None, "5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a11")
                + ("2023-01-01 00:00:00",) * 2,
            ),
        ),
        Table(
            "links",
            (
                *("id", "address", "description", "banned", "domain_id", "password", "expire_in", "target"),
                *("visit_count", "created_at", "updated_at", "user_id", "uuid"),
            ),
            "id {serial}, address VARCHAR(255) NOT NULL, description VARCHAR(255), banned {bool} NOT NULL,"
            " domain_id INTEGER, password VARCHAR(255), expire_in {zoned}, target VARCHAR(2040) NOT NULL,"
            " visit_count INTEGER NOT NULL DEFAULT 0, created_at {zoned} NOT NULL, updated_at {zoned} NOT NULL,"
            " user_id INTEGER, uuid {uuid} NOT NULL",
            tuple((*row, row[-1], None, f"5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a1{row[0]}") for row in links),
        ),
        Table(
            "visits",
            (
                "id",
                "countries",
                "created_at",
                "updated_at",
                "link_id",
                "referrers",
                "total",
                *_BROWSERS,
                *_SYSTEMS,
            ),
            "id {serial}, countries {json}, created_at {zoned} NOT NULL, updated_at {zoned}, link_id INTEGER,"
            f" referrers {{json}}, total INTEGER NOT NULL DEFAULT 0, {counters}",
            tuple(_kutt_visit(row) for row in visits),
        ),
    )


def sqlite_file(path: Path, tables: Sequence[Table]) -> Path:
    # In one transaction: each of its own would wait for the disk once a row.
    with closing(apsw.Connection(str(path))) as connection, connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table.name} ({table.ddl.format(**_TYPES['sqlite'])})")
            marks = ",".join("?" * len(table.columns))
            names = ",".join(f'"{name}"' for name in table.columns)
            connection.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", table.rows)
    return path


def clicked_yourls(path: Path, links: int, clicks: int) -> Path:
    """A YOURLS of any size: clicks of the last three months, and one more of each link than the log has."""
    choose = random.Random(1)
    codes = [f"code{number:05d}" for number in range(links)]
    begin = now() - 90 * DAY
    moments = sorted(choose.randrange(begin, begin + 80 * DAY) for _ in range(clicks))
    times = [to_rfc3339(moment)[:19].replace("T", " ") for moment in moments]
    log = [
        (number, time, choose.choice(codes), "direct", FIREFOX, "1.1.1.1", "AU")
        for number, time in enumerate(times, 1)
    ]
    counts = Counter(row[2] for row in log)
    rows = [
        (code, "https://example.com/ä", "Ü", "2020-01-01 00:00:00", "", counts[code] + 1) for code in codes
    ]
    names = [table.columns for table in YOURLS]
    tables = [
        Table("yourls_url", names[0], "keyword PRIMARY KEY, url, title, timestamp, ip, clicks", rows),
        Table("yourls_log", names[2], "click_id INTEGER PRIMARY KEY, " + ", ".join(names[2][1:]), log),
    ]
    return sqlite_file(path, tables)


async def postgres_database(url: str, tables: Sequence[Table]) -> str:
    """As text, so that the server makes its own types of the values."""
    connection = await asyncpg.connect(url)
    try:
        for table in tables:
            await connection.execute(f"CREATE TABLE {table.name} ({table.ddl.format(**_TYPES['postgres'])})")
            for row in table.rows:
                values = ",".join(map(literal, row))
                names = ",".join(f'"{name}"' for name in table.columns)
                await connection.execute(f"INSERT INTO {table.name} ({names}) VALUES ({values})")
    finally:
        await connection.close()
    return url


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


def mysql_script(tables: Sequence[Table]) -> str:
    """What was fed to MariaDB before it made the dumps."""
    lines = ["SET NAMES utf8mb4;", "SET time_zone = '+00:00';"]
    for table in tables:
        lines.append(
            f"CREATE TABLE {table.name} ({table.ddl.format(**_TYPES['mysql'])}) DEFAULT CHARSET=utf8mb4;"
        )
        for row in table.rows:
            values = ",".join(literal(value).replace("\\", "\\\\") for value in row)
            lines.append(f"INSERT INTO {table.name} VALUES ({values});")
    return "\n".join(lines) + "\n"
