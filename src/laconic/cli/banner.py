"""What `laconic serve` says once it answers: where, for whom, on which data, and what to try next."""

import json
import os
import shlex
import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from laconic import __version__
from laconic.cli.address import is_wildcard
from laconic.cli.places import engine_of, own_command, place_of_database
from laconic.settings import Settings
from laconic.web.api.authentication import is_loopback, may_be_open

_WIDEST = 96
_LABEL_WIDTH = 8


@dataclass(frozen=True, slots=True)
class Mode:
    """Who may do what, and why."""

    name: str
    who: str
    why: str

    @classmethod
    def from_settings(cls, settings: Settings, *, has_users: bool) -> "Mode":
        if may_be_open(settings) and not has_users:
            return cls(
                "open",
                "whoever calls from this machine may do everything, without a key",
                f"the server listens on {settings.host} only, and there is no user yet",
            )
        if settings.open:
            return cls(
                "public-create",
                f"anyone may create links ({settings.rate_create} for each address), everything else needs an API key",
                "LACONIC_OPEN is set",
            )
        return cls(
            "closed",
            "short links work for everyone, everything else needs an API key",
            _why_closed(settings),
        )


def _why_closed(settings: Settings) -> str:
    if not is_loopback(settings.host):
        return f"the server listens on {settings.host}, where others can reach it"
    if not is_loopback(urlsplit(settings.base_url).hostname or ""):
        return f"people come by {settings.base_url}, so there is a proxy in front"
    return "LACONIC_TRUSTED_PROXIES is set" if settings.trusted_proxies else "there are users"


@dataclass(frozen=True, slots=True)
class Banner:
    """`settings` are those that the server runs with: its real port, its base URL."""

    settings: Settings
    mode: Mode
    role: str
    # While there is no user: the token of the link that makes the first one.
    set_up_token: str | None = None

    @property
    def set_up_url(self) -> str | None:
        if self.set_up_token is None or self.role == "background":
            return None
        return f"{self.settings.base_url}/dashboard/set-up/{self.set_up_token}"

    def document(self) -> dict[str, str | int | None]:
        return {
            "version": __version__,
            "pid": os.getpid(),
            "role": self.role,
            "base_url": self.settings.base_url,
            "host": self.settings.host,
            "port": self.settings.port,
            "mode": self.mode.name,
            "set_up_url": self.set_up_url,
            "data": str(Path(self.settings.data).resolve()),
            "engine": engine_of(self.settings.effective_database_url),
            "database": place_of_database(self.settings.effective_database_url),
        }

    def show(self, *, as_json: bool) -> None:
        """A reader that has gone away is no reason to stop serving."""
        try:
            click.echo(json.dumps(self.document(), ensure_ascii=False) if as_json else self.text())
        except OSError:
            pass

    def text(self) -> str:
        title = click.style(f"Laconic {__version__}", bold=True)
        if self.role == "background":
            return "\n".join(["", f"  {title} cleans up in the background.", "", *self._data(), *_stop(), ""])
        address = click.style(self.settings.base_url, fg="cyan", underline=True)
        lines = [
            "",
            f"  {title} answers at {address}",
            "",
            *self._mode(),
            *self._data(),
            *self._set_up(),
            *self._try(),
            *_stop(),
            "",
        ]
        return "\n".join(lines)

    def _mode(self) -> list[str]:
        return _sentence("Mode", f"{self.mode.name}: {self.mode.who} ({self.mode.why}).", lead=self.mode.name)

    def _set_up(self) -> list[str]:
        if self.set_up_url is None:
            return []
        text = f"{self.set_up_url} makes the first user, once, within a day."
        return _sentence("Set up", text)

    def _data(self) -> list[str]:
        url = self.settings.effective_database_url
        folder = str(Path(self.settings.data).resolve())
        if engine_of(url) == "SQLite":
            place = place_of_database(url)
            inside = str(Path(place).parent) == folder
            return _sentence("Data", f"{folder if inside else place} (SQLite)")
        return _sentence("Data", f"PostgreSQL at {place_of_database(url)}; click journals in {folder}")

    def _try(self) -> list[str]:
        base_url = self.settings.base_url
        lines: list[str] = []
        create = [f"curl -s {base_url}/shorten -H 'Content-Type: application/json' \\"]
        if self.mode.name == "closed":
            lines.append(f"KEY=$({self._command('key create first')})")
            create.append('  -H "Authorization: Bearer $KEY" \\')
        lines += [*create, '  -d \'{"url": "https://example.com/"}\'']
        if self.mode.name == "open":
            lines.append(self._command("shorten https://example.com/"))
        label = click.style(f"{'Try':<{_LABEL_WIDTH}}", dim=True)
        indent = " " * (2 + _LABEL_WIDTH)
        told = [
            f"  {label}{lines[0]}",
            *(indent + line for line in lines[1:]),
            f"{indent}{base_url}/ in a browser",
        ]
        return ["", *told, *self._hint(), ""]

    def _hint(self) -> list[str]:
        if is_wildcard(self.settings.host) and is_loopback(urlsplit(self.settings.base_url).hostname or ""):
            text = "set LACONIC_BASE_URL to the address that people use: short URLs begin with it."
            return ["", *_sentence("Note", text)]
        return []

    def _command(self, words: str) -> str:
        """With the data folder, where another one would be looked at otherwise."""
        data = self.settings.data
        option = "" if data == "data" else f" --data {shlex.quote(data)}"
        return f"{shlex.quote(own_command())}{option} {words}"


def _stop() -> list[str]:
    return _sentence("Stop", "Ctrl-C")


def _sentence(label: str, text: str, *, lead: str = "") -> list[str]:
    """Wrapped beside its label; `lead` is the word to see first."""
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST) - 2 - _LABEL_WIDTH
    first, *rest = textwrap.wrap(text, max(width, 30), break_long_words=False, break_on_hyphens=False)
    if lead:
        first = click.style(lead, bold=True) + first.removeprefix(lead)
    shown = click.style(f"{label:<{_LABEL_WIDTH}}", dim=True)
    return [f"  {shown}{first}", *(" " * (2 + _LABEL_WIDTH) + line for line in rest)]
