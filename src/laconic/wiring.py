"""Opens everything a process needs, in order, into one exit stack."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from laconic.codes.allocator import CodeAllocator
from laconic.codes.permutation import Permutation
from laconic.codes.rules import CustomCodeRules
from laconic.codes.store import CodeStore
from laconic.errors import CannotStart, Conflict
from laconic.links.browse import LinkBrowser
from laconic.links.change import LinkChanger
from laconic.links.create import LinkCreator
from laconic.links.locate import Locator
from laconic.links.once import Once
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules, canonical_host
from laconic.oversight.block import Blocks
from laconic.oversight.reports import Reports
from laconic.oversight.statistics import Statistics
from laconic.oversight.store import OversightStore
from laconic.oversight.takedown import Takedowns
from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.cache import RedirectCache
from laconic.redirect.hosts import Hosts
from laconic.redirect.lookup import Lookup
from laconic.settings import Settings
from laconic.storage.database import Database
from laconic.storage.engines import open_database
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.domains.change import Domains
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import DEFAULT_DOMAIN_ID
from laconic.workspaces.store import WorkspaceStore

if TYPE_CHECKING:
    from laconic.workspaces.domains.proof import ProofReader


@dataclass(frozen=True, slots=True)
class Services:
    """What a web worker or a command works with."""

    settings: Settings
    database: Database
    cache: RedirectCache
    hosts: Hosts
    blocked: BlockedHosts
    directory: Directory
    domains: Domains
    codes: CodeAllocator
    custom_codes: CustomCodeRules
    targets: TargetRules
    links: LinkStore
    locator: Locator
    creator: LinkCreator
    changer: LinkChanger
    browser: LinkBrowser
    once: Once
    takedowns: Takedowns
    blocks: Blocks
    reports: Reports
    statistics: Statistics
    workspaces: WorkspaceStore
    api_keys: ApiKeys


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """For a database that `migrate` has prepared."""
    async with AsyncExitStack() as stack:
        database = await open_database(settings.effective_database_url)
        stack.push_async_callback(database.close)
        workspaces = WorkspaceStore(database)
        base_host = urlsplit(settings.base_url).hostname or "localhost"
        hosts, blocked = Hosts(DEFAULT_DOMAIN_ID), BlockedHosts()
        cache = RedirectCache(
            Lookup(database, blocked),
            most_entries=settings.cache_entries,
            most_bytes=settings.cache_bytes,
            max_stale=settings.max_stale,
        )
        domain_store = DomainStore(database)
        await _follow_base_url(domain_store, base_host)
        directory = Directory(
            domain_store,
            hosts,
            blocked,
            settings.base_url,
            canonical=canonical_host,
            blocked_changed=cache.doubt_everything,
        )
        await directory.refresh()
        codes = await _open_codes(settings, database)
        stack.push_async_callback(codes.close)
        targets = TargetRules(
            own_hosts={base_host},
            book=directory,
            max_length=settings.max_url_length,
            allow_private=settings.private_targets == "allow",
        )
        custom_codes = CustomCodeRules(settings.custom_code_pattern)
        creator = LinkCreator(
            database,
            codes,
            targets,
            custom_codes,
            default_domain=directory.default_of,
            redirect_status=settings.redirect_status,
            cache=cache,
        )
        stack.push_async_callback(creator.close)
        links = LinkStore(database)
        oversight = OversightStore(database)
        yield Services(
            settings=settings,
            database=database,
            cache=cache,
            hosts=hosts,
            blocked=blocked,
            directory=directory,
            domains=Domains(
                domain_store,
                directory,
                _open_proofs,
                base_host=base_host,
                canonical=canonical_host,
                check_target=lambda text: targets.check(text).location,
                allow_private=settings.private_targets == "allow",
            ),
            codes=codes,
            custom_codes=custom_codes,
            targets=targets,
            links=links,
            locator=Locator(directory, links),
            creator=creator,
            changer=LinkChanger(database, targets, cache=cache),
            browser=LinkBrowser(links),
            once=Once(database),
            takedowns=Takedowns(database, cache=cache),
            blocks=Blocks(oversight, directory, canonical_host),
            reports=Reports(oversight),
            statistics=Statistics(database),
            workspaces=workspaces,
            api_keys=ApiKeys(workspaces),
        )


async def _follow_base_url(store: DomainStore, base_host: str) -> None:
    try:
        await store.follow_base_host(base_host)
    except Conflict:
        raise CannotStart(
            f"{base_host}, the host of LACONIC_BASE_URL, is a domain of a workspace: remove it there first."
        ) from None


def _open_proofs() -> "ProofReader":
    from laconic.outside.client import PublicClient
    from laconic.outside.names import Names
    from laconic.workspaces.domains.proof import ProofReader

    return ProofReader(PublicClient(), Names())


async def _open_codes(settings: Settings, database: Database) -> CodeAllocator:
    store = CodeStore(database)
    permutation = Permutation(await store.permutation_secret(), settings.code_length)

    async def lease(count: int) -> range:
        return await store.lease(settings.region, settings.code_length, count)

    return CodeAllocator(lease, permutation)
