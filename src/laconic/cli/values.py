"""Values of options and arguments, from text."""

import re
from datetime import datetime
from urllib.parse import urlsplit

import click

from laconic.cli.failures import CommandRefused
from laconic.clock import from_datetime
from laconic.codes.rules import POSSIBLE_CODE

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Duration(click.ParamType):  # type: ignore[type-arg]
    """Such as 90s, 15m, 12h or 30d; in seconds."""

    name = "duration"

    def convert(self, value: str, parameter: click.Parameter | None, context: click.Context | None) -> int:
        match = re.fullmatch(r"([0-9]{1,9})\s*([smhdw])", value.strip())
        if not match or int(match[1]) == 0:
            self.fail(f"{value!r} is no duration such as 90s, 15m, 12h or 30d.", parameter, context)
        return int(match[1]) * _SECONDS[match[2]]


class Moment(click.ParamType):  # type: ignore[type-arg]
    """Such as 2030-01-31T12:00:00Z; as a moment."""

    name = "time"

    def convert(self, value: str, parameter: click.Parameter | None, context: click.Context | None) -> int:
        try:
            parsed = datetime.fromisoformat(value.strip())
        except ValueError:
            parsed = None
        if parsed is None or parsed.tzinfo is None:
            self.fail(
                f"{value!r} is no time with its zone, such as 2030-01-31T12:00:00Z.", parameter, context
            )
        return from_datetime(parsed)


DURATION = Duration()
MOMENT = Moment()


def split_short_url(text: str) -> tuple[str, str]:
    """Host (empty when none is given) and code of `sale`, `/sale`, `go.example.com/sale` or `https://…/sale`."""
    text = text.strip()
    host, code = "", text
    if "/" in text:
        try:
            parts = urlsplit(text if "://" in text else f"//{text.removeprefix('//')}")
            host, code = parts.hostname or "", parts.path
        except ValueError:
            pass
    code = code.strip("/").removesuffix("+")
    if not POSSIBLE_CODE.fullmatch(code):
        raise CommandRefused("code_malformed", f"{text!r} is neither a code nor a short URL.")
    return host, code
