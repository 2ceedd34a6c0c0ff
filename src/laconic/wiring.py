"""Opens everything a process needs, in order, into one exit stack."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

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
from laconic.settings import Settings
from laconic.storage.database import Database
from laconic.storage.engines import open_database, open_shared_store
from laconic.storage.shared import SharedStore
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.audit.store import AuditStore
from laconic.workspaces.model import DEFAULT_DOMAIN_ID
from laconic.workspaces.passwords import Passwords
from laconic.workspaces.people.invitations import Invitations
from laconic.workspaces.people.sessions import Sessions
from laconic.workspaces.people.sign_in import SignIn
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.people.users import Users
from laconic.workspaces.store import WorkspaceStore
from laconic.workspaces.tenants import Workspaces


@dataclass(frozen=True, slots=True)
class People:
    """All that is done with users."""

    users: Users
    invitations: Invitations
    sessions: Sessions
    sign_in: SignIn


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
    tenants: Workspaces
    people: People
    audit: AuditStore


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """For a database that `migrate` has prepared."""
    async with AsyncExitStack() as stack:
        database = await open_database(settings.effective_database_url, owner_url=settings.database_owner_url)
        stack.push_async_callback(database.close)
        workspaces = WorkspaceStore(database)
        base_host = urlsplit(settings.base_url).hostname or "localhost"
        await workspaces.set_default_host(base_host)
        names = await workspaces.redirect_hosts()
        hosts = Hosts(DEFAULT_DOMAIN_ID, names)
        shared_store = open_shared_store(settings.redis_url)
        if shared_store is not None:
            stack.push_async_callback(shared_store.close)
        cache = RedirectCache(
            Lookup(database),
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
        tenants = Workspaces(database, workspaces)
        creator = LinkCreator(
            database,
            codes,
            targets,
            custom_codes,
            domain_id=DEFAULT_DOMAIN_ID,
            redirect_status=settings.redirect_status,
            cache=cache,
            settings_of=tenants.settings_of,
        )
        stack.push_async_callback(creator.close)
        links = LinkStore(database)
        people = _open_people(database, stack)
        api_keys = ApiKeys(database, workspaces)
        stack.push_async_callback(api_keys.close)
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
            api_keys=api_keys,
            tenants=tenants,
            people=people,
            audit=AuditStore(database),
        )


async def _open_codes(settings: Settings, database: Database) -> CodeAllocator:
    store = CodeStore(database)
    permutation = Permutation(await store.permutation_secret(), settings.code_length)

    async def lease(count: int) -> range:
        return await store.lease(settings.region, settings.code_length, count)

    return CodeAllocator(lease, permutation)


def _open_people(database: Database, stack: AsyncExitStack) -> People:
    store, passwords = PeopleStore(database), Passwords()
    stack.callback(passwords.close)
    users = Users(database, store, passwords)
    return People(
        users,
        Invitations(database, store, users),
        Sessions(database, store),
        SignIn(database, store, passwords, CodeStore(database).permutation_secret),
    )
