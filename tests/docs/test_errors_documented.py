"""docs/errors.md names every error code and reason with its true status, and none that is not there."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from laconic.links.targets import REASONS
from laconic.redirect.endpoint import Refusal
from laconic.redirect.model import GoneReason
from laconic.web.pages.refusals import show_refusal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text()


def told_to_programs() -> Iterator[tuple[str, str]]:
    """Code and status of every `Kind(status, code, title)` that is written anywhere in web/."""
    for file in (ROOT / "src" / "laconic" / "web").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="Kind"), args=[status, ast.Constant(value=str(code)), *_]):
                    yield code, str(status.value) if isinstance(status, ast.Constant) else "4xx"


def told_to_visitors() -> Iterator[tuple[str, str]]:
    reasons = [(400, "malformed"), (404, "unknown"), (405, "method"), (503, "unavailable")]
    for status, reason in reasons + [(410, reason) for reason in (*get_args(GoneReason), "blocked")]:
        _, body = show_refusal(Refusal(status, reason, "code"), False)
        document = json.loads(body)
        yield document["code"], str(document["status"])


def test_names_every_code_with_its_status() -> None:
    """Programs rely on codes, so people must be able to look them up."""
    rows = re.findall(r"^\| +`(\w+)` +\| ([^|]+)\|", PAGE, re.MULTILINE)
    documented = {(code, status) for code, cell in rows for status in re.findall(r"\b\d(?:\d\d|xx)\b", cell)}
    assert documented == {*told_to_programs(), *told_to_visitors()}


def test_names_every_reason_for_a_refused_url() -> None:
    """A reason is as stable as a code."""
    section = PAGE.partition("## Reasons of `url_refused`")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| +`(\w+)` +\|", section, re.MULTILINE)) == sorted(REASONS)
