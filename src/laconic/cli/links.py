"""shorten, expand, list, edit, delete: the API's verbs, for the default workspace."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import (
    created_document,
    link_document,
    state_of,
    target_of,
    to_the_second,
)
from laconic.cli.failures import CommandRefused, Failure
from laconic.cli.tables import Column, print_rows
from laconic.cli.values import DURATION, MOMENT, split_short_url
from laconic.clock import SECOND, now
from laconic.errors import LaconicError
from laconic.links.browse import LARGEST_PAGE, Query, State
from laconic.links.model import Link, LinkDraft, LinkEdit
from laconic.links.orders import Sort
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, DEFAULT_WORKSPACE_ID, command_actor

if TYPE_CHECKING:
    from laconic.wiring import Services

_ACTOR = command_actor(DEFAULT_WORKSPACE_ID)

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_COLUMNS = (
    Column("Code"),
    Column("Target", "text"),
    Column("Clicks", "number"),
    Column("State"),
    Column("Created", "moment"),
    Column("Expires", "moment"),
    Column("Title", "text"),
)


def _expiry_options(command: Any) -> Any:
    expires_in = click.option(
        "--expires-in", type=DURATION, metavar="DURATION", help="Such as 90s, 15m, 12h, 30d or 2w from now."
    )
    expires_at = click.option(
        "--expires-at", type=MOMENT, metavar="TIME", help="RFC 3339, such as 2030-01-31T12:00:00Z."
    )
    return expires_in(expires_at(command))


def _only_one(**options: Any) -> None:
    said = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if len(said) > 1:
        raise click.UsageError(f"Only one of {' and '.join(said)} may be given.", click.get_current_context())


async def domain_of(services: "Services", text: str, domain: str | None) -> tuple[int, str]:
    """Domain and code of what somebody typed or copied; `domain` is what --domain says."""
    host, code = split_short_url(text)
    host = domain or host
    if not host:
        return await services.locator.of_code(DEFAULT_WORKSPACE_ID, code, None), code
    known = services.directory.find(DEFAULT_WORKSPACE_ID, host)
    base_url = services.settings.base_url
    if known is None and host in _LOOPBACK | {urlsplit(base_url).hostname}:
        return DEFAULT_DOMAIN_ID, code
    if known is None:
        raise CommandRefused("link_unknown", f"{text!r} is no short URL of this installation, {base_url}.")
    return known.id, code


def domain_option(command: Any) -> Any:
    return click.option(
        "--domain", metavar="HOST", help="The domain of the link. Default: the workspace's default domain."
    )(command)


@click.command()
@click.argument("url")
@click.option("--code", metavar="CODE", help="A code of your own instead of a generated one.")
@click.option("--title", help="For your own overview; visitors do not see it.")
@click.option("--description", help="The same, at length.")
@_expiry_options
@click.option("--status", type=int, help="301, 302, 307 or 308. Default: LACONIC_REDIRECT_STATUS, 302.")
@click.option("--reuse", is_flag=True, help="The link that is there already for this URL, if there is one.")
@domain_option
@shared_options
@pass_call
def shorten(
    call: Call,
    url: str,
    code: str | None,
    title: str | None,
    description: str | None,
    expires_in: int | None,
    expires_at: int | None,
    status: int | None,
    reuse: bool,
    domain: str | None,
) -> None:
    """Make a link to URL and print its short URL.

    \b
    Examples:
      laconic shorten https://example.com/
      laconic shorten https://example.com/sale --code sale24 --expires-in 30d
      laconic shorten https://example.com/ --domain go.example.com
      xdg-open "$(laconic shorten https://example.com/ --reuse)"
    """
    _only_one(expires_in=expires_in, expires_at=expires_at)
    draft = LinkDraft(
        url,
        custom_code=code,
        title=title,
        description=description,
        expires_in_seconds=expires_in,
        expires_at=expires_at,
        redirect_status=status,
        reuse=reuse or None,
    )

    async def work(services: "Services") -> None:
        draft.domain_id = await services.locator.for_new(DEFAULT_WORKSPACE_ID, domain)
        created = await services.creator.create(DEFAULT_WORKSPACE_ID, None, draft, _ACTOR)
        short_url = services.directory.short_url
        shown = short_url(created.link.domain_id, created.link.short_code)
        call.show(created_document(created, short_url), shown)

    call.run(work)


@click.command()
@click.argument("link", metavar="CODE|SHORT_URL")
@domain_option
@shared_options
@pass_call
def expand(call: Call, link: str, domain: str | None) -> None:
    """Print where a link leads. Looking is no click.

    \b
    Examples:
      laconic expand sale24
      laconic expand http://localhost:8000/sale24 --json
    """

    async def work(services: "Services") -> None:
        domain_id, code = await domain_of(services, link, domain)
        found = await services.browser.get(DEFAULT_WORKSPACE_ID, domain_id, code)
        call.show(link_document(found, services.directory.short_url), target_of(found))
        state = state_of(found)
        if state != "active" and not call.json:
            click.echo(f"Visitors are not sent there: the link is {state}.", err=True)

    call.run(work)


@click.command("list", short_help="Show links, newest first.")
@click.option("--search", metavar="TEXT", help="Words of title or description, a code, or a part of the URL.")
@click.option("--state", type=click.Choice(get_args(State)), default="all", show_default=True)
@click.option("--sort", type=click.Choice(get_args(Sort)), default="-created_at", show_default=True)
@click.option("--limit", type=click.IntRange(1, LARGEST_PAGE), default=50, show_default=True)
@click.option("--cursor", help="Where the page before this one ended; it has told.")
@click.option("--domain", metavar="HOST", help="Links of this domain only. Default: of all.")
@shared_options
@pass_call
def list_links(
    call: Call,
    search: str | None,
    state: State,
    sort: Sort,
    limit: int,
    cursor: str | None,
    domain: str | None,
) -> None:
    """Show links, newest first: a table on a terminal, otherwise tab-separated lines.

    \b
    Columns: code, target, clicks, state, creation, expiry, title.
    \b
    Examples:
      laconic list --search spring --state active
      laconic list --sort -clicks --limit 10
      laconic list --limit 1000 | cut -f 1,2
    """

    async def work(services: "Services") -> None:
        domain_id = await services.locator.for_list(DEFAULT_WORKSPACE_ID, domain)
        query = Query(search=search, state=state, domain_id=domain_id, sort=sort, cursor=cursor, limit=limit)
        page = await services.browser.page(DEFAULT_WORKSPACE_ID, query)
        if call.json:
            items = [link_document(link, services.directory.short_url) for link in page.links]
            call.show({"items": items, "next_cursor": page.next_cursor})
            return
        print_rows(_COLUMNS, [_row(link) for link in page.links])
        if page.next_cursor:
            click.echo(f"There are more: add --cursor {page.next_cursor}", err=True)
        elif not page.links:
            click.echo("No links." if cursor is None else "No more links.", err=True)

    call.run(work)


def _row(link: Link) -> tuple[str, ...]:
    return (
        link.short_code,
        target_of(link),
        str(link.click_count),
        state_of(link),
        to_the_second(link.created_at),
        to_the_second(link.expires_at),
        link.title or "",
    )


@click.command()
@click.argument("link", metavar="CODE|SHORT_URL")
@click.option("--url", help="The new target.")
@click.option("--title", help="Empty: none.")
@click.option("--description", help="Empty: none.")
@_expiry_options
@click.option("--never-expires", is_flag=True, help="Take the expiry away.")
@click.option("--status", type=int, help="301, 302, 307 or 308.")
@click.option("--enable/--disable", "is_active", default=None, help="Switch the link on or off.")
@domain_option
@shared_options
@pass_call
def edit(call: Call, /, link: str, domain: str | None, **said: Any) -> None:
    """Change a link. What is not named stays; every worker follows within a second.

    \b
    Examples:
      laconic edit sale24 --url https://example.com/summer --title Summer
      laconic edit sale24 --disable
      laconic edit sale24 --enable --never-expires
    """
    change = _edit_from_options(said)

    async def work(services: "Services") -> None:
        domain_id, code = await domain_of(services, link, domain)
        await services.changer.edit(DEFAULT_WORKSPACE_ID, domain_id, code, change, _ACTOR)
        changed = await services.browser.get(DEFAULT_WORKSPACE_ID, domain_id, code)
        short_url = services.directory.short_url
        line = f"{short_url(domain_id, code)} → {target_of(changed)} ({state_of(changed)})"
        call.show(link_document(changed, short_url), line)

    call.run(work)


def _edit_from_options(said: dict[str, Any]) -> LinkEdit:
    _only_one(**{name: said[name] for name in ("expires_in", "expires_at", "never_expires")})
    values: dict[str, Any] = {}
    for option, field in (
        ("url", "original_url"),
        ("expires_at", "expires_at"),
        ("status", "redirect_status"),
        ("is_active", "is_active"),
    ):
        if said[option] is not None:
            values[field] = said[option]
    for text in ("title", "description"):
        if said[text] is not None:
            values[text] = said[text] or None
    if said["expires_in"] is not None:
        values["expires_at"] = now() + said["expires_in"] * SECOND
    if said["never_expires"]:
        values["expires_at"] = None
    if not values:
        raise click.UsageError("Nothing to change: say what, for example --url.", click.get_current_context())
    return LinkEdit(fields=frozenset(values), **values)


@dataclass(slots=True)
class _Deleted:
    codes: list[str]
    failures: list[Failure]


@click.command()
@click.argument("links", metavar="CODE|SHORT_URL...", nargs=-1, required=True)
@domain_option
@shared_options
@pass_call
def delete(call: Call, links: tuple[str, ...], domain: str | None) -> int:
    """Delete links, for good. Their codes answer 410 and are never given to another link.

    \b
    Examples:
      laconic delete sale24
      laconic list --state expired | cut -f 1 | xargs laconic delete
    """

    async def work(services: "Services") -> _Deleted:
        done = _Deleted([], [])
        for link in links:
            try:
                domain_id, code = await domain_of(services, link, domain)
                await services.changer.delete(DEFAULT_WORKSPACE_ID, domain_id, code, _ACTOR)
                done.codes.append(code)
            except LaconicError as error:
                done.failures.append(Failure.from_error(error))
            except CommandRefused as error:
                done.failures.append(Failure.from_click(error))
        return done

    done = call.run(work)
    call.show({"deleted": done.codes}, *(f"Deleted {code}." for code in done.codes))
    for failure in done.failures:
        failure.tell(as_json=call.json)
    return max((failure.status for failure in done.failures), default=0)
