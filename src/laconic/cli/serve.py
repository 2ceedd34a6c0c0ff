"""serve: everything that has to be right before the first process starts, in order."""

import asyncio
import dataclasses
from functools import partial
from pathlib import Path

import click

from laconic.cli.address import default_base_url, leave_base_url
from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.failures import Failure
from laconic.cli.places import engine_of
from laconic.errors import LaconicError
from laconic.settings import Settings, read_settings, says_json_logs


@click.command(short_help="Run the server.")
@click.option("--host", help="The address to listen on. Default: LACONIC_HOST, or 127.0.0.1.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Default: LACONIC_PORT, or 8000; 0 takes a free one."
)
@click.option("--workers", type=click.IntRange(1, 256), help="Web workers. Default: LACONIC_WORKERS, or 1.")
@click.option(
    "--role",
    type=click.Choice(["all", "web", "background"]),
    default="all",
    show_default=True,
    help="web: without upkeep, where another machine does it; background: upkeep alone.",
)
@shared_options
@pass_call
def serve(call: Call, host: str | None, port: int | None, workers: int | None, role: str) -> int:
    """Run the server: web workers, click counting and upkeep, until Ctrl-C or SIGTERM.

    \b
    Examples:
      laconic serve
      laconic serve --workers 4 --data /var/lib/laconic
      LACONIC_BASE_URL=https://go.example.com laconic serve --host 0.0.0.0 --port 80
    """
    logs_are_json = says_json_logs()
    try:
        settings = read_settings(data=call.data, host=host or None, port=port, workers=workers)
        logs_are_json = settings.log_format == "json"
        return _serve(call, settings, role)
    except (LaconicError, OSError) as error:
        if not logs_are_json or call.json:
            raise
        return _log_failure(error)


def _serve(call: Call, settings: Settings, role: str) -> int:
    from laconic.cli.banner import Banner, Mode
    from laconic.logs import set_up_logs
    from laconic.serve.claims import claim_data, listen
    from laconic.serve.supervisor import Supervisor

    set_up_logs(settings.log_level, settings.log_format)
    _warn_of_role(settings, role)
    folder = Path(settings.data)
    claim_data(
        folder, on_wait=partial(_say, settings, "The last server was killed; its processes are ending …")
    )
    settings.journal_folder.mkdir(mode=0o700, exist_ok=True)
    set_up_token = asyncio.run(_prepare_database(settings))
    listeners = [] if role == "background" else listen(settings.host, settings.port, settings.workers)
    if listeners:
        settings = _with_address(settings, listeners[0].getsockname()[1])
        leave_base_url(folder, settings.base_url)
    mode = Mode.from_settings(settings, has_users=set_up_token is None)
    banner = Banner(settings, mode, role, set_up_token)
    supervisor = Supervisor(settings, role, listeners)  # type: ignore[arg-type]
    as_json = call.json or settings.log_format == "json"
    return supervisor.run(lambda: banner.show(as_json=as_json))


def _log_failure(error: LaconicError | OSError) -> int:
    """Whoever wants JSON in the log wants the last line so, too."""
    import structlog

    from laconic.logs import set_up_logs

    set_up_logs("info", "json")
    failure = Failure.from_error(error) if isinstance(error, LaconicError) else Failure.from_os(error)
    structlog.get_logger(__name__).error("cannot start", reason=failure.line, code=failure.document["code"])
    return failure.status


def _say(settings: Settings, text: str) -> None:
    if settings.log_format == "json":
        import structlog

        structlog.get_logger(__name__).warning(text)
    else:
        click.echo(text, err=True)


def _warn_of_role(settings: Settings, role: str) -> None:
    """The lock on its folder keeps any other server, and so any other upkeep, away from SQLite."""
    if role == "web" and engine_of(settings.effective_database_url) == "SQLite":
        _say(settings, "Without upkeep SQLite's log grows and grows: use --role all, or PostgreSQL.")


async def _prepare_database(settings: Settings) -> str | None:
    """Migrates it. The token of a set-up link while there is no user, for that decides the mode, too."""
    from laconic.storage.engines import migrate, open_database
    from laconic.workspaces.passwords import Passwords
    from laconic.workspaces.people.invitations import Invitations
    from laconic.workspaces.people.store import PeopleStore
    from laconic.workspaces.people.users import Users

    await migrate(settings.effective_database_url, settings.database_owner_url)
    database = await open_database(settings.owner_database_url)
    try:
        people = PeopleStore(database)
        return await Invitations(database, people, Users(database, people, Passwords())).set_up()
    finally:
        await database.close()


def _with_address(settings: Settings, port: int) -> Settings:
    base_url = settings.base_url or default_base_url(settings.host, port)
    return dataclasses.replace(settings, port=port, base_url=base_url)
