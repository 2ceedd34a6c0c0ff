"""The command `laconic`."""

import errno
import logging
import os
import sys
from collections.abc import Sequence

import click

from laconic import __version__
from laconic.cli.backup import backup, restore
from laconic.cli.call import shared_options
from laconic.cli.clicks import clicks
from laconic.cli.codes import codes
from laconic.cli.database import db
from laconic.cli.doctor import doctor
from laconic.cli.domains import domain
from laconic.cli.failures import INTERRUPTED, Failure
from laconic.cli.links import delete, edit, expand, list_links, shorten
from laconic.cli.moving import export_all, import_all
from laconic.cli.oversight import blocked, report, takedown
from laconic.cli.people import user
from laconic.cli.reap import reap
from laconic.cli.secrets import secrets
from laconic.cli.serve import serve
from laconic.cli.stats import stats
from laconic.cli.tenants import workspace
from laconic.cli.workspaces import key
from laconic.errors import LaconicError


class _InOrder(click.Group):
    """Lists its commands as they were added: what one needs first stands first."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="laconic", message="%(prog)s %(version)s")
@shared_options
def laconic() -> None:
    """A self-hosted URL shortener that loses nothing it has answered.

    \b
    The first minute:
      laconic serve                             http://localhost:8000, data in ./data
      laconic shorten https://example.com/      prints a short URL
      laconic list                              what there is

    Commands work beside a running server and without one. They read the same settings: LACONIC_… variables or
    laconic.toml. Exit status: 0 done, 1 refused, 2 not understood, 3 not available.
    """


for _command in (
    *(serve, shorten, expand, list_links, edit, delete, stats, clicks, export_all, import_all),
    *(domain, workspace, user, key, takedown, blocked, report, codes, db, reap),
    *(backup, restore, secrets, doctor),
):
    laconic.add_command(_command)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """The exit status. Whatever can be foreseen is told in a line."""
    try:
        try:
            _prepare_streams(arguments)
            # After Ctrl-C the loop complains of connections that were cut off. A server's logs are set up anew.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL)
            status = _invoke(arguments)
            sys.stdout.flush()
            return status
        except LaconicError as error:
            failure = Failure.from_error(error)
        except click.ClickException as error:
            failure = Failure.from_click(error)
        except (click.Abort, KeyboardInterrupt):
            return INTERRUPTED
        except BrokenPipeError:
            raise
        except OSError as error:
            failure = Failure.from_os(error)
            if error.errno == errno.ENOSPC:
                # It may have been the output's disk: what Python still holds back would fail again at the end.
                _drop_output()
        # Read from the arguments: whoever mistypes another option wants JSON all the same.
        failure.tell(as_json="--json" in arguments)
        return failure.status
    except BrokenPipeError:
        # The reader has seen enough, such as `head`. What Python still holds back has nowhere to go.
        _drop_output()
        return 0


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _invoke(arguments: Sequence[str]) -> int:
    """Without `laconic.main`, which words some failures by itself."""
    try:
        with laconic.make_context("laconic", list(arguments)) as context:
            status = laconic.invoke(context)
            return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
    except click.exceptions.Exit as done:
        # --help and --version have printed what was asked for.
        return done.exit_code
    return 0


def _prepare_streams(arguments: Sequence[str]) -> None:
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by whoever called. Its number must not be given to the next file that is opened.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its number, not a stack trace.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        "".join(arguments).encode()
    except UnicodeEncodeError:
        raise click.UsageError("The arguments are not valid UTF-8.") from None
