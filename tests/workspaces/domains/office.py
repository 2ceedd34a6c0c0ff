"""The verbs of domains on a real database, with a name server and a web server of their own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address

from laconic.links.targets import TargetRules, canonical_host
from laconic.outside.client import PublicClient
from laconic.outside.names import Names
from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.hosts import Hosts
from laconic.storage.database import Database
from laconic.workspaces.domains.change import Domains
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.domains.model import Domain, DomainDraft, DomainEdit
from laconic.workspaces.domains.proof import ProofReader
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import command_actor
from tests.outside.name_server import NameServer, serving_names

BASE_URL = "https://sho.rt"
OURS, THEIRS = 1, 2


@dataclass
class WebServer:
    """Answers every request with the same bytes."""

    answer: bytes = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
    port: int = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)
        await writer.drain()
        writer.close()

    def say(self, body: str) -> None:
        self.answer = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()


@dataclass
class Worker:
    """What one process knows, and its verbs."""

    hosts: Hosts
    blocked: BlockedHosts
    directory: Directory
    domains: Domains
    targets: TargetRules

    async def prove(self, workspace_id: int, host: str, **fields: str) -> Domain:
        """A domain that the operator vouches for."""
        return await self.domains.add(
            command_actor(workspace_id), DomainDraft(host, **fields), is_trusted=True
        )

    async def change(self, workspace_id: int, host: str, **fields: object) -> Domain:
        edit = DomainEdit(frozenset(fields), **fields)  # type: ignore[arg-type]
        return await self.domains.change(command_actor(workspace_id), host, edit)


@dataclass
class Office:
    database: Database
    names: NameServer
    web: WebServer

    async def worker(self, base_url: str = BASE_URL) -> Worker:
        store = DomainStore(self.database)
        base_host = base_url.partition("://")[2].partition(":")[0]
        await store.follow_base_host(base_host)
        hosts, blocked = Hosts(1), BlockedHosts()
        directory = Directory(store, hosts, blocked, base_url, canonical=canonical_host)
        await directory.refresh()
        targets = TargetRules(own_hosts={base_host}, book=directory)
        domains = Domains(
            self.database,
            directory,
            self._proofs,
            base_host=base_host,
            canonical=canonical_host,
            check_target=lambda text: targets.check(text).location,
        )
        return Worker(hosts, blocked, directory, domains, targets)

    def _proofs(self) -> ProofReader:
        async def resolve(host: str, port: int) -> list[object]:
            return [ip_address("127.0.0.1")]

        client = PublicClient(
            resolve=resolve,  # type: ignore[arg-type]
            is_allowed=lambda _: True,
            ports=frozenset({self.web.port}),
        )
        return ProofReader(client, Names(["127.0.0.1"], self.names.port), http_port=self.web.port)


@asynccontextmanager
async def open_office(database: Database) -> AsyncIterator[Office]:
    async with AsyncExitStack() as stack:
        await database.execute(
            "INSERT INTO workspace (id, name, slug, created_at, updated_at) VALUES ($1, 'Other', 'other', $2, $2)",
            THEIRS,
            1_700_000_000_000_000,
        )
        names = await stack.enter_async_context(serving_names())
        web = WebServer()
        server = await asyncio.start_server(web, "127.0.0.1", 0)
        web.port = server.sockets[0].getsockname()[1]
        await stack.enter_async_context(server)
        yield Office(database, names, web)
