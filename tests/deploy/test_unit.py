"""The server under what its systemd unit forbids: filters of the kernel, a read-only system, another user."""

import ctypes.util
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.serve.running import LACONIC, RunningServer, environment

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "laconic.service"
BOX = [sys.executable, str(Path(__file__).with_name("unit_box.py")), str(UNIT)]

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None or ctypes.util.find_library("seccomp") is None,
    reason="this machine has no systemd",
)


class BoxedServer(RunningServer):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, kgs_pool_min_size="1000")
        self._command = [*BOX, *self._command]


def test_the_box_is_one() -> None:
    """It refuses what the unit does not allow: otherwise the test below would say nothing."""
    attempts = "import os, socket; os.chroot('/')", "import socket; socket.socket(socket.AF_NETLINK)"
    for attempt in attempts:
        refused = subprocess.run(
            [*BOX, sys.executable, "-c", attempt], capture_output=True, text=True, check=False
        )
        assert refused.returncode == 1
        assert "Operation not permitted" in refused.stderr or "not supported" in refused.stderr


def test_the_server_works_under_the_units_filters(tmp_path: Path) -> None:
    """It starts, redirects, counts, imports, hashes a password and stops; no process dies over a refused call."""
    with BoxedServer(tmp_path) as server:
        code = server.create()
        server.follow(code, times=3)
        server.wait_for_clicks(code, 3)
        lines = b'{"original_url": "https://example.com/1"}\n{"original_url": "https://example.com/2"}\n'
        imported = httpx.post(
            server.url("/api/v1/urls/bulk"), content=lines, headers={"content-type": "application/x-ndjson"}
        )
        assert imported.text.count('"short_code"') == 2, imported.text
        made = subprocess.run(
            [*BOX, LACONIC, "user", "create", "ada@example.com", "--role", "admin"],
            cwd=tmp_path,
            env=environment(),
            input="correct horse battery staple\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        assert server.terminate() == 0
        assert "Error" not in server.log()
        assert "started again" not in server.log()
