"""Imports in a process of their own, so that a million lines never make a redirect wait.

A web worker that is asked for a bulk create makes a pair of sockets, sends one of them here together with the order,
and passes bytes on in both directions; it does not look at them. The pair that orders are sent over is made by the
supervisor before it forks: it has no name, so nobody else can reach it.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator

import structlog

from laconic.errors import OutcomeUnknown, Unavailable
from laconic.serve.children import Lifeline, tune_interpreter
from laconic.serve.directory import follow_directory
from laconic.serve.telling import tell_always, telling_of
from laconic.settings import Settings
from laconic.web.api.imports import ImportOrder, LocalImports, Put
from laconic.web.api.problems import document_line
from laconic.web.metrics.board import Page
from laconic.wiring import open_services

log = structlog.get_logger(__name__)

_ORDER_BYTES = 64 * 1024
_CHUNK_BYTES = 256 * 1024
# Behind the last result: without it the other side knows that this process has died over its work.
_DONE = b"\0"
# Redirects come first where cores are few.
_NICE = 5
_CUT_OFF = OutcomeUnknown(
    "The import was cut off; of the lines without a result, links may have been made or not."
)


def make_desk() -> tuple[socket.socket, socket.socket]:
    """The two ends that orders go through: the web workers', and this process's."""
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    theirs.setblocking(False)
    ours.setblocking(False)
    return theirs, ours


class RemoteImports:
    """The web worker's side: hands the order over and carries the bytes."""

    def __init__(self, desk: socket.socket) -> None:
        self._desk = desk

    async def run(self, order: ImportOrder, chunks: AsyncIterator[bytes], put: Put) -> None:
        try:
            reader, writer = await self._hand_over(order)
        except Unavailable as error:
            # The answer has begun; a line without a number speaks of the whole.
            put(document_line(error))
            return
        results = asyncio.create_task(_receive(reader, put))
        try:
            with contextlib.suppress(ConnectionError):
                async for chunk in chunks:
                    writer.write(chunk)
                    await writer.drain()
                writer.write_eof()
            await results
        finally:
            results.cancel()
            writer.close()

    async def _hand_over(self, order: ImportOrder) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._desk, [order.to_bytes()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise Unavailable("Imports cannot be taken at this moment.") from error
        return await asyncio.open_unix_connection(sock=ours, limit=_CHUNK_BYTES)


async def _receive(reader: asyncio.StreamReader, put: Put) -> None:
    last = b""
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK_BYTES):
            last = chunk[-1:]
            put(chunk.removesuffix(_DONE))
    if last != _DONE:
        put(document_line(_CUT_OFF))


async def run_import_worker(settings: Settings, desk: socket.socket, page: Page, lifeline: Lifeline) -> None:
    """Takes orders until told to stop; the web workers have ended by then, and with them their orders."""
    tune_interpreter()
    # A sandbox may forbid even this; then imports are as quick as the rest.
    with contextlib.suppress(PermissionError):
        os.nice(_NICE)
    lifeline.watch()
    async with open_services(settings, pooled=False) as services:
        imports = LocalImports(services)
        following = asyncio.gather(
            follow_directory(services.directory), tell_always(telling_of(page, services.database, services))
        )
        under_way: set[asyncio.Task[None]] = set()

        def take_order() -> None:
            with contextlib.suppress(BlockingIOError):
                data, descriptors, _, _ = socket.recv_fds(desk, _ORDER_BYTES, 1)
                task = asyncio.create_task(_carry_out(imports, data, descriptors[0]))
                under_way.add(task)
                task.add_done_callback(under_way.discard)

        loop = asyncio.get_running_loop()
        loop.add_reader(desk, take_order)
        lifeline.ready()
        await lifeline.stopping.wait()
        loop.remove_reader(desk)
        following.cancel()
        for task in under_way:
            task.cancel()
        await asyncio.gather(following, *under_way, return_exceptions=True)


async def _carry_out(imports: LocalImports, data: bytes, descriptor: int) -> None:
    reader, writer = await asyncio.open_unix_connection(
        sock=socket.socket(fileno=descriptor), limit=_CHUNK_BYTES
    )
    try:
        await imports.run(ImportOrder.from_bytes(data), _chunks(reader, writer), writer.write)
        writer.write(_DONE)
        await writer.drain()
    except ConnectionError:
        log.info("an import's client went away")
    finally:
        writer.close()


async def _chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[bytes]:
    while chunk := await reader.read(_CHUNK_BYTES):
        yield chunk
        # Lines are taken no faster than results are read.
        await writer.drain()
