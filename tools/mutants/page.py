"""docs/mutants.md, written anew from what was seen."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from tools.mutants.meet import ROOT, Mutant

_PAGE = ROOT / "docs" / "mutants.md"
_HEAD = "| code | mutants there are | met | equivalent | killed | survived | score |\n|---|---|---|---|---|---|---|"


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
    return (
        f"| `{outcome.name}` | {outcome.there:,} | {met} | {equivalent} | {killed} | {survived} | {score} |"
    )


def line_of(mutant: Mutant) -> str:
    was, becomes = (_code(text) for text in (mutant.was, mutant.becomes))
    return f"`{mutant.path.removeprefix('src/laconic/')}` {mutant.row}: {was} → {becomes} ({mutant.operator})"


def _code(text: str) -> str:
    """As Markdown has it: a text with backquotes stands between two of them."""
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else "nothing"


def write(outcomes: list[Outcome], command: str) -> None:
    before, begin, rest = _PAGE.read_text().partition("<!-- begin: ")
    label, arrow, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- end -->")
    survivors = [f"- {line_of(mutant)}" for outcome in outcomes for mutant in outcome.survivors]
    equivalent = [
        f"- {line_of(mutant)}: {reason}" for outcome in outcomes for mutant, reason in outcome.equivalent
    ]
    parts = [
        f"{datetime.now(UTC).date().isoformat()}, `{command}`.",
        "\n".join([_HEAD, *map(row_of, outcomes)]),
        "Mutants that no test noticed:",
        "\n".join(survivors) or "None.",
        "Mutants that are none, and were not run:",
        "\n".join(equivalent) or "None.",
    ]
    _PAGE.write_text(f"{before}{begin}{label}{arrow}\n" + "\n\n".join(parts) + f"\n\n{end}{after}")
