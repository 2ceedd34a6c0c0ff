"""docs/mutants.md, where each target has its part, written anew from what was seen."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tools.mutants.meet import ROOT, Mutant

_PAGE = ROOT / "docs" / "mutants.md"
_HEAD = "| mutants there are | met | equivalent | killed | survived | score |\n|---|---|---|---|---|---|"


@dataclass
class Outcome:
    name: str
    there: int
    killed: list[Mutant] = field(default_factory=list)
    survivors: list[Mutant] = field(default_factory=list)
    equivalent: list[tuple[Mutant, str]] = field(default_factory=list)


def row_of(outcome: Outcome) -> str:
    killed, survived, equivalent = len(outcome.killed), len(outcome.survivors), len(outcome.equivalent)
    score = f"{100 * killed / (killed + survived):.0f} %" if killed + survived else "–"
    met = killed + survived + equivalent
    return f"| {outcome.there:,} | {met} | {equivalent} | {killed} | {survived} | {score} |"


def line_of(mutant: Mutant) -> str:
    was, becomes = (_code(text) for text in (mutant.was, mutant.becomes))
    return f"`{mutant.path.removeprefix('src/laconic/')}` {mutant.row}: {was} → {becomes}"


def _code(text: str) -> str:
    """As Markdown has it: a text with backquotes stands between two of them."""
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else "nothing"


def write(outcome: Outcome, command: str) -> None:
    """Puts the target's part in the place of the one before."""
    begin, end = f"<!-- begin: {outcome.name} -->", f"<!-- end: {outcome.name} -->"
    before, _, rest = _PAGE.read_text().partition(begin)
    after = rest.partition(end)[2]
    parts = [f"{datetime.now(UTC).date().isoformat()}, `{command}`", f"{_HEAD}\n{row_of(outcome)}"]
    if outcome.survivors:
        parts += ["No test noticed:", _list(line_of(mutant) for mutant in outcome.survivors)]
    if outcome.equivalent:
        parts += [
            "Equivalent, and therefore not run:",
            _list(f"{line_of(mutant)}: {reason}" for mutant, reason in outcome.equivalent),
        ]
    _PAGE.write_text(before + "\n\n".join([begin, *parts, end]) + after)


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in sorted(lines))
