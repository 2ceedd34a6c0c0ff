"""doctor: every finding has a subject and a level, and what is wrong has a remedy."""

import asyncio
import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from laconic.backups.notes import change_notes
from laconic.clock import now
from tests.cli.conftest import Laconic
from tests.serve.running import RunningServer
from tests.servers import RedisServer


def _findings(laconic: Laconic) -> dict[str, dict[str, Any]]:
    result = laconic("doctor", "--json")
    document = json.loads(result.out)
    assert result.status == (1 if document["status"] == "problem" else 0)
    for finding in document["findings"]:
        assert finding["level"] in ("ok", "warning", "problem")
        assert finding["level"] != "problem" or finding["remedy"], finding
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
def test_missing_index(laconic: Laconic, migrated_url: str) -> None:
    """Somebody has dropped one."""

    async def drop() -> None:
        connection = await asyncpg.connect(migrated_url)
        await connection.execute("DROP INDEX link_total_top_idx")
        await connection.close()

    asyncio.run(drop())
    finding = _findings(laconic)["indexes"]
    assert finding["level"] == "problem"
    assert "link_total_top_idx" in finding["text"]


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
