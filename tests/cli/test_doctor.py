"""doctor: every finding has a subject and a level, and what is wrong has a remedy."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from bench.processes import free_port
from bench.scale.proxy import Proxy
from bench.tools import find_tool
from laconic.backups.notes import change_notes
from laconic.clock import now
from laconic.storage.postgres_examine import _wanted_indexes
from tests.cli.conftest import Laconic
from tests.serve.running import RunningServer, wait_until
from tests.servers import RedisServer


def _findings(laconic: Laconic) -> dict[str, dict[str, Any]]:
    result = laconic("doctor", "--json")
    document = json.loads(result.out)
    assert result.status == (1 if document["status"] == "problem" else 0)
    for finding in document["findings"]:
        assert finding["level"] in ("ok", "warning", "problem")
        assert (finding["level"] == "ok") != bool(finding["remedy"]), finding
    return {finding["subject"]: finding for finding in document["findings"]}


def test_sound_database(laconic: Laconic, engine: str) -> None:
    """Nothing is wrong with it, on either engine."""
    laconic("shorten", "https://example.com/")
    found = _findings(laconic)
    assert found["schema"]["level"] == "ok"
    subjects = {"sqlite": ("integrity", "sqlite_version", "wal_size"), "postgres": ("indexes", "partitions")}
    for subject in subjects[engine]:
        assert found[subject]["level"] == "ok", found[subject]


def test_no_server_no_answer(laconic: Laconic) -> None:
    """The base URL leads nowhere: a problem, with what to look at, in the exit status, too."""
    result = laconic("doctor")
    assert result.status == 1
    assert "XX  base_url" in result.out
    assert "→ Does the server run?" in result.out


def test_running_server(tmp_path: Path, laconic: Laconic, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found at its base URL."""
    with RunningServer(tmp_path) as server:
        monkeypatch.setenv("LACONIC_BASE_URL", server.banner["base_url"])
        assert _findings(laconic)["base_url"]["level"] == "ok"


@pytest.mark.parametrize("engine", ["sqlite"])
def test_shipped_proxy(tmp_path: Path, laconic: Laconic, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is found through nginx as it is shipped, which keeps /live and /ready to itself."""
    with RunningServer(tmp_path) as server:
        proxy = Proxy(tmp_path / "nginx", [server.banner["port"]])
        try:
            monkeypatch.setenv("LACONIC_BASE_URL", f"http://127.0.0.1:{proxy.port}")
            found = _findings(laconic)
            assert found["base_url"]["level"] == "ok", found["base_url"]
            assert "proxy_headers" not in found
        finally:
            proxy.close()


@pytest.mark.parametrize("engine", ["sqlite"])
def test_proxy_that_hides_its_visitors(
    tmp_path: Path, laconic: Laconic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without X-Forwarded-For everybody looks like a program of this machine, which may read the numbers."""
    with RunningServer(tmp_path) as server, _bare_proxy(tmp_path / "nginx", server.banner["port"]) as url:
        monkeypatch.setenv("LACONIC_BASE_URL", url)
        finding = _findings(laconic)["proxy_headers"]
        assert (finding["level"], "X-Forwarded-For" in finding["remedy"]) == ("problem", True)


@contextmanager
def _bare_proxy(folder: Path, port: int) -> Iterator[str]:
    """nginx as somebody sets it up who has read no page of ours."""
    folder.mkdir()
    folder.chmod(0o755)
    ours = free_port()
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    server = f"server {{ listen 127.0.0.2:{ours}; location / {{ proxy_pass http://127.0.0.1:{port}; }} }}"
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}"
        f" http {{ access_log off; {temporary} {server} }}"
    )
    command = [find_tool("nginx"), "-p", str(folder), "-c", str(configuration)]
    with subprocess.Popen(command) as process:
        try:
            wait_until((folder / "pid").exists, "nginx has started")
            yield f"http://127.0.0.2:{ours}"
        finally:
            process.terminate()


@pytest.mark.parametrize("engine", ["sqlite"])
def test_something_else_answers(laconic: Laconic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The base URL leads to a program that is not ours."""
    with _bare_proxy(tmp_path / "nginx", free_port()) as url:
        monkeypatch.setenv("LACONIC_BASE_URL", url)
        finding = _findings(laconic)["base_url"]
        assert (finding["level"], "something else (status 502)" in finding["text"]) == ("problem", True)


def test_wrong_setting_is_a_finding(laconic: Laconic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a stack trace, and not a silent default."""
    monkeypatch.setenv("LACONIC_PORT", "many")
    found = _findings(laconic)
    assert found["settings"]["level"] == "problem"
    assert "LACONIC_PORT" in found["settings"]["text"]


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"LACONIC_TRUSTED_PROXIES": "0.0.0.0/0"}, "problem"),
        ({"LACONIC_TRUSTED_PROXIES": "10.0.0.1"}, "ok"),
        ({"LACONIC_BASE_URL": "https://localhost:1"}, "warning"),
    ],
)
def test_proxies(
    laconic: Laconic, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], level: str, engine: str
) -> None:
    """Anybody believed; one proxy believed; TLS in front and nobody believed."""
    if engine == "postgres":
        return
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert _findings(laconic)["proxies"]["level"] == level


@pytest.mark.parametrize("engine", ["sqlite"])
def test_damaged_file(laconic: Laconic, tmp_path: Path) -> None:
    """A page that was overwritten."""
    laconic("shorten", "https://example.com/")
    path = tmp_path / "data" / "laconic.db"
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096)
    finding = _findings(laconic)["integrity"]
    assert (finding["level"], "restore" in finding["remedy"]) == ("problem", True)


@pytest.mark.parametrize("engine", ["postgres"])
def test_missing_indexes(laconic: Laconic, migrated_url: str) -> None:
    """Somebody has dropped all of them: what is told for each makes it again."""

    async def run(*statements: str) -> None:
        connection = await asyncpg.connect(migrated_url)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    wanted = _wanted_indexes()
    assert len(wanted) > 30
    asyncio.run(run(*(f"DROP INDEX {name}" for name in wanted)))
    result = laconic("doctor", "--json")
    told = [one for one in json.loads(result.out)["findings"] if one["subject"] == "indexes"]
    assert result.status == 1
    assert {one["text"].split(": ")[1].partition(";")[0] for one in told} == wanted.keys()
    asyncio.run(run(*(one["remedy"].removeprefix("As a superuser: ") for one in told)))
    assert _findings(laconic)["indexes"]["level"] == "ok"


@pytest.mark.parametrize("engine", ["postgres"])
def test_missing_partition(laconic: Laconic, migrated_url: str) -> None:
    """Of this month: its clicks would go to the default partition."""

    async def drop() -> None:
        connection = await asyncpg.connect(migrated_url)
        name = await connection.fetchval(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'click_event'::regclass"
            " AND inhrelid::regclass::text <> 'click_event_default' ORDER BY 1 LIMIT 1"
        )
        await connection.execute(f"DROP TABLE {name}")
        await connection.close()

    asyncio.run(drop())
    finding = _findings(laconic)["partitions"]
    assert (finding["level"], "--role background" in finding["remedy"]) == ("warning", True)


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_files_of_another_user(laconic: Laconic, tmp_path: Path) -> None:
    """A command that root has run may leave what the server cannot open."""
    laconic("shorten", "https://example.com/")
    folder = Path("data")
    folder.mkdir(exist_ok=True)
    (folder / "server.lock").touch()
    assert "file_owners" not in _findings(laconic)
    os.chown(folder / "server.lock", 10_001, 10_001)
    finding = _findings(laconic)["file_owners"]
    assert (finding["level"], "chown" in finding["remedy"]) == ("problem", True)


@pytest.mark.parametrize("engine", ["sqlite"])
def test_redis_policy(laconic: Laconic, monkeypatch: pytest.MonkeyPatch) -> None:
    """noeviction, the default of Redis, is not what a cache wants; and one that is away is a problem."""
    with RedisServer() as server:
        monkeypatch.setenv("LACONIC_REDIS_URL", server.url())
        assert _findings(laconic)["redis_policy"]["level"] == "warning"
    assert _findings(laconic)["redis"]["level"] == "problem"


@pytest.mark.parametrize("engine", ["sqlite"])
def test_backups(laconic: Laconic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None at all; one that failed; one of today."""
    assert _findings(laconic)["backups"]["level"] == "warning"
    monkeypatch.setenv("LACONIC_BACKUP_DIR", str(tmp_path))
    Path("data").mkdir(exist_ok=True)
    change_notes(Path("data"), backup_error="No space left on device")
    assert _findings(laconic)["backups"]["level"] == "problem"
    change_notes(Path("data"), backup_error="", backed_up_at=now(), problems=("laconic.db: a page is wrong",))
    found = _findings(laconic)
    assert (found["backups"]["level"], found["last_check"]["level"]) == ("ok", "problem")
