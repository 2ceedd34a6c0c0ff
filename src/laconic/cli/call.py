"""What every command is given: the options that all share, the settings, and the services on request."""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from laconic.cli.address import default_base_url, last_base_url
from laconic.settings import Settings, read_settings

if TYPE_CHECKING:
    from laconic.wiring import Services

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)


@dataclass
class Call:
    """What was said of the options that every command takes, before or after its name."""

    data: str | None = None
    json: bool = False

    def settings(self, **said: Any) -> Settings:
        """With the base URL of the server that works on this data folder, or last did."""
        settings = read_settings(data=self.data, **said)
        known = settings.base_url or last_base_url(Path(settings.data))
        return dataclasses.replace(settings, base_url=known or default_base_url(settings.host, settings.port))

    def run(self, work: Callable[["Services"], Awaitable[T]]) -> T:
        """Does `work` on the database, which is made or brought to this release's schema first, as by a server."""
        from laconic.storage.engines import migrate
        from laconic.wiring import open_services

        settings = self.settings()

        async def run() -> T:
            await migrate(settings.effective_database_url, settings.database_owner_url)
            async with open_services(settings, pooled=False) as services:
                return await work(services)

        return asyncio.run(run())

    def show(self, document: Any, *lines: str) -> None:
        """The result: a JSON document for programs, lines for people."""
        if self.json:
            click.echo(json.dumps(document, ensure_ascii=False))
        else:
            for line in lines:
                click.echo(line)


pass_call = click.make_pass_decorator(Call, ensure=True)


def _said_data(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.ensure_object(Call).data = value


def _said_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Call).json = True


def shared_options(command: Command) -> Command:
    """--data and --json."""
    data = click.option(
        "--data",
        metavar="DIR",
        expose_value=False,
        callback=_said_data,
        help="The data folder. Default: LACONIC_DATA, or ./data.",
    )
    as_json = click.option(
        "--json", is_flag=True, expose_value=False, callback=_said_json, help="Results and errors as JSON."
    )
    return data(as_json(command))
