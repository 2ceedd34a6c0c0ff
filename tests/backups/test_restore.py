"""backup and restore, as an operator runs them, on every engine."""

import asyncio
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from laconic.backups.manifest import Manifest
from laconic.backups.pack import pack
from laconic.clock import DAY, now
from laconic.codes.store import JUMP
from laconic.serve.claims import claim_data
from laconic.storage.engines import open_database
from tests.cli.conftest import Laconic
from tests.servers import PostgresServer
from tests.storage.schema.describe import describe_postgres


def _codes(laconic: Laconic) -> set[str]:
    return {item["short_code"] for item in laconic("list", "--json").json()["items"]}


def _shorten(laconic: Laconic) -> str:
    return str(laconic("shorten", "https://example.com/", "--json").json()["short_code"])


def _counter(laconic: Laconic) -> int:
    return int(laconic("codes", "stats", "--json").json()["regions"][0]["counter"])


def test_restores_elsewhere(
    laconic: Laconic, laconic_at: Callable[[str], Laconic], elsewhere_url: str, tmp_path: Path
) -> None:
    """Links, and the secret behind the codes: what was not there before is made."""
    code = _shorten(laconic)
    told = laconic("backup", str(tmp_path / "b"), "--json").json()
    assert (told["backup"], told["counts"]["links"]) == (str(tmp_path / "b"), 1)
    there = laconic_at(elsewhere_url)
    done = there("restore", str(tmp_path / "b"), "--json").json()
    assert done["kept"] is None
    assert _codes(there) == {code}
    assert _codes(laconic_at(elsewhere_url)) == {code}


def test_keeps_what_was_there(laconic: Laconic, engine: str, migrated_url: str, tmp_path: Path) -> None:
    """A restore to the wrong place can be undone."""
    first = _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    second = _shorten(laconic)
    assert _codes(laconic) == {first, second}
    kept = laconic("restore", str(tmp_path / "b"), "--json").json()["kept"]
    assert _codes(laconic) == {first}
    if engine == "sqlite":
        url = f"sqlite:///{kept}/laconic.db"
        rows = asyncio.run(_all_codes(url, "short_link"))
    else:
        rows = asyncio.run(_all_codes(migrated_url, f"{kept.removeprefix('the schema ')}.short_link"))
    assert rows == {first, second}


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_root_restores_for_the_servers_user(laconic: Laconic, migrated_url: str, tmp_path: Path) -> None:
    """What comes back belongs to whoever owns the folder, or no server could open it."""
    _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    folder = Path(migrated_url.removeprefix("sqlite:///")).parent
    for place in (folder, Path("data")):
        place.mkdir(exist_ok=True)
        for path in (place, *place.rglob("*")):
            os.chown(path, 10_001, 10_002)
    assert laconic("restore", str(tmp_path / "b")).status == 0
    owners = {
        (path.stat().st_uid, path.stat().st_gid)
        for place in (folder, Path("data"))
        for path in (place, *place.rglob("*"))
    }
    assert owners == {(10_001, 10_002)}


async def _all_codes(url: str, table: str) -> set[str]:
    database = await open_database(url)
    try:
        return {row[0] for row in await database.fetch_all(f"SELECT short_code FROM {table}")}
    finally:
        await database.close()


def test_p2_codes_go_on_beyond_any_that_can_have_been_given(laconic: Laconic, tmp_path: Path) -> None:
    """10^9 further, and the more the older the backup is: restoring it twice does not land in the same place."""
    _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    at_backup = Manifest.read(tmp_path / "b").ranges[0].next
    assert laconic("restore", str(tmp_path / "b")).status == 0
    first = _counter(laconic)
    assert first >= at_backup + JUMP
    code = _shorten(laconic)
    assert laconic("restore", str(tmp_path / "b")).status == 0
    second = _counter(laconic)
    assert second > first + JUMP  # the mark in the data folder knows of the first
    assert code not in {_shorten(laconic) for _ in range(5)}


def test_p2_old_backup_jumps_further(laconic: Laconic, tmp_path: Path) -> None:
    """A day's creates for each day that the backup is old."""
    _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    _change_manifest(tmp_path / "b", began_at=now() - 10 * DAY)
    skipped = laconic("restore", str(tmp_path / "b"), "--json").json()["skipped"]
    assert 11 * JUMP <= skipped < 11.1 * JUMP


def _change_manifest(backup: Path, **changes: object) -> None:
    """As its maker would have written it."""
    document = json.loads((backup / "manifest.json").read_text())
    document.pop("sha256")
    manifest = Manifest.read(backup)
    (backup / "manifest.json").unlink()
    values = {name: getattr(manifest, name) for name in document} | changes
    Manifest(**values).write(backup)


def test_damage_is_noticed_and_nothing_is_changed(laconic: Laconic, tmp_path: Path) -> None:
    """One byte of any file."""
    code = _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    for path in [path for path in (tmp_path / "b").rglob("*") if path.is_file()]:
        whole = path.read_bytes()
        path.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
        for options in ((), ("--check",)):
            refused = laconic("restore", str(tmp_path / "b"), "--json", *options)
            assert (refused.status, refused.problem()["code"]) == (3, "backup_unusable"), path
        path.write_bytes(whole)
    assert _codes(laconic) == {code}
    assert laconic("restore", str(tmp_path / "b"), "--check").status == 0


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"schema": 9_999}, "database_too_new"),
        ({"engine": "Another"}, "backup_unusable"),
        ({"counts": {"links": 7}}, "backup_unusable"),
    ],
)
def test_what_cannot_fit_is_refused(
    laconic: Laconic, tmp_path: Path, changes: dict[str, object], code: str
) -> None:
    """A later release's, another engine's, or one that has not got what it says."""
    mine = _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    _change_manifest(tmp_path / "b", **changes)
    assert laconic("restore", str(tmp_path / "b"), "--json").problem()["code"] == code
    assert _codes(laconic) == {mine}


def test_no_backup_at_all(laconic: Laconic, tmp_path: Path) -> None:
    """A folder that is none, or does not exist."""
    for place in (tmp_path, tmp_path / "nowhere"):
        assert laconic("restore", str(place), "--json").problem()["code"] == "backup_unusable"


def test_refuses_beside_a_server(laconic: Laconic, tmp_path: Path) -> None:
    """It would pull the files away from under it."""
    laconic("shorten", "https://example.com/")
    laconic("backup", str(tmp_path / "b"))
    lock = claim_data(Path("data"))
    try:
        refused = laconic("restore", str(tmp_path / "b"), "--json")
        assert refused.problem()["code"] == "data_folder_in_use"
    finally:
        os.close(lock)
    assert laconic("restore", str(tmp_path / "b")).status == 0


def test_is_for_its_owner_alone(laconic: Laconic, tmp_path: Path) -> None:
    """It holds the secret behind the codes, hashes of passwords, and addresses."""
    laconic("backup", str(tmp_path / "b"))
    for path in (tmp_path / "b", *(tmp_path / "b").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_goes_into_a_folder_that_exists(laconic: Laconic, tmp_path: Path) -> None:
    """Named by its time; but never into another backup."""
    (tmp_path / "many").mkdir()
    place = Path(laconic("backup", str(tmp_path / "many"), "--json").json()["backup"])
    assert place.parent == tmp_path / "many"
    assert laconic("backup", str(place), "--json").problem()["code"] == "cannot_start"


def test_compressed_backup_is_the_same(laconic: Laconic, engine: str, tmp_path: Path) -> None:
    """The sums are those of what is inside; damage is noticed all the same."""
    code = _shorten(laconic)
    laconic("backup", str(tmp_path / "b"))
    pack(tmp_path / "b")
    packed = sorted((tmp_path / "b").rglob("*.gz"))
    assert bool(packed) == (engine == "sqlite")
    assert laconic("restore", str(tmp_path / "b"), "--check").status == 0
    assert laconic("restore", str(tmp_path / "b")).status == 0
    assert _codes(laconic) == {code}
    for path in packed:
        inside = bytearray(gzip.decompress(path.read_bytes()))
        inside[-1] ^= 1
        path.write_bytes(gzip.compress(bytes(inside)))
        assert laconic("restore", str(tmp_path / "b"), "--check").status == 3


def test_restored_schema_is_the_whole_schema(
    laconic_at: Callable[[str], Laconic],
    fresh_postgres_url: str,
    postgres_server: PostgresServer,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    """Types, policies, comments, functions, triggers: all that the migrations make."""
    laconic_at(fresh_postgres_url)("db", "migrate")
    assert laconic_at(fresh_postgres_url)("backup", str(tmp_path / "b")).status == 0
    assert laconic_at(fresh_postgres_url)("restore", str(tmp_path / "b")).status == 0

    async def describe(url: str) -> str:
        connection = await asyncpg.connect(url)
        try:
            return await describe_postgres(connection)
        finally:
            await connection.close()

    restored = asyncio.run(describe(fresh_postgres_url))
    assert restored == asyncio.run(
        describe(postgres_server.url(request.getfixturevalue("_postgres_template")))
    )


def test_tenants_role_is_let_in_again(
    laconic_at: Callable[[str], Laconic],
    fresh_postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a role that row-level security holds, the restored tables know it."""
    asyncio.run(_make_role(fresh_postgres_url))
    tenant = fresh_postgres_url.replace("postgres@", "backup_tenant@", 1)
    monkeypatch.setenv("LACONIC_DATABASE_OWNER_URL", fresh_postgres_url)
    laconic = laconic_at(tenant)
    code = _shorten(laconic)
    assert laconic("backup", str(tmp_path / "b")).status == 0
    assert laconic("restore", str(tmp_path / "b")).status == 0
    assert _codes(laconic) == {code}


async def _make_role(url: str) -> None:
    connection = await asyncpg.connect(url)
    if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = 'backup_tenant'"):
        await connection.execute("CREATE ROLE backup_tenant LOGIN")
    await connection.close()
