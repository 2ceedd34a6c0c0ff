"""The operator's verbs beside an owner's, on every engine."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from laconic.links.targets import TargetRules, canonical_host
from laconic.oversight.block import Blocks
from laconic.oversight.reports import VisitorReports
from laconic.oversight.statistics import Statistics
from laconic.oversight.takedown import Takedowns
from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.cache import RedirectCache
from laconic.redirect.hosts import Hosts
from laconic.redirect.lookup import Lookup
from laconic.redirect.model import Entry
from laconic.storage.database import Database
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor
from tests.links.desk import DOMAIN, Desk

OPERATOR = command_actor(DEFAULT_WORKSPACE_ID)


@dataclass
class Bench:
    """One process: what it knows and what it may do."""

    desk: Desk
    cache: RedirectCache
    directory: Directory
    targets: TargetRules
    takedowns: Takedowns
    blocks: Blocks
    reports: VisitorReports
    statistics: Statistics

    async def follow(self, code: str) -> Entry:
        return await self.cache.find(DOMAIN, code)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Bench]:
    desk = await Desk.open(database)
    blocked = BlockedHosts()
    cache = RedirectCache(Lookup(database, blocked))
    cache.following()
    directory = Directory(
        DomainStore(database),
        Hosts(1),
        blocked,
        "https://sho.rt",
        canonical=canonical_host,
        blocked_changed=cache.doubt_everything,
    )
    await directory.refresh()
    yield Bench(
        desk,
        cache,
        directory,
        TargetRules(own_hosts=(), book=directory),
        Takedowns(database, cache=cache),
        Blocks(database, directory, canonical_host),
        VisitorReports(database),
        Statistics(database),
    )
    await desk.close()
