"""An export that is killed again and again, and gone on with, is the file of one that nobody disturbed."""

import gzip
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.flows.server import PATIENCE_SECONDS
from tests.moving.shorteners import clicked_yourls

_LINKS, _CLICKS, _KILLS = 1_000, 8_000, 5


@pytest.mark.long
@pytest.mark.parametrize("name", ["all.ndjson", "all.ndjson.gz"])
def test_a_killed_export_goes_on_and_is_whole(name: str, migrated_url: str, tmp_path: Path) -> None:
    """kill -9 at any size of the file; links, days and single clicks are there once, in the same order."""
    source = clicked_yourls(tmp_path / "yourls.db", _LINKS, _CLICKS)
    assert _laconic(migrated_url, tmp_path, "import", str(source)).wait(PATIENCE_SECONDS * 10) == 0
    whole, file = tmp_path / f"whole-{name}", tmp_path / name
    assert _laconic(migrated_url, tmp_path, "export", "-o", str(whole)).wait(PATIENCE_SECONDS * 10) == 0
    choose = random.Random(3)
    sizes = sorted(choose.randrange(whole.stat().st_size) for _ in range(_KILLS))
    killed = sum(_kill_at(size, migrated_url, tmp_path, file) for size in sizes)
    assert killed >= _KILLS // 2
    last = _laconic(migrated_url, tmp_path, "export", "-o", str(file), "--resume")
    assert last.wait(PATIENCE_SECONDS * 10) == 0
    assert _records(file) == _records(whole)
    assert sorted(path.name for path in tmp_path.glob(f"{name}*")) == [name]


def _kill_at(size: int, url: str, folder: Path, file: Path) -> bool:
    """Was it killed before it was done?"""
    part = Path(f"{file}.part")
    process = _laconic(url, folder, "export", "-o", str(file), "--resume")
    while process.poll() is None:
        if part.exists() and part.stat().st_size >= size:
            process.kill()
            process.wait()
            return part.exists()
        time.sleep(0.001)
    return False


def _laconic(url: str, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "laconic", *arguments, "--json", "--data", str(folder / "data")],
        env={**os.environ, "LACONIC_DATABASE_URL": url},
        stdout=subprocess.DEVNULL,
    )


def _records(file: Path) -> list[str]:
    """Without the time at which each was begun."""
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    head, *rest = content.decode().splitlines()
    return [json.dumps({**json.loads(head), "exported_at": None}), *rest]
