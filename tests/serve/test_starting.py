"""A start either answers, or says in one line what is wrong and ends; it never tries for ever."""

import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import asyncpg
import psutil  # type: ignore[import-untyped]
import pytest

from laconic.storage.migrate import read_migrations
from tests.serve.conftest import MakeServer
from tests.serve.running import RunningServer, run


def refusal(result: "subprocess.CompletedProcess[str]") -> str:
    """The one line that is said, and nothing else."""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert result.stdout == ""
    return lines[0]


def test_a_second_server_on_a_data_folder_is_refused(make_server: MakeServer, tmp_path: Path) -> None:
    """The message names the process that works on it, and the first server does not notice."""
    server = make_server()
    second = run(tmp_path, "serve", "--port", "0")
    assert second.returncode == 3
    assert f"process {server.pid}" in refusal(second)
    server.follow(server.create())


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_busy_port_is_refused(tmp_path: Path, workers: str) -> None:
    """Whoever has the port, and however many workers would share it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        result = run(tmp_path, "serve", "--port", port, "--workers", workers)
    assert result.returncode == 3
    assert f"port {port}: Address already in use" in refusal(result)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_port_of_another_server_is_refused(make_server: MakeServer, tmp_path: Path, workers: str) -> None:
    """Also where that server's own workers share it."""
    server = make_server("--workers", workers)
    port = str(server.banner["port"])
    result = run(tmp_path, "serve", "--port", port, "--workers", workers, "--data", "other")
    assert result.returncode == 3
    assert "Address already in use" in refusal(result)


@pytest.mark.parametrize("host", ["nowhere.invalid", "203.0.113.7", "::ffff:203.0.113.7"])
def test_an_address_of_another_machine_is_refused(tmp_path: Path, host: str) -> None:
    result = run(tmp_path, "serve", "--port", "0", "--host", host)
    assert result.returncode == 3
    assert "--host" in refusal(result)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"potr": "8000"}, "LACONIC_PORT"),
        ({"database_ulr": "x"}, "LACONIC_DATABASE_URL"),
        ({"port": "eighty"}, "LACONIC_PORT must be a whole number from 0 to 65535"),
        ({"workers": "0"}, "LACONIC_WORKERS"),
        ({"redirect_status": "303"}, "301, 302, 307 or 308"),
        ({"base_url": "example.com"}, "LACONIC_BASE_URL"),
        ({"trusted_proxies": "everyone"}, "LACONIC_TRUSTED_PROXIES"),
        ({"custom_code_pattern": "("}, "LACONIC_CUSTOM_CODE_PATTERN"),
        ({"log_level": "loud"}, "one of debug, info, warning, error"),
        ({"database_url": "mysql://root:secret@db/links"}, "sqlite:/// or postgresql://"),
        ({"database_url": "sqlite:////tmp/other.db"}, "laconic.db"),
        ({"database_url_file": "/nowhere/secret"}, "/nowhere/secret"),
    ],
)
def test_a_wrong_setting_stops_the_start(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    """The message names the setting and what is allowed, or the nearest name there is."""
    result = run(tmp_path, "serve", "--port", "0", **settings)
    assert result.returncode == 2
    assert told in refusal(result)
    assert "secret@" not in result.stderr


def test_a_wrong_line_in_the_settings_file_stops_the_start(tmp_path: Path) -> None:
    """The file is named."""
    (tmp_path / "laconic.toml").write_text('bse_url = "https://go.example.com"\n')
    result = run(tmp_path, "serve")
    assert result.returncode == 2
    assert "laconic.toml" in refusal(result)
    assert "LACONIC_BASE_URL" in result.stderr


def test_a_database_that_is_away_ends_the_start(tmp_path: Path) -> None:
    """After some patience with a server that is just being started; the password is not shown."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"postgresql://user:secret@127.0.0.1:{nobody.getsockname()[1]}/links"
        result = run(tmp_path, "serve", "--port", "0", database_url=url)
    assert result.returncode == 3
    assert "did not answer" in refusal(result)
    assert "secret" not in result.stderr


def test_a_database_that_refuses_us_ends_the_start(tmp_path: Path, postgres_url: str) -> None:
    """There is no such database, and waiting would not make it."""
    url = postgres_url.rpartition("/")[0] + "/nowhere"
    result = run(tmp_path, "serve", "--port", "0", database_url=url)
    assert result.returncode == 3
    assert "nowhere" in refusal(result)


@pytest.mark.parametrize("data", ["file", "file/below", "/proc/laconic"])
def test_a_data_folder_that_cannot_be_ends_the_start(tmp_path: Path, data: str) -> None:
    (tmp_path / "file").write_text("")
    result = run(tmp_path, "serve", "--port", "0", "--data", data)
    assert result.returncode == 3
    assert data in refusal(result)


def test_a_file_that_is_no_database_ends_the_start(tmp_path: Path) -> None:
    """Nothing of it is changed."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "laconic.db").write_text("a diary, perhaps\n" * 100)
    result = run(tmp_path, "serve", "--port", "0")
    assert result.returncode == 3
    assert "not a database" in refusal(result)
    assert (tmp_path / "data" / "laconic.db").read_text() == "a diary, perhaps\n" * 100


def test_a_journal_folder_that_cannot_be_ends_the_start(tmp_path: Path) -> None:
    """Later a disk that refuses stops no redirect; at the start somebody is there to read the message."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "journal").write_text("in the way")
    result = run(tmp_path, "serve", "--port", "0")
    assert result.returncode == 3
    assert "journal: File exists" in refusal(result)


async def test_a_child_that_cannot_start_ends_the_first_start(
    fresh_postgres_url: str, tmp_path: Path
) -> None:
    """Its reason is told, the other processes are stopped, and it is not tried for ever."""
    session = await asyncpg.connect(fresh_postgres_url)
    await session.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 4")
    try:
        await session.execute("GRANT CREATE, USAGE ON SCHEMA public TO few")
        url = fresh_postgres_url.replace("postgres@", "few@")
        result = run(tmp_path, "serve", "--port", "0", database_url=url)
        assert result.returncode == 3
        # A process that came first may have said what it could not do meanwhile; the reason of the end is told last.
        *before, reason = result.stderr.splitlines()
        assert reason.startswith("laconic: ")
        assert "too many connections" in reason
        assert all("[warning" in line for line in before), result.stderr
        assert [one for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(tmp_path)] == []
    finally:
        await session.execute("DROP OWNED BY few; DROP ROLE few")
        await session.close()


async def test_a_newer_database_is_refused(migrated_url: str, engine: str, tmp_path: Path) -> None:
    """An older release must not guess what a newer one has written. Commands refuse it too."""
    if engine == "sqlite":
        connection = apsw.Connection(migrated_url.removeprefix("sqlite:///"))
        connection.execute("INSERT INTO schema_version (number, name, applied_at) VALUES (999, 'later', 0)")
        connection.close()
    else:
        session = await asyncpg.connect(migrated_url)
        await session.execute("INSERT INTO schema_version (number, name) VALUES (999, 'later')")
        await session.close()
    for command in (("serve", "--port", "0"), ("list",), ("db", "migrate")):
        result = run(tmp_path, *command, database_url=migrated_url)
        assert result.returncode == 3
        assert "schema version 999" in refusal(result)


def test_commands_that_start_at_once_migrate_once(database_url: str, engine: str, tmp_path: Path) -> None:
    """On an empty database all succeed, and each migration is applied by exactly one of them."""
    commands = [("db", "migrate", "--json")] * 3 + [("list", "--json")] * 2
    with ThreadPoolExecutor(len(commands)) as pool:
        results = list(pool.map(lambda one: run(tmp_path, *one, database_url=database_url), commands))
    assert [result.returncode for result in results] == [0] * len(commands), results
    applied = [name for result in results[:3] for name in json.loads(result.stdout)["applied"]]
    assert len(applied) == len(set(applied))
    folders = {"sqlite": ("sqlite", "sqlite_clicks"), "postgres": ("postgres",)}[engine]
    assert set(applied) <= {one.name for folder in folders for one in read_migrations(folder)}
    assert run(tmp_path, "db", "status", database_url=database_url).returncode == 0


def test_of_servers_that_start_at_once_on_one_folder_one_serves(tmp_path: Path) -> None:
    """The others say so and end."""
    servers = [RunningServer(tmp_path) for _ in range(3)]
    with ThreadPoolExecutor(len(servers)) as pool:
        started = list(pool.map(_starts, servers))
    assert sorted(started) == [False, False, True]
    server = servers[started.index(True)]
    server.follow(server.create())
    for one in servers:
        one.kill_all()


def test_servers_that_start_at_once_on_one_database_all_serve(
    fresh_postgres_url: str, tmp_path: Path
) -> None:
    """Machines of one installation, each with its own folder: the first migrates, the others wait for it."""
    servers = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        servers.append(RunningServer(folder, database_url=fresh_postgres_url))
    with ThreadPoolExecutor(len(servers)) as pool:
        assert list(pool.map(_starts, servers)) == [True] * 3
    code = servers[0].create()
    for server in servers:
        server.follow(code)
    servers[0].wait_for_clicks(code, 3)
    for server in servers:
        assert server.terminate() == 0
        server.kill_all()


def _starts(server: RunningServer) -> bool:
    try:
        server.start()
    except AssertionError:
        return False
    return True
