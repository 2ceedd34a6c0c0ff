"""docs/settings.md names every setting there is, with its true default, and none that is not."""

import ast
import dataclasses
import re
from pathlib import Path

import pytest

from laconic import settings
from laconic.clock import DAY, HOUR, MINUTE, SECOND

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "settings.md"
NOT_YET = "Not in effect yet."
ROW = re.compile(r"^\| +`(LACONIC_\w+)` +\| +(?:`(.*?)`)? *\| +(.+) \|$", re.MULTILINE)


def documented() -> dict[str, str]:
    """Name to default, as the page has them."""
    return {name: default or "" for name, default, _ in ROW.findall(PAGE.read_text())}


def as_written(known: "dataclasses.Field[object]") -> str:
    """A default in the form in which an operator would write it."""
    default = known.default
    if isinstance(default, bool):
        return str(default).lower()
    if known.metadata["parse"] is settings._duration and isinstance(default, int):
        if default == 0:
            return "0s"
        for unit, letter in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")):
            if default % unit == 0:
                return f"{default // unit}{letter}"
    return ",".join(default) if isinstance(default, tuple) else str(default)


def test_names_every_setting_and_no_other() -> None:
    """A setting that no page names cannot be found, and a name without a setting stops the start."""
    assert sorted(documented()) == sorted(settings.NAMES)


@pytest.mark.parametrize("name", settings.NAMES)
def test_tells_the_true_default(name: str) -> None:
    """An operator who leaves a setting out gets what the page says."""
    assert documented()[name] == as_written(settings.NAMES[name])


@pytest.mark.parametrize("name", settings.NAMES)
def test_the_default_is_accepted_when_said(name: str, tmp_path: Path) -> None:
    """Whoever copies the default from the page into a variable gets the same settings."""
    default = documented()[name]
    if default:
        said = settings.read_settings({name: default}, folder=tmp_path)
        assert said == settings.read_settings({}, folder=tmp_path)


def used() -> set[str]:
    """Fields that the program reads: `settings.NAME`, whatever holds the settings."""
    page = ROOT / "src" / "laconic" / "settings.py"
    files = [file for file in (ROOT / "src").rglob("*.py") if file != page]
    own = ast.parse(page.read_text())
    found = set()
    for tree in [own, *(ast.parse(file.read_text()) for file in files)]:
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
                    if owner.strip("_") == "settings" or (tree is own and owner == "self"):
                        found.add(name)
    return found


def test_says_which_settings_have_no_effect_yet() -> None:
    """A setting that is accepted and does nothing would be believed."""
    marked = {name for name, _, meaning in ROW.findall(PAGE.read_text()) if meaning.endswith(NOT_YET)}
    read = used()  # once: it parses every file
    assert marked == {name for name, known in settings.NAMES.items() if known.name not in read}
