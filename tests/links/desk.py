"""The verbs of links on a real database, with a clock that a test can set."""

from dataclasses import dataclass
from typing import Any

from laconic.clock import now
from laconic.codes.allocator import CodeAllocator
from laconic.codes.cursor import Cursor
from laconic.codes.maker import CodeMaker
from laconic.codes.rules import CustomCodeRules
from laconic.codes.sources import CursorSource
from laconic.codes.store import CodeStore
from laconic.links.browse import LinkBrowser
from laconic.links.change import LinkChanger
from laconic.links.create import LinkCreator
from laconic.links.insert import FEW_PER_INSERT
from laconic.links.model import Created, Link, LinkDraft, LinkEdit
from laconic.links.search.store import SearchStore
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules
from laconic.storage.database import Database

WORKSPACE, DOMAIN = 1, 1


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = now()

    def __call__(self) -> int:
        return self.moment


@dataclass
class Desk:
    """Everything that a worker does to links."""

    database: Database
    clock: Clock
    codes: CodeAllocator
    creator: LinkCreator
    changer: LinkChanger
    store: LinkStore
    browser: LinkBrowser

    @classmethod
    async def open(
        cls,
        database: Database,
        clock: Clock | None = None,
        most_per_insert: int = FEW_PER_INSERT,
        inserts_at_once: int = 1,
    ) -> "Desk":
        clock = clock or Clock()
        code_store = CodeStore(database)
        maker = CodeMaker(await code_store.permutation_secret(), 7)
        codes = CodeAllocator(CursorSource(Cursor(code_store, maker).lease, maker))
        targets = TargetRules(own_hosts={"localhost"})
        rules = CustomCodeRules("^[a-zA-Z0-9]{4,8}$")
        store = LinkStore(database)
        return cls(
            database,
            clock,
            codes,
            LinkCreator(
                *(database, codes, targets, rules),
                default_domain=lambda _: DOMAIN,
                most_per_insert=most_per_insert,
                inserts_at_once=inserts_at_once,
                now=clock,
            ),
            LinkChanger(database, targets, now=clock),
            store,
            LinkBrowser(store, SearchStore(database)),
        )

    async def close(self) -> None:
        await self.creator.close()
        await self.codes.close()

    async def create(self, url: str = "https://example.com/", **fields: Any) -> Created:
        return await self.creator.create(WORKSPACE, None, LinkDraft(url, **fields))

    async def make(self, url: str = "https://example.com/", **fields: Any) -> Link:
        created = await self.create(url, **fields)
        assert not created.existing
        return created.link

    async def edit(self, code: str, **fields: Any) -> Link:
        return await self.changer.edit(WORKSPACE, DOMAIN, code, LinkEdit(frozenset(fields), **fields))

    async def delete(self, code: str) -> Link:
        return await self.changer.delete(WORKSPACE, DOMAIN, code)

    async def get(self, code: str) -> Link:
        return await self.browser.get(WORKSPACE, DOMAIN, code)

    async def count(self) -> int:
        """Rows of links, deleted ones included."""
        row = await self.database.fetch_one("SELECT count(*) FROM short_link")
        assert row is not None
        return int(row[0])
