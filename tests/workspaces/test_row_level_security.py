"""The second lock: with the wrong workspace named, PostgreSQL itself shows and changes nothing."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from laconic.clicks.events.model import Place
from laconic.clicks.events.store import EventStore
from laconic.clicks.reports.counts import Counts
from laconic.clicks.reports.periods import Bucket
from laconic.clicks.reports.store import ReportStore, Scope
from laconic.clock import DAY, now
from laconic.errors import LaconicError, SettingInvalid
from laconic.links import store as link_statements
from laconic.links.adopted.store import AdoptedStore
from laconic.links.model import LinkDraft
from laconic.links.search.store import SearchStore
from laconic.links.store import LinkStore
from laconic.settings import Settings
from laconic.storage.database import Database, Tenant
from laconic.storage.engines import migrate
from laconic.storage.months import month_of
from laconic.wiring import Services, open_services
from laconic.workspaces import store as workspace_statements
from laconic.workspaces.audit import store as audit_statements
from laconic.workspaces.audit.store import AuditQuery, AuditStore
from laconic.workspaces.domains import store as domain_statements
from laconic.workspaces.domains.model import DomainDraft
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import Actor, command_actor
from laconic.workspaces.people import store as people_statements
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.people.tokens import token_hash
from laconic.workspaces.people.users import UserDraft
from laconic.workspaces.resets import store as reset_statements
from laconic.workspaces.store import WorkspaceStore
from tests.clicks.raw_events import VISITOR, event, store_events
from tests.clicks.rollups import Counted, count

MINE, WRONG = 1, 4242


class Misled:
    """A database on which somebody has made the worst mistake: every transaction names another workspace."""

    def __init__(self, database: Database, workspace_id: int) -> None:
        self._database = database
        self._workspace_id = workspace_id

    def for_workspace(self, workspace_id: int) -> Tenant:
        return self._database.for_workspace(self._workspace_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


async def fill(services: Services) -> dict[str, Any]:
    """A record of every kind in workspace 1."""
    actor = command_actor(MINE)
    people = services.people
    user = await people.users.create(actor, MINE, UserDraft("ann@example.com", "admin"))
    other = await people.users.create(actor, MINE, UserDraft("bob@example.com", "admin"))
    token = await people.sessions.start(user, actor, None)
    (session,) = await people.sessions.list(MINE, user.id)
    _, invitation = await people.invitations.invite(actor, MINE, "viewer")
    _, key = await services.api_keys.create(MINE, "key", created_by=user.id)
    draft = LinkDraft("https://example.com/", title="spring", reuse=True)
    link = (await services.creator.create(MINE, user.id, draft, actor)).link
    domain = await services.domains.add(command_actor(MINE), DomainDraft("go.example.com"), is_trusted=True)
    moment = now()
    # The owner's: so does ingest.
    await count(services.database, [Counted(link.id, moment, values={"city": "Köln"})], MINE)
    await store_events(services.database, [event(link.id, moment)])
    return {
        "user": user,
        "other": other,
        "token": token,
        "session": session,
        "invitation": invitation,
        "key": key,
        "link": link,
        "domain": domain,
        "reset": (await people.resets.make(actor, MINE, other.id)).token,
    }


def calls(made: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The arguments of every store call that is made for a workspace, the workspace itself left out."""
    user, link, key, moment = made["user"], made["link"], made["key"], now()
    return {
        "LinkStore.find": (link.domain_id, link.short_code),
        "LinkStore.list_page": ("", (), "short_link.id", 10),
        "LinkStore.domains_of_code": (link.short_code, [link.domain_id]),
        "LinkStore.insert_many": ([_link_row(link)],),
        "AdoptedStore.find": ([(link.domain_id, link.short_code)],),
        "AdoptedStore.find_foreign": ([(link.domain_id, link.short_code)],),
        "AdoptedStore.page": (-1, 10),
        "AdoptedStore.keys_of": ([link.id],),
        "AdoptedStore.insert": ([(*_link_row(link), True, False, None)], moment),
        "AdoptedStore.change": ((link.domain_id, link.short_code), {"title": "changed"}, moment),
        "SearchStore.by_code": (link.short_code,),
        "SearchStore.by_words": (["spring"],),
        "SearchStore.by_url": ("example.com",),
        "SearchStore.moment_behind": (moment + DAY, 0),
        "SearchStore.left_by": ("", ()),
        "links.insert_one": (_link_row(link),),
        "links.find_for_change": (link.domain_id, link.short_code),
        "links.find_reusable": (b"x", "https://example.com/"),
        "links.release_from_reuse": (link.id,),
        "links.update": (link, {"title": "changed"}, moment),
        "links.delete_batch": (moment, 10),
        "links.claim_key": ("k", b"f", moment),
        "links.find_answer": ("k",),
        "links.keep_answer": ("k", 200, ""),
        "WorkspaceStore.list_keys": (),
        "WorkspaceStore.find_workspace": (),
        "workspaces.insert_key": (key, b"h" * 32),
        "workspaces.lock_key": (key.id,),
        "workspaces.revoke_key": (key.id,),
        "workspaces.replace_key": (key.id, 1, moment),
        "workspaces.revoke_keys_of": (user.id, frozenset()),
        "workspaces.revoke_all_keys": (),
        "workspaces.lock_workspace": (),
        "workspaces.update_workspace": ("stolen", made["settings"], moment),
        "workspaces.mark_workspace_deleted": (moment,),
        "workspaces.insert_workspace": (made["workspace"],),
        "PeopleStore.find_user": (user.id,),
        "PeopleStore.list_users": (),
        "PeopleStore.list_sessions": (user.id, 0),
        "PeopleStore.rotate_session": (
            *(made["session"].id, token_hash(made["token"]), b"n", moment, moment),
        ),
        "PeopleStore.list_invitations": (0,),
        "people.insert_user": (
            (99, MINE, "eve@example.com", None, "admin", False, moment, moment, None, None),
        ),
        "people.update_user": (user.id, {"role": "viewer"}, moment),
        "people.lock_people": (),
        "people.read_user": (user.id,),
        "people.has_other_admin": (user.id,),
        "people.note_login": (user.id, moment),
        "people.insert_session": ((99, MINE, user.id, b"t", moment, moment, None, moment, None, None),),
        "people.end_sessions": (user.id,),
        "people.end_all_sessions": (),
        "people.insert_invitation": ((99, MINE, b"t", None, "admin", False, None, moment, moment + DAY),),
        "people.use_invitation": (made["invitation"].id, moment),
        "AuditStore.page": (AuditQuery(), 10),
        "DomainStore.find": (made["domain"].host,),
        "DomainStore.list_all": (),
        "domains.claim_domain": (replace(made["domain"], id=98, host="stolen.example.com"),),
        "domains.update_domain": (made["domain"].id, {"root_target": "https://example.com/"}),
        "resets.insert_reset": ((99, MINE, user.id, b"t", moment, moment + DAY),),
        "resets.end_resets": (user.id, moment),
        "resets.use_reset": (token_hash(made["reset"]), moment),
        "DomainStore.has_live_links": (link.domain_id,),
        "DomainStore.count_all": (),
        "DomainStore.slug_of": (),
        **click_calls(link.id, moment),
        "audit.insert_events": ([(7, MINE, None, "open", "x.y", "x", None, None, None, None, None, moment)],),
    }


def click_calls(link_id: int, moment: int) -> dict[str, tuple[Any, ...]]:
    """Reports and raw clicks."""
    scope, day, month = Scope(link_id), moment // DAY, month_of(moment)
    before, behind = Place(moment + DAY, 0), Place(0, 0)
    return {
        "ReportStore.series": (scope, [Bucket(moment - DAY, moment + DAY)]),
        "ReportStore.days_total": (scope, (day, day)),
        "ReportStore.values": (scope, (day, day), ["city"], "all", 1, 5),
        "ReportStore.exact_values": (scope, (day, day), "city", ["Köln"]),
        "ReportStore.visitors": (scope, [(day, day)]),
        "ReportStore.daily_visitors": (scope, (day, day)),
        "ReportStore.quarters": (scope, moment - DAY, moment + DAY),
        "ReportStore.top_sketches": ((day, day),),
        "ReportStore.top_totals": (5,),
        "ReportStore.count_links": ([link_id], (day, day)),
        "ReportStore.describe_links": ([link_id],),
        "EventStore.page_before": (link_id, month, before, 5),
        "EventStore.page_behind": (link_id, month, behind, moment + DAY, 5),
        "EventStore.page_of_workspace": (month, behind, 5),
        "EventStore.newest": (link_id, moment - DAY, moment + DAY, 5),
        "EventStore.codes_of": ([link_id],),
        "EventStore.erase_link": (link_id, month, 5),
        "EventStore.erase_visitor": (VISITOR, month, moment - DAY, moment + DAY),
    }


def _link_row(link: Any) -> tuple[Any, ...]:
    moment = now()
    urls = ("https://example.com/", None, None, None, None, None, "{}")
    return (link.id + 1, MINE, link.domain_id, "stolen", *urls, None, moment, moment, None, 302)


# What a call says when it finds nothing, where that is not one of the usual ways.
NOTHING: dict[str, tuple[Any, ...]] = {
    "LinkStore.domains_of_code": (set(),),
    "AdoptedStore.find": ({},),
    "AdoptedStore.find_foreign": (set(),),
    "AdoptedStore.keys_of": ({},),
    "DomainStore.slug_of": ("",),
    "ReportStore.series": ({},),
    "ReportStore.days_total": ((Counts(), 0),),
    "ReportStore.visitors": ([0],),
    "ReportStore.daily_visitors": ({},),
    "ReportStore.count_links": ({},),
    "ReportStore.describe_links": ({},),
    "EventStore.codes_of": ({},),
}
MODULES = {
    "links": link_statements,
    "workspaces": workspace_statements,
    "people": people_statements,
    "audit": audit_statements,
    "domains": domain_statements,
    "resets": reset_statements,
}
STORES = (
    LinkStore,
    AdoptedStore,
    SearchStore,
    WorkspaceStore,
    PeopleStore,
    AuditStore,
    DomainStore,
    ReportStore,
    EventStore,
)


def known() -> set[str]:
    """Every call of every tenant-owned store that takes a workspace_id."""
    methods = {
        f"{store.__name__}.{name}"
        for store in STORES
        for name, method in inspect.getmembers(store, inspect.iscoroutinefunction)
        if not name.startswith("_") and "workspace_id" in inspect.signature(method).parameters
    }
    functions = {
        f"{room}.{name}"
        for room, module in MODULES.items()
        for name, function in inspect.getmembers(module, inspect.iscoroutinefunction)
        if not name.startswith("_")
        and function.__module__ == module.__name__
        and "workspace_id" in inspect.signature(function).parameters
    }
    return methods | functions


def call_of(database: Any, name: str, arguments: tuple[Any, ...]) -> Callable[[], Awaitable[Any]]:
    owner, _, verb = name.partition(".")
    for store in STORES:
        if store.__name__ == owner:
            return lambda: getattr(store(database), verb)(MINE, *arguments)

    async def in_transaction() -> Any:
        work = getattr(MODULES[owner], verb)
        return await database.for_workspace(MINE).transaction(lambda run: work(run, MINE, *arguments))

    return in_transaction


async def snapshot(database: Database) -> list[Any]:
    """All rows of the tenant, as their owner sees them."""
    tables = (
        "workspace",
        "users",
        "session",
        "invitation",
        "password_reset",
        "api_key",
        "short_link",
        "audit_event",
        "idempotency_key",
        "domain",
        "click_event",
        "click_daily",
    )
    return [
        await database.fetch_all(
            f"SELECT * FROM {table} WHERE {'id' if table == 'workspace' else 'workspace_id'} = $1 ORDER BY 1, 2",
            MINE,
        )
        for table in tables
    ]


@pytest.fixture
def settings(two_role_urls: tuple[str, str], tmp_path: Path) -> Settings:
    url, owner_url = two_role_urls
    return Settings(
        data=str(tmp_path), database_url=url, database_owner_url=owner_url, base_url="http://localhost:8000"
    )


async def test_p8_store_calls_with_the_wrong_workspace_named_find_and_change_nothing(
    settings: Settings,
) -> None:
    """Every call of every store, with another workspace in app.current_workspace_id than in its own arguments."""
    async with open_services(settings) as services:
        made = await fill(services)
        made["workspace"] = await services.tenants.get(MINE)
        made["settings"] = made["workspace"].settings
        arguments = calls(made)
        assert arguments.keys() == known()
        before = await snapshot(services.database)
        for wrong in (WRONG, 0):
            misled = Misled(services.database, wrong)
            for name, given in arguments.items():
                try:
                    result = await call_of(misled, name, given)()
                except LaconicError:
                    continue  # the store itself says that there is nothing to change
                except Exception as error:
                    if "row-level security" not in str(error):
                        raise
                    continue
                if name == "DomainStore.list_all":
                    assert [domain.workspace_id for domain in result] == [None], name  # the shared one
                elif name == "LinkStore.insert_many":
                    assert result, name  # the ids that were refused
                else:
                    assert result in NOTHING.get(name, (None, False, 0, [])), (name, result)
            assert await snapshot(services.database) == before


async def test_the_calls_do_something_when_the_right_workspace_is_named(settings: Settings) -> None:
    """Or the test above would pass on arguments that never find anything."""
    async with open_services(settings) as services:
        made = await fill(services)
        made["workspace"] = await services.tenants.get(MINE)
        made["settings"] = made["workspace"].settings
        reads = {
            name: given
            for name, given in calls(made).items()
            if any(
                word in name
                for word in ("find", "list", "page", "Report", "newest", "codes_of", "has_", "Search")
            )
        }
        idle = {"links.find_reusable", "links.find_answer", "AdoptedStore.find_foreign"}
        for name, given in reads.items():
            assert name in idle or await call_of(services.database, name, given)(), name


async def test_an_installation_with_two_roles_does_all_the_work(settings: Settings) -> None:
    """Links, people, keys and the trail of what was done: through the role that owns nothing."""
    async with open_services(settings) as services:
        made = await fill(services)
        acme = await services.tenants.create(command_actor(MINE), "Acme", "acme")
        await services.people.invitations.invite(command_actor(acme.id), acme.id, "admin")
        actor = Actor(MINE, made["user"].scopes, user_id=made["user"].id, kind="user", address="192.0.2.1")
        await services.changer.delete(MINE, 1, made["link"].short_code, actor)
        events = await services.audit.page(MINE, AuditQuery(), 100)
        assert events[0].action == "link.delete"
        assert {"link.create", "domain.add", "user.reset_link"} <= {event.action for event in events}
        assert events[0].address == "192.0.2.1"
        assert [event.action for event in await services.audit.page(acme.id, AuditQuery(), 10)] == [
            "invitation.create",
            "workspace.create",
        ]
        assert await services.links.is_free(1, "nothere")
        assert await services.people.sessions.find(made["token"]) is not None


async def test_a_role_that_policies_do_not_hold_is_refused(
    two_role_urls: tuple[str, str], fresh_postgres_url: str
) -> None:
    """A lock that looks shut and is open is worse than none: the start says so."""
    _, owner_url = two_role_urls
    with pytest.raises(SettingInvalid, match="superuser"):
        await migrate(fresh_postgres_url, owner_url)
    with pytest.raises(SettingInvalid, match="same role"):
        await migrate(owner_url, owner_url)


async def test_the_trail_cannot_be_rewritten(two_roles: Database) -> None:
    """The tenants' role may add to it, and read it, and nothing more."""
    for statement in (
        "DELETE FROM audit_event WHERE workspace_id = $1",
        "UPDATE audit_event SET action = '' WHERE id = $1",
    ):
        with pytest.raises(Exception, match="permission denied"):
            await two_roles.for_workspace(MINE).execute(statement, MINE)
