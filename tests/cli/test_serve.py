"""What `laconic serve` says: the truth, in words that can be acted on, and no secret."""

import itertools
import json
import os
import pty
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from laconic.cli.address import default_base_url, last_base_url, leave_base_url
from laconic.cli.banner import Mode
from laconic.settings import Settings
from tests.serve.running import LACONIC, environment, run

ENDS = "Stop    Ctrl-C\n"


@contextmanager
def serving(folder: Path, *options: str, **settings: str) -> Iterator[str]:
    """The banner of a server that runs meanwhile."""
    with subprocess.Popen(
        [LACONIC, "serve", "--port", "0", *options],
        cwd=folder,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        banner = ""
        try:
            while not banner.endswith(ENDS):
                line = process.stdout.readline()
                assert line, "the server has ended"
                banner += line
            yield banner
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0


def commands_of(banner: str) -> list[str]:
    """The lines of "Try" that are for a shell, each whole."""
    told = banner.partition("  Try ")[2].partition("in a browser")[0].rpartition("\n")[0]
    return [line.strip() for line in re.sub(r"\\\n\s*", "", told).splitlines()]


def do_curl(command: str, key: str = "") -> httpx.Response:
    """What curl would do; it may not be installed."""
    words = shlex.split(command.replace("$KEY", key))
    assert words[:2] == ["curl", "-s"]
    headers = [word.split(": ", 1) for flag, word in itertools.pairwise(words) if flag == "-H"]
    return httpx.post(words[2], headers=dict(headers), content=words[words.index("-d") + 1])


def shell(folder: Path, script: str) -> str:
    """What a shell prints in which nobody has set anything."""
    return subprocess.check_output(["sh", "-c", script], cwd=folder, env=environment(), text=True)


def test_the_banner_of_the_first_minute(tmp_path: Path) -> None:
    """Address, mode, data, and commands that work as they are printed."""
    with serving(tmp_path) as banner:
        assert "\x1b" not in banner
        assert f"{tmp_path}/data (SQLite)" in banner
        assert "open: whoever calls from this machine may do everything" in banner
        curl, shorten = commands_of(banner)
        created = do_curl(curl).json()
        assert f"answers at {created['short_url'].rpartition('/')[0]}\n" in banner
        assert httpx.get(created["short_url"]).headers["location"] == "https://example.com/"
        printed = shell(tmp_path, shorten)
        assert httpx.get(printed.strip()).status_code == 302


def test_the_banner_of_a_closed_server(tmp_path: Path) -> None:
    """It says how to make a key, and the key opens the door."""
    data = tmp_path / "with space"
    with serving(tmp_path, "--data", str(data), trusted_proxies="192.0.2.1") as banner:
        assert "closed: short links work for everyone, everything else needs an API key" in banner
        make_key, curl = commands_of(banner)
        assert do_curl(curl, "lac_live_wrong").status_code == 401
        script = f'{make_key}; printf "$KEY"'
        printed = shell(tmp_path, script)
        assert do_curl(curl, printed).status_code == 201


def test_the_banner_shows_no_password(tmp_path: Path, migrated_url: str, engine: str) -> None:
    url = migrated_url.replace("postgres@", "postgres:hush-hush@")
    with serving(tmp_path, database_url=url) as banner:
        assert "hush" not in banner
        assert "postgres@" not in banner
        assert {"sqlite": "(SQLite)", "postgres": "PostgreSQL at 127.0.0.1:"}[engine] in banner
    document = start_for_program(tmp_path, database_url=url)
    assert "hush" not in json.dumps(document)


def start_for_program(folder: Path, *options: str, **settings: str) -> Any:
    """The banner as JSON, of a server that is stopped again."""
    with subprocess.Popen(
        [LACONIC, "serve", "--json", "--port", "0", *options],
        cwd=folder,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        document = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
    return document


def test_the_banner_for_programs(tmp_path: Path) -> None:
    """One line of JSON, once it answers."""
    document = start_for_program(tmp_path, "--workers", "2")
    assert document["base_url"] == f"http://localhost:{document['port']}"
    assert document["mode"] == "open"
    assert document["data"] == f"{tmp_path}/data"
    assert document["engine"] == "SQLite"


def test_a_terminal_gets_colours(tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [LACONIC, "serve", "--port", "0"],
        cwd=tmp_path,
        env={**environment(), "TERM": "xterm", "COLUMNS": "60"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        seen = b""
        while b"Ctrl-C" not in seen:
            seen += os.read(controller, 65536)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait() == 0
    os.close(controller)
    assert b"\x1b[1mLaconic" in seen


def test_shorten_knows_the_port_of_the_server(tmp_path: Path) -> None:
    """A short URL that is printed beside a running server leads to it, whatever port it has."""
    with serving(tmp_path) as banner:
        short_url = run(tmp_path, "shorten", "https://example.com/").stdout.strip()
        assert f"answers at {short_url.rpartition('/')[0]}\n" in banner
        assert httpx.get(short_url).status_code == 302
        said = run(tmp_path, "shorten", "https://example.com/", base_url="https://go.example.com")
        assert said.stdout.startswith("https://go.example.com/")


@pytest.mark.parametrize(
    ("settings", "has_users", "name", "why"),
    [
        (Settings(base_url="http://localhost:8000"), False, "open", "listens on 127.0.0.1 only"),
        (Settings(base_url="http://localhost:8000", open=True), False, "open", "there is no user yet"),
        (Settings(base_url="http://localhost:8000"), True, "closed", "there are users"),
        (Settings(base_url="http://localhost:8000", open=True), True, "public-create", "LACONIC_OPEN"),
        (Settings(host="0.0.0.0", base_url="http://localhost:8000"), False, "closed", "listens on 0.0.0.0"),
        (
            Settings(host="::", base_url="http://localhost:8000", open=True),
            False,
            "public-create",
            "LACONIC_OPEN",
        ),
        (Settings(base_url="https://go.example.com"), False, "closed", "https://go.example.com"),
        (
            Settings(base_url="http://localhost:8000", trusted_proxies=("::1",)),
            False,
            "closed",
            "LACONIC_TRUSTED_PROXIES",
        ),
    ],
)
def test_the_mode_says_who_may_do_what_and_why(
    settings: Settings, has_users: bool, name: str, why: str
) -> None:
    mode = Mode.from_settings(settings, has_users=has_users)
    assert mode.name == name
    assert why in mode.why
    assert mode.who


@pytest.mark.parametrize(
    ("host", "base_url"),
    [
        ("127.0.0.1", "http://localhost:80"),
        ("::1", "http://localhost:80"),
        ("localhost", "http://localhost:80"),
        ("0.0.0.0", "http://localhost:80"),
        ("::", "http://localhost:80"),
        ("127.0.0.2", "http://127.0.0.2:80"),
        ("192.0.2.7", "http://192.0.2.7:80"),
        ("2001:db8::7", "http://[2001:db8::7]:80"),
        ("links.internal", "http://links.internal:80"),
    ],
)
def test_the_base_url_that_nobody_has_set(host: str, base_url: str) -> None:
    assert default_base_url(host, 80) == base_url


@pytest.mark.parametrize("left", ["", "nonsense", "file:///etc/passwd", "http://", "http://[", "\x00", "é"])
def test_a_base_url_that_was_not_left_by_us_is_not_used(tmp_path: Path, left: str) -> None:
    assert last_base_url(tmp_path) == ""
    (tmp_path / "base_url").write_text(left)
    assert last_base_url(tmp_path) == ""
    leave_base_url(tmp_path, "https://go.example.com")
    assert last_base_url(tmp_path) == "https://go.example.com"
