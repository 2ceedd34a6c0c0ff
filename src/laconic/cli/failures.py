"""How a command says that it did not work: one line on standard error, and an exit status that programs can rely on.

0  done
1  refused: the code is taken, there is no such link, the URL may not be a target …
2  the command was not understood, or a setting is wrong
3  not available: the database, the data folder or the port cannot be used now
"""

import json
from dataclasses import dataclass
from typing import Any

import click

from laconic.errors import (
    BackupUnusable,
    CannotStart,
    DatabaseTooNew,
    DataFolderInUse,
    LaconicError,
    Refused,
    SettingInvalid,
)

REFUSED = 1
USAGE = 2
UNAVAILABLE = 3
INTERRUPTED = 130

# What only commands can meet; the rest has the code and title of the API's problem documents.
_STARTS: dict[type[CannotStart], tuple[str, str]] = {
    SettingInvalid: ("setting_invalid", "A setting is not allowed"),
    DatabaseTooNew: ("database_too_new", "The database was made by a later release"),
    DataFolderInUse: ("data_folder_in_use", "The data folder cannot be used"),
    BackupUnusable: ("backup_unusable", "The backup cannot be used"),
    CannotStart: ("cannot_start", "Laconic cannot start"),
}


class CommandRefused(click.ClickException):
    """Something that a command itself refuses; `code` is as stable as those of the API."""

    exit_code = REFUSED

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Failure:
    """What is said of a command that did not work."""

    status: int
    line: str
    document: dict[str, Any]

    @classmethod
    def from_error(cls, error: LaconicError) -> "Failure":
        return cls(_status_of(error), str(error), _document_of(error))

    @classmethod
    def from_click(cls, error: click.ClickException) -> "Failure":
        line = error.format_message()
        if isinstance(error, CommandRefused):
            return cls(REFUSED, line, _plain_document(error.code, "Refused", line))
        hint = (
            f" See {error.ctx.command_path} --help."
            if isinstance(error, click.UsageError) and error.ctx
            else ""
        )
        return cls(USAGE, line + hint, _plain_document("usage", "The command was not understood", line))

    @classmethod
    def from_os(cls, error: OSError) -> "Failure":
        what = error.strerror or str(error)
        line = f"{error.filename}: {what}." if error.filename else f"{what}."
        return cls(UNAVAILABLE, line, _plain_document("unavailable", "The system refused", line))

    def tell(self, *, as_json: bool) -> None:
        if as_json:
            click.echo(json.dumps(self.document, ensure_ascii=False), err=True)
        else:
            click.echo(f"{click.style('laconic:', fg='red')} {visible(self.line)}", err=True)


def visible(text: str) -> str:
    """On one line and without control characters: what others wrote must not drive the terminal."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def _status_of(error: LaconicError) -> int:
    if isinstance(error, Refused):
        return REFUSED
    return USAGE if isinstance(error, SettingInvalid) else UNAVAILABLE


def _document_of(error: LaconicError) -> dict[str, Any]:
    for kind, (code, title) in _STARTS.items():
        if isinstance(error, kind):
            return _plain_document(code, title, str(error))
    # Here and not above: the web framework takes a while to import, and most commands go well.
    from laconic.web.api.problems import document_of

    return document_of(error)


def _plain_document(code: str, title: str, detail: str) -> dict[str, Any]:
    return {"type": f"urn:laconic:problem:{code}", "title": title, "detail": detail, "code": code}
