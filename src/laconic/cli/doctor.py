"""doctor: is everything as it should be, and what is to be done where it is not?"""

import asyncio
import dataclasses
from typing import TYPE_CHECKING

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.failures import REFUSED, visible
from laconic.errors import SettingInvalid

if TYPE_CHECKING:
    from laconic.settings import Settings
    from laconic.storage.examine import Finding

_MARKS = {"ok": ("ok", "green"), "warning": ("!!", "yellow"), "problem": ("XX", "red")}


@click.command()
@shared_options
@pass_call
def doctor(call: Call) -> int:
    """Look at settings, machine, database, Redis, backups and the way from the base URL; say what to do.

    It changes nothing and works beside a server. Exit status 1 when there is a problem; warnings alone are 0.

    \b
    Examples:
      laconic doctor
      laconic doctor --json
    """
    findings = _examine(call)
    worst = {finding.level for finding in findings}
    document = {
        "status": "problem" if "problem" in worst else "warning" if "warning" in worst else "ok",
        "findings": [dataclasses.asdict(finding) for finding in findings],
    }
    call.show(document, *(line for finding in findings for line in _lines(finding)))
    return REFUSED if "problem" in worst else 0


def _examine(call: Call) -> list["Finding"]:
    from laconic.storage.examine import Finding

    try:
        settings = call.settings()
    except SettingInvalid as error:
        return [Finding("settings", "problem", str(error), "Correct it; nothing starts before.")]
    return [*_settings(settings), *asyncio.run(_look(settings))]


async def _look(settings: "Settings") -> list["Finding"]:
    from laconic.cli.checkup.address import look_at_address
    from laconic.cli.checkup.machine import look_at_machine
    from laconic.cli.checkup.stores import look_at_backups, look_at_database, look_at_redis

    return [
        *look_at_machine(settings),
        *await look_at_database(settings),
        *await look_at_redis(settings),
        *look_at_backups(settings),
        *await asyncio.to_thread(lambda: list(look_at_address(settings))),
    ]


def _settings(settings: "Settings") -> list["Finding"]:
    """Those that are allowed and seldom meant."""
    from laconic.storage.examine import Finding

    found = []
    if settings.base_url.startswith("http://") and "localhost" not in settings.base_url:
        remedy = "Put a proxy with TLS in front and say https:// in LACONIC_BASE_URL."
        found.append(Finding("settings", "warning", f"{settings.base_url} has no TLS", remedy))
    if settings.open:
        remedy = "Take LACONIC_OPEN away unless strangers shall make links here."
        found.append(Finding("settings", "warning", "anyone may create links (LACONIC_OPEN)", remedy))
    if settings.code_length < 6:
        remedy = "Say LACONIC_CODE_LENGTH=7: codes this short run out, and can be guessed."
        found.append(Finding("settings", "warning", f"codes of {settings.code_length} characters", remedy))
    return found or [Finding("settings", "ok", "all settings are allowed")]


def _lines(finding: "Finding") -> list[str]:
    mark, colour = _MARKS[finding.level]
    lines = [f"{click.style(mark, fg=colour)}  {finding.subject:<18} {visible(finding.text)}"]
    return [*lines, f"    {'':<18} → {visible(finding.remedy)}"] if finding.remedy else lines
