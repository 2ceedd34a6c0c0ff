"""A real name server for one zone's TXT records, on a free UDP port of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset


class NameServer(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.port = 0
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        name = query.question[0].name.to_text(omit_final_dot=True).lower()
        if name not in self.texts:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif self.texts[name]:
            quoted = [" ".join(f'"{part}"' for part in text.split("|")) for text in self.texts[name]]
            answer.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", "TXT", *quoted))
        assert self._transport is not None
        self._transport.sendto(answer.to_wire(), address)


@asynccontextmanager
async def serving_names() -> AsyncIterator[NameServer]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
    server.port = transport.get_extra_info("sockname")[1]
    try:
        yield server
    finally:
        transport.close()
