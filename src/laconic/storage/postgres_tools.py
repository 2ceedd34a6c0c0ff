"""PostgreSQL's own programs: found, told where the server is, and run. Their password is on no command line."""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from laconic.errors import CannotStart, Unavailable
from laconic.storage.postgres_address import PostgresAddress

# Where Debian and Ubuntu put them, by major version.
_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_TOLD_CHARACTERS = 500
_CHUNK_BYTES = 1024 * 1024
_NOTHING = asyncio.subprocess.DEVNULL


def find_tool(name: str, server_version: int) -> str:
    """One that is not older than the server, which it would refuse."""
    found = [shutil.which(name), *(str(path) for path in _newest_first(name))]
    tools = [tool for tool in found if tool]
    for tool in tools:
        if _major(tool) >= server_version:
            return tool
    what = f"{name} {_major(tools[0])} is too old for it" if tools else f"{name} was not found"
    raise CannotStart(
        f"The server is PostgreSQL {server_version}, and {what}. Install its client programs, such as"
        f" `apt-get install postgresql-client-{server_version}`."
    )


def _newest_first(name: str) -> list[Path]:
    paths = [path for path in _DEBIAN.glob(f"*/bin/{name}") if path.parts[-3].isdigit()]
    return sorted(paths, key=lambda path: int(path.parts[-3]), reverse=True)


def _major(tool: str) -> int:
    try:
        said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    except OSError:
        return 0
    match = _VERSION.search(said)
    return int(match[1]) if match else 0


@contextlib.contextmanager
def reachable(url: str) -> Iterator[tuple[str, int]]:
    """A URL that others may read, and the descriptor behind it that holds the password.

    libpq reads passwords from a file; this one lies in memory and goes with its last user.
    """
    parts = urlsplit(PostgresAddress.from_url(url).url)
    user, has_password, password = parts.netloc.rpartition("@")[0].partition(":")
    fd = os.memfd_create("passwords")
    try:
        os.fchmod(fd, 0o600)
        escaped = unquote(password).replace("\\", "\\\\").replace(":", "\\:")
        os.write(fd, f"*:*:*:*:{escaped}\n".encode())
        netloc = f"{user}@{parts.netloc.rpartition('@')[2]}" if user else parts.netloc
        query = parse_qsl(parts.query, keep_blank_values=True)
        if has_password:
            query.append(("passfile", f"/proc/self/fd/{fd}"))
        yield parts._replace(netloc=netloc, query=urlencode(query, quote_via=quote)).geturl(), fd
    finally:
        os.close(fd)


async def run_tool(*command: str, keep: int) -> None:
    """To its end; Unavailable with its own words when it fails. It goes when we are cancelled."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=_NOTHING,
        stdout=_NOTHING,
        stderr=asyncio.subprocess.PIPE,
        pass_fds=(keep,),
    )
    try:
        _, said = await process.communicate()
    finally:
        await _end(process)
    _raise_failure(command[0], process, said)


async def pipe_tools(
    source: Sequence[str], target: Sequence[str], *, before: bytes, after: bytes, keep: int
) -> None:
    """What `source` prints goes to `target`, behind `before`; `after` follows only if `source` ended well."""
    reader = await asyncio.create_subprocess_exec(
        *source, stdin=_NOTHING, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    writer = await asyncio.create_subprocess_exec(
        *target,
        stdin=asyncio.subprocess.PIPE,
        stdout=_NOTHING,
        stderr=asyncio.subprocess.PIPE,
        pass_fds=(keep,),
    )
    assert reader.stdout and reader.stderr  # noqa: S101, PT018
    assert writer.stdin and writer.stderr  # noqa: S101, PT018
    said_by_reader = asyncio.create_task(reader.stderr.read())
    said_by_writer = asyncio.create_task(writer.stderr.read())
    try:
        # A target that stops reading has failed, and says so below.
        with contextlib.suppress(ConnectionError):
            await _send(writer.stdin, before)
            while some := await reader.stdout.read(_CHUNK_BYTES):
                await _send(writer.stdin, some)
            await reader.wait()
            _raise_failure(source[0], reader, await said_by_reader)
            await _send(writer.stdin, after)
            writer.stdin.close()
        await writer.wait()
        _raise_failure(target[0], writer, await said_by_writer)
    finally:
        await _end(reader)
        await _end(writer)
        await asyncio.gather(said_by_reader, said_by_writer, return_exceptions=True)


async def _send(stream: asyncio.StreamWriter, data: bytes) -> None:
    stream.write(data)
    await stream.drain()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # What it has still printed must be read, or its end is never seen.
        while process.stdout and await process.stdout.read(_CHUNK_BYTES):
            pass
        await process.wait()


def _raise_failure(tool: str, process: asyncio.subprocess.Process, said: bytes) -> None:
    if process.returncode:
        words = " ".join(said.decode("utf-8", "replace").split())[-_TOLD_CHARACTERS:]
        raise Unavailable(f"{Path(tool).name} failed: {words or f'status {process.returncode}'}")
