"""A slow line between a browser and a server: pages come in pieces, with a pause after each, and are painted meanwhile.

What moves when the next piece comes moves on a fast line too, now and then, when the browser has to wait for its processor.
"""

import asyncio
import threading
from typing import Self
from urllib.parse import urlsplit

_PIECES = 40
# Longer than a browser takes from one frame to the next.
_PAUSE_SECONDS = 0.02
_END_OF_HEAD = b"\r\n\r\n"


class SlowLine:
    """`with SlowLine(server.base_url) as line:` and open `line.base_url`. For pages; what they load comes at once."""

    def __init__(self, base_url: str) -> None:
        self._port = urlsplit(base_url).port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._open: set[asyncio.StreamWriter] = set()
        self.base_url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        opened = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        )
        self._listening = opened.result()
        self.base_url = f"http://localhost:{self._listening.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._listening.close()
        for writer in self._open:
            writer.transport.abort()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, browser: asyncio.StreamReader, to_browser: asyncio.StreamWriter) -> None:
        """One request to a connection."""
        writers = [to_browser]
        self._open.add(to_browser)
        try:
            head = await browser.readuntil(_END_OF_HEAD)
            server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
            writers.append(to_server)
            self._open.add(to_server)
            to_server.write(_asked_plainly(head))
            await _hand_on(server, to_browser)
        except (OSError, asyncio.IncompleteReadError):
            pass  # A browser that leaves a page hangs up.
        finally:
            for writer in writers:
                self._open.discard(writer)
                writer.close()


async def _hand_on(server: asyncio.StreamReader, to_browser: asyncio.StreamWriter) -> None:
    answer = await server.readuntil(_END_OF_HEAD)
    to_browser.write(answer)
    if b"text/html" in answer:
        await _write_pieces(await server.read(), to_browser)
        return
    while some := await server.read(65_536):
        to_browser.write(some)
        await to_browser.drain()


def _asked_plainly(head: bytes) -> bytes:
    """Not compressed, which could not be cut, and one answer to a connection."""
    lines = head.removesuffix(_END_OF_HEAD).split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith((b"accept-encoding:", b"connection:"))]
    return b"\r\n".join([*kept, b"Connection: close"]) + _END_OF_HEAD


async def _write_pieces(page: bytes, to_browser: asyncio.StreamWriter) -> None:
    """Cut between lines: a template's line is a button, a cell, a sentence."""
    at, least = 0, max(len(page) // _PIECES, 1)
    while at < len(page):
        end = page.find(b"\n<", at + least)
        end = len(page) if end < 0 else end
        to_browser.write(page[at:end])
        await to_browser.drain()
        await asyncio.sleep(_PAUSE_SECONDS)
        at = end
