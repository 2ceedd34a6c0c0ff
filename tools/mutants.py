"""make mutants: breaks the code that must not break, a little at a time, and counts the breaks that no test notices.

In a copy of the tree, with cosmic-ray: a sample of all its mutants for each target, chosen by a seed, each met by the
target's own tests on SQLite. The score goes into docs/mutants.md, with every mutant that survived.
"""

import argparse
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mutants.md"
COSMIC_RAY = ROOT / ".venv-mutants" / "bin" / "cosmic-ray"


@dataclass(frozen=True)
class Target:
    name: str
    code: tuple[str, ...]
    tests: str
    seconds: int
    """Of one run of the tests, far above what it takes: a mutant that hangs is killed by it."""


TARGETS = (
    Target(
        "links/targets",
        ("src/laconic/links/targets.py",),
        "tests/links/test_targets.py tests/links/test_normalize.py",
        120,
    ),
    Target(
        "clicks/journal",
        ("src/laconic/clicks/journal.py",),
        "tests/clicks/test_journal.py",
        180,
    ),
    Target("codes", ("src/laconic/codes",), "tests/codes", 300),
    Target(
        "redirect",
        ("src/laconic/redirect",),
        "tests/redirect --ignore tests/redirect/test_propagation.py",
        300,
    ),
)
_CONFIGURATION = """
[cosmic-ray]
module-path = [{code}]
timeout = {seconds}.0
excluded-modules = []
test-command = {command!r}
[cosmic-ray.distributor]
name = "local"
"""
# Type hints are full of |, and mutants of them are no mutants of what runs.
_MEANINGLESS = "operator_name LIKE '%BitOr_%'"


@dataclass(frozen=True)
class Outcome:
    target: Target
    mutants: int
    killed: int
    met: int
    survivors: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants ARGS=…", description=__doc__)
    parser.add_argument("--sample", type=int, default=30, help="mutants of each target (default 30)")
    parser.add_argument("--minutes", type=float, default=30, help="no new target after that (default 30)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default 1)")
    parser.add_argument("targets", nargs="*", help=", ".join(target.name for target in TARGETS))
    asked = parser.parse_args()
    # As by Ctrl-C: the copy is removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {asked.seed}, {asked.sample} mutants of each target", flush=True)
    began = time.monotonic()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="laconic-mutants-") as place:
        tree = _copy(Path(place) / "tree")
        for target in TARGETS:
            if asked.targets and target.name not in asked.targets:
                continue
            if time.monotonic() - began > 60 * asked.minutes:
                print(f"{target.name}: left out, the time is up")
                continue
            outcomes.append(_meet(tree, target, asked.sample, asked.seed))
            print(_row(outcomes[-1]), *outcomes[-1].survivors, sep="\n", flush=True)
    if outcomes and not asked.targets:
        _write(outcomes, asked.sample, asked.seed)
    return 0


def _copy(tree: Path) -> Path:
    """What git knows of, so that no byte code and no data comes along."""
    tree.mkdir()
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, files.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    return tree


def _meet(tree: Path, target: Target, sample: int, seed: int) -> Outcome:
    options = "-x -q -p no:cacheprovider -p no:xdist -k 'not postgres'"
    command = f"{sys.executable} -m pytest {target.tests} {options}"
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    # A mutant counts as killed when the tests fail: they must not fail by themselves.
    subprocess.run(shlex.split(command), cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
    configuration, session = tree / "mutants.toml", tree / "mutants.sqlite"
    session.unlink(missing_ok=True)
    code = ", ".join(f'"{path}"' for path in target.code)
    configuration.write_text(_CONFIGURATION.format(code=code, seconds=target.seconds, command=command))
    _cosmic_ray(tree, environment, "init", configuration, session)
    mutants = _choose(session, sample, seed)
    _cosmic_ray(tree, environment, "exec", configuration, session)
    return _outcome(target, session, mutants)


def _cosmic_ray(tree: Path, environment: dict[str, str], *arguments: str | Path) -> None:
    subprocess.run([COSMIC_RAY, *arguments], cwd=tree, env=environment, check=True)


def _choose(session: Path, sample: int, seed: int) -> int:
    """Leaves as many as are asked for; says how many there were."""
    connection = sqlite3.connect(session)
    with connection:
        connection.execute(f"DELETE FROM mutation_specs WHERE {_MEANINGLESS}")
        order = "ORDER BY module_path, start_pos_row, start_pos_col, operator_name, occurrence"
        jobs = [job for (job,) in connection.execute(f"SELECT job_id FROM mutation_specs {order}")]
        kept = set(random.Random(seed).sample(jobs, min(sample, len(jobs))))
        for table in ("mutation_specs", "work_items"):
            every = [job for (job,) in connection.execute(f"SELECT job_id FROM {table}")]
            gone = [(job,) for job in every if job not in kept]
            connection.executemany(f"DELETE FROM {table} WHERE job_id = ?", gone)
    connection.close()
    return len(jobs)


def _outcome(target: Target, session: Path, mutants: int) -> Outcome:
    connection = sqlite3.connect(session)
    rows = connection.execute(
        "SELECT module_path, start_pos_row, operator_name, test_outcome FROM work_results"
        " JOIN mutation_specs USING (job_id) ORDER BY 1, 2"
    ).fetchall()
    connection.close()
    survivors = [
        f"- `{path.removeprefix('src/laconic/')}` line {line}: {operator.removeprefix('core/')}"
        for path, line, operator, outcome in rows
        if outcome == "SURVIVED"
    ]
    return Outcome(target, mutants, len(rows) - len(survivors), len(rows), survivors)


def _row(outcome: Outcome) -> str:
    share = 100 * outcome.killed / max(1, outcome.met)
    return (
        f"| `{outcome.target.name}` | {outcome.mutants:,} | {outcome.met} | {outcome.killed} |"
        f" {share:.0f} % | `{outcome.target.tests}` |"
    )


def _write(outcomes: list[Outcome], sample: int, seed: int) -> None:
    before, begin, rest = PAGE.read_text().partition("<!-- begin: ")
    label, arrow, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- end -->")
    command = f'make mutants ARGS="--sample {sample} --seed {seed}"'
    head = "| code | mutants there are | met | killed | score | tests |\n|---|---|---|---|---|---|"
    table = "\n".join([head, *map(_row, outcomes)])
    survivors = "\n".join(line for outcome in outcomes for line in outcome.survivors) or "None."
    text = f"{datetime.now(UTC).date().isoformat()}, `{command}`.\n\n{table}\n\nMutants that no test noticed:\n\n{survivors}"
    PAGE.write_text(f"{before}{begin}{label}{arrow}\n{text}\n\n{end}{after}")


if __name__ == "__main__":
    sys.exit(main())
