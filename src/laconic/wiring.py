"""Opens everything a process needs, in order, into one exit stack."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from laconic.clicks.events.browse import EventBrowser
from laconic.clicks.events.erase import Eraser
from laconic.clicks.events.live import LiveFeed
from laconic.clicks.events.store import EventStore
from laconic.clicks.reports.report import Reports
from laconic.clicks.reports.store import ReportStore
from laconic.clock import HOUR
from laconic.codes.allocator import CodeAllocator
from laconic.codes.permutation import Permutation
from laconic.codes.rules import CustomCodeRules
from laconic.codes.store import CodeStore
from laconic.links.browse import LinkBrowser
from laconic.links.change import LinkChanger
from laconic.links.create import LinkCreator
from laconic.links.once import Once
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.redirect.hosts import Hosts
from laconic.redirect.lookup import Lookup
from laconic.redirect.shared import SharedTier
from laconic.settings import Settings
from laconic.storage.database import Database
from laconic.storage.engines import open_database, open_shared_store
from laconic.storage.shared import SharedStore
from laconic.upkeep.reaper import Plan, Reaper
from laconic.upkeep.sweeps import Sweeps
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.model import DEFAULT_DOMAIN_ID
from laconic.workspaces.store import WorkspaceStore


@dataclass(frozen=True, slots=True)
class Services:
    """What a web worker or a command works with."""

    settings: Settings
    database: Database
    shared_store: SharedStore | None
    cache: RedirectCache
    hosts: Hosts
    codes: CodeAllocator
    custom_codes: CustomCodeRules
    targets: TargetRules
    links: LinkStore
    creator: LinkCreator
    changer: LinkChanger
    browser: LinkBrowser
    once: Once
    workspaces: WorkspaceStore
    api_keys: ApiKeys
    reports: Reports
    events: EventBrowser
    eraser: Eraser
    feed: LiveFeed
    reaper: Reaper


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """For a database that `migrate` has prepared."""
    async with AsyncExitStack() as stack:
        database = await open_database(settings.effective_database_url)
        stack.push_async_callback(database.close)
        workspaces = WorkspaceStore(database)
        base_host = urlsplit(settings.base_url).hostname or "localhost"
        await workspaces.set_default_host(base_host)
        names = await workspaces.redirect_hosts()
        hosts = Hosts(DEFAULT_DOMAIN_ID, names)
        shared_store = open_shared_store(settings.redis_url)
        if shared_store is not None:
            stack.push_async_callback(shared_store.close)
        shared = await _open_shared_tier(settings, database, shared_store)
        if shared is not None:
            stack.push_async_callback(shared.close)
        cache = RedirectCache(
            Lookup(database),
            shared=shared,
            most_entries=settings.cache_entries,
            most_bytes=settings.cache_bytes,
            max_stale=settings.max_stale,
        )
        codes = await _open_codes(settings, database)
        stack.push_async_callback(codes.close)
        targets = TargetRules(
            own_hosts={base_host, *names},
            max_length=settings.max_url_length,
            allow_private=settings.private_targets == "allow",
        )
        custom_codes = CustomCodeRules(settings.custom_code_pattern)
        creator = LinkCreator(
            database,
            codes,
            targets,
            custom_codes,
            domain_id=DEFAULT_DOMAIN_ID,
            redirect_status=settings.redirect_status,
            cache=cache,
        )
        stack.push_async_callback(creator.close)
        links = LinkStore(database)
        events = EventStore(database)
        feed = LiveFeed(events)
        stack.push_async_callback(feed.close)
        yield Services(
            settings=settings,
            database=database,
            shared_store=shared_store,
            cache=cache,
            hosts=hosts,
            codes=codes,
            custom_codes=custom_codes,
            targets=targets,
            links=links,
            creator=creator,
            changer=LinkChanger(database, targets, cache=cache),
            browser=LinkBrowser(links),
            once=Once(database),
            workspaces=workspaces,
            api_keys=ApiKeys(workspaces),
            reports=Reports(ReportStore(database)),
            events=EventBrowser(events),
            eraser=Eraser(events),
            feed=feed,
            reaper=open_reaper(settings, database),
        )


def open_sweeps(settings: Settings, database: Database) -> Sweeps:
    # Longer than the shared tier must be told of them, also by a clock that is an hour off.
    return Sweeps(database, keep_changes=settings.url_cache_ttl + 4 * HOUR)


def open_reaper(settings: Settings, database: Database) -> Reaper:
    plan = Plan(
        interval=settings.cleanup_interval,
        batch_size=settings.cleanup_batch_size,
        buffer_time=settings.cleanup_buffer_time,
        max_duration=settings.cleanup_max_duration,
        purge_after=settings.cleanup_purge_after,
    )
    return Reaper(database, plan, open_sweeps(settings, database))


async def _open_shared_tier(
    settings: Settings, database: Database, store: SharedStore | None
) -> SharedTier | None:
    """None where the database answers faster than any other server could."""
    if store is None or database.answers_at_once:
        return None
    # Two installations may use one Redis: their entries must not meet.
    secret = await CodeStore(database).permutation_secret()
    installation = hashlib.blake2b(secret, digest_size=6, person=b"shared tier").hexdigest()
    return SharedTier(store, installation, ttl=settings.url_cache_ttl)


async def _open_codes(settings: Settings, database: Database) -> CodeAllocator:
    store = CodeStore(database)
    permutation = Permutation(await store.permutation_secret(), settings.code_length)

    async def lease(count: int) -> range:
        return await store.lease(settings.region, settings.code_length, count)

    return CodeAllocator(lease, permutation)
