"""An application behind the lane that a test holds up."""

import asyncio
from typing import Any


class Gated:
    """An application that answers when it is told to, and knows who has gone away."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.started = 0
        self.gone = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.started += 1
        if scope["path"] == "/body":
            message = await receive()
            while message["type"] == "http.request" and message["more_body"]:
                message = await receive()
            if message["type"] == "http.disconnect":
                self.gone += 1
                return
        if scope["path"] == "/watch":
            await receive()
            self.gone += (await receive())["type"] == "http.disconnect"
            return
        await self.gate.wait()
        body = b"x" * (100_000 if scope["path"] == "/large" else 2)
        headers = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
