"""Opens everything a process needs, in order, into one exit stack."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from laconic.clicks.events.browse import EventBrowser
from laconic.clicks.events.erase import Eraser
from laconic.clicks.events.live import LiveFeed
from laconic.clicks.events.store import EventStore
from laconic.clicks.reports.report import Reports
from laconic.clicks.reports.store import ReportStore
from laconic.clock import HOUR
from laconic.codes.ahead.allocations import Allocations
from laconic.codes.ahead.store import AheadStore
from laconic.codes.allocator import CodeAllocator
from laconic.codes.cursor import Cursor
from laconic.codes.high_water import HighWater, mark_file
from laconic.codes.maker import FEW, MANY, CodeMaker
from laconic.codes.pool import JobLease, PoolFiller
from laconic.codes.rules import CustomCodeRules
from laconic.codes.shared_pool import SharedPool
from laconic.codes.sources import CursorSource, DurableSource, SharedSource, Source, SteppedSource
from laconic.codes.store import CodeStore
from laconic.codes.watch import PoolWatch
from laconic.errors import CannotStart, Conflict
from laconic.links.browse import LinkBrowser
from laconic.links.change import LinkChanger
from laconic.links.change_many import ManyChanger
from laconic.links.create import LinkCreator
from laconic.links.forget import Forgetter
from laconic.links.insert import FEW_PER_INSERT, MANY_PER_INSERT
from laconic.links.locate import Locator
from laconic.links.once import Once
from laconic.links.search.store import SearchStore
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules, canonical_host
from laconic.oversight.block import Blocks
from laconic.oversight.reports import VisitorReports
from laconic.oversight.statistics import Statistics
from laconic.oversight.takedown import Takedowns
from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.cache import RedirectCache
from laconic.redirect.hosts import Hosts
from laconic.redirect.lookup import Lookup
from laconic.redirect.shared import SharedTier
from laconic.settings import Settings
from laconic.storage.database import Database
from laconic.storage.engines import open_database, open_replica, open_shared_store
from laconic.storage.shared import SharedStore
from laconic.upkeep.reaper import Plan, Reaper
from laconic.upkeep.sweeps import Sweeps
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.audit.store import AuditStore
from laconic.workspaces.domains.change import Domains
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.everybody import People
from laconic.workspaces.model import DEFAULT_DOMAIN_ID
from laconic.workspaces.passwords import Passwords
from laconic.workspaces.people.invitations import Invitations
from laconic.workspaces.people.letters import Letters, Send, no_mail
from laconic.workspaces.people.sessions import Sessions
from laconic.workspaces.people.sign_in import SignIn
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.people.users import Users
from laconic.workspaces.resets.reset import PasswordResets
from laconic.workspaces.store import WorkspaceStore
from laconic.workspaces.tenants import Workspaces

if TYPE_CHECKING:
    from laconic.upkeep.backups import Backups
    from laconic.workspaces.domains.proof import ProofReader


@dataclass(frozen=True, slots=True)
class CodeWorks:
    """What makes the codes of this region."""

    store: CodeStore
    maker: CodeMaker
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Services:
    """What a web worker or a command works with."""

    settings: Settings
    database: Database
    shared_store: SharedStore | None
    cache: RedirectCache
    hosts: Hosts
    works: CodeWorks
    blocked: BlockedHosts
    directory: Directory
    domains: Domains
    codes: CodeAllocator
    allocations: Allocations
    pool: PoolWatch
    custom_codes: CustomCodeRules
    targets: TargetRules
    links: LinkStore
    locator: Locator
    creator: LinkCreator
    changer: LinkChanger
    many_changer: ManyChanger
    browser: LinkBrowser
    once: Once
    takedowns: Takedowns
    blocks: Blocks
    visitor_reports: VisitorReports
    statistics: Statistics
    workspaces: WorkspaceStore
    api_keys: ApiKeys
    reports: Reports
    events: EventBrowser
    eraser: Forgetter
    feed: LiveFeed
    reaper: Reaper
    tenants: Workspaces
    people: People
    audit: AuditStore


@asynccontextmanager
async def open_services(settings: Settings, *, pooled: bool = True) -> AsyncIterator[Services]:
    """For a database that `migrate` has prepared. `pooled`: new links take their codes from the pool.

    Imports and commands make theirs themselves: a million lines would empty the pool that single creates live on,
    and a command would take a block for one link.
    """
    async with AsyncExitStack() as stack:
        database = await open_database(settings.effective_database_url, owner_url=settings.database_owner_url)
        stack.push_async_callback(database.close)
        replica = open_replica(
            settings.database_replica_url, database, has_owner=bool(settings.database_owner_url)
        )
        if replica is not None:
            stack.push_async_callback(replica.close)
        workspaces = WorkspaceStore(database)
        base_host = urlsplit(settings.base_url).hostname or "localhost"
        hosts, blocked = Hosts(DEFAULT_DOMAIN_ID), BlockedHosts()
        shared_store = open_shared_store(settings.redis_url)
        if shared_store is not None:
            stack.push_async_callback(shared_store.close)
        shared_tier = await _open_shared_tier(settings, database, shared_store, blocked)
        if shared_tier is not None:
            stack.push_async_callback(shared_tier.close)
        cache = RedirectCache(
            Lookup(database, blocked),
            shared=shared_tier,
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
        works = await open_code_works(settings, database)
        if pooled:
            await works.cursor.check()
        pool_and_pace = (settings.kgs_pool_min_size, FEW) if pooled else (0, MANY)
        codes = _open_allocator(works, shared_store, *pool_and_pace)
        stack.push_async_callback(codes.close)
        allocations = Allocations(
            AheadStore(database),
            works.cursor,
            works.maker,
            pool_min_size=settings.kgs_pool_min_size,
        )
        watch = PoolWatch(works.store, works.maker, codes, shared_store, min_size=settings.kgs_pool_min_size)
        targets = TargetRules(
            own_hosts={base_host},
            book=directory,
            max_length=settings.max_url_length,
            allow_private=settings.private_targets == "allow",
        )
        custom_codes = CustomCodeRules(settings.custom_code_pattern)
        tenants = Workspaces(database, workspaces)
        creator = LinkCreator(
            database,
            codes,
            targets,
            custom_codes,
            default_domain=directory.default_of,
            redirect_status=settings.redirect_status,
            allocations=allocations,
            cache=cache if pooled else None,
            settings_of=tenants.settings_of,
            # Where nobody but imports waits, a commit may take longer. Creates of one moment are to share theirs.
            most_per_insert=FEW_PER_INSERT if pooled else MANY_PER_INSERT,
            inserts_at_once=1 if pooled else database.inserts_at_once,
        )
        stack.push_async_callback(creator.close)
        links = LinkStore(database)
        events = EventStore(database)
        feed = LiveFeed(events)
        stack.push_async_callback(feed.close)
        people = _open_people(settings, database, stack)
        api_keys = ApiKeys(database, workspaces)
        stack.push_async_callback(api_keys.close)
        changer = LinkChanger(database, targets, cache=cache)
        takedowns = Takedowns(database, cache=cache)
        yield Services(
            settings=settings,
            database=database,
            shared_store=shared_store,
            cache=cache,
            hosts=hosts,
            blocked=blocked,
            directory=directory,
            domains=Domains(
                database,
                directory,
                _open_proofs,
                base_host=base_host,
                canonical=canonical_host,
                check_target=lambda text: targets.check(text).location,
                allow_private=settings.private_targets == "allow",
            ),
            works=works,
            codes=codes,
            allocations=allocations,
            pool=watch,
            custom_codes=custom_codes,
            targets=targets,
            links=links,
            locator=Locator(directory, links),
            creator=creator,
            changer=changer,
            many_changer=ManyChanger(database, links, changer, takedowns.covers),
            browser=LinkBrowser(links, SearchStore(database)),
            once=Once(database),
            takedowns=takedowns,
            blocks=Blocks(database, directory, canonical_host),
            visitor_reports=VisitorReports(database),
            statistics=Statistics(database),
            workspaces=workspaces,
            api_keys=api_keys,
            reports=Reports(ReportStore(replica or database)),
            events=EventBrowser(events),
            eraser=Forgetter(database, Eraser(events)),
            feed=feed,
            reaper=open_reaper(settings, database),
            tenants=tenants,
            people=people,
            audit=AuditStore(database),
        )


async def _follow_base_url(store: DomainStore, base_host: str) -> None:
    try:
        await store.follow_base_host(base_host)
    except Conflict:
        raise CannotStart(
            f"{base_host}, the host of LACONIC_BASE_URL, is a domain of a workspace: remove it there first."
        ) from None


def open_domains(settings: Settings, database: Database) -> Domains:
    """For upkeep, which serves nobody: its directory is asked for nothing but to follow."""
    base_host = urlsplit(settings.base_url).hostname or "localhost"
    hosts, blocked = Hosts(DEFAULT_DOMAIN_ID), BlockedHosts()
    directory = Directory(DomainStore(database), hosts, blocked, settings.base_url, canonical=canonical_host)
    return Domains(
        database,
        directory,
        _open_proofs,
        base_host=base_host,
        canonical=canonical_host,
        check_target=lambda text: text,
    )


def _open_proofs() -> "ProofReader":
    from laconic.outside.client import PublicClient
    from laconic.outside.names import Names
    from laconic.workspaces.domains.proof import ProofReader

    return ProofReader(PublicClient(), Names())


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


def open_backups(settings: Settings, database: Database) -> "Backups":
    # Here, because they bring what commands do not need.
    from laconic.backups.backup import Origin
    from laconic.upkeep.backups import BackupPlan, Backups

    plan = BackupPlan(
        folder=Path(settings.backup_dir).resolve() if settings.backup_dir else None,
        interval=settings.backup_interval,
        pack_after=settings.backup_compress_after,
        keep=settings.backup_keep,
        check_interval=settings.integrity_interval,
    )
    origin = Origin(settings.owner_database_url, settings.journal_folder)
    return Backups(database, origin, plan, settings.data_folder)


async def _open_shared_tier(
    settings: Settings, database: Database, store: SharedStore | None, blocked: BlockedHosts
) -> SharedTier | None:
    """None where the database answers faster than any other server could."""
    if store is None or database.answers_at_once:
        return None
    # Two installations may use one Redis: their entries must not meet.
    secret = await CodeStore(database).permutation_secret()
    installation = hashlib.blake2b(secret, digest_size=6, person=b"shared tier").hexdigest()
    return SharedTier(store, installation, ttl=settings.url_cache_ttl, blocked=blocked)


async def open_code_works(settings: Settings, database: Database) -> CodeWorks:
    store = CodeStore(database)
    secret = await store.permutation_secret()
    prefix = dict(settings.region_prefixes).get(settings.region, "")
    length = await store.claim_length(settings.region, prefix, settings.code_length)
    maker = CodeMaker(secret, length, region=settings.region, prefix=prefix)
    high_water = HighWater(mark_file(settings.data_folder, settings.region, length))
    return CodeWorks(store, maker, Cursor(store, maker, high_water))


def _open_allocator(works: CodeWorks, shared: SharedStore | None, pool: int, pace: int) -> CodeAllocator:
    """Memory, then Redis, then the table, then made on the fly. `pool` is its least size, `pace` how many at a time."""
    cursor = CursorSource(works.cursor.lease, works.maker)
    sources: list[tuple[str, Source]] = [("cursor", cursor)]
    if pool:
        sources.insert(0, ("durable", DurableSource(works.cursor, pool_min_size=pool)))
    if pool and shared is not None:
        offered = SharedPool(shared, works.maker.region)
        sources.insert(0, ("shared", SharedSource(offered, works.cursor, pool_min_size=pool)))
    return CodeAllocator(SteppedSource(sources), fresh=cursor, at_a_time=pace)


def open_filler(
    settings: Settings, works: CodeWorks, lease: JobLease, shared: SharedStore | None
) -> PoolFiller:
    return PoolFiller(
        works.store,
        works.cursor,
        works.maker,
        lease,
        SharedPool(shared, works.maker.region) if shared is not None else None,
        min_size=settings.kgs_pool_min_size,
        batch_size=settings.kgs_batch_size,
    )


def _open_people(settings: Settings, database: Database, stack: AsyncExitStack) -> People:
    store, passwords = PeopleStore(database), Passwords()
    stack.callback(passwords.close)
    users = Users(database, store, passwords)
    return People(
        users,
        Invitations(database, store, users),
        Sessions(database, store),
        SignIn(database, store, passwords, CodeStore(database).signing_secret),
        PasswordResets(database, users, passwords),
        Letters(_mail_of(settings), settings.base_url),
    )


def _mail_of(settings: Settings) -> Send:
    if not settings.smtp_host:
        return no_mail
    # Here, because most installations need none of it.
    from laconic.outside.mail import Mailer, MailServer

    sender = settings.smtp_from or f"laconic@{urlsplit(settings.base_url).hostname or 'localhost'}"
    server = (settings.smtp_host, settings.smtp_port, settings.smtp_tls, settings.smtp_user, sender)
    return Mailer(MailServer(*server, settings.smtp_password)).send
