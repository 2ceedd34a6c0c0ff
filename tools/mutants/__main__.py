"""make mutants: breaks the code that must not break, a little at a time, and counts the breaks that no test notices.

In copies of the tree, with the mutants of cosmic-ray: a sample of those of each target, chosen by a seed, each met by the
tests of its file and then by those of its room, on SQLite. The score goes into docs/mutants.md, with every mutant that
survived and every one that is none.
"""

import argparse
import os
import queue
import shlex
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tools.mutants.choose import choose
from tools.mutants.equivalents import EQUIVALENT
from tools.mutants.meet import Known, Mutant, Tree
from tools.mutants.page import Outcome, line_of, row_of, write
from tools.mutants.targets import TARGETS, Target


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants ARGS=…", description=__doc__)
    parser.add_argument("--sample", type=int, default=80, help="mutants of each target (default 80)")
    parser.add_argument("--minutes", type=float, default=30, help="no new mutant after that (default 30)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default 1)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="at once (default: the cores)"
    )
    parser.add_argument(
        "--file", default="", help="only files whose path holds this; the page stays as it is"
    )
    parser.add_argument("targets", nargs="*", help=", ".join(target.name for target in TARGETS))
    asked = parser.parse_args()
    # As by Ctrl-C: the copies are removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    targets = [target for target in TARGETS if not asked.targets or target.name in asked.targets]
    print(f"seed {asked.seed}, {asked.sample} mutants of each target", flush=True)
    began = time.monotonic()
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="laconic-mutants-")))
        known = Known()
        trees = [stack.enter_context(Tree(place / f"tree{number}", known)) for number in range(asked.workers)]
        for number, target in enumerate(targets):
            # What one leaves of its share is the next ones'.
            share = (60 * asked.minutes - (time.monotonic() - began)) / (len(targets) - number)
            there, chosen = choose(target, asked.sample, asked.seed)
            chosen = [mutant for mutant in chosen if asked.file in mutant.path]
            outcome = _meet(trees, target, there, chosen, time.monotonic() + share)
            print(target.name, row_of(outcome), flush=True)
            if not asked.file:
                write(outcome, shlex.join(["make", "mutants", f"ARGS={shlex.join(sys.argv[1:])}"]))
    return 0


def _meet(trees: list[Tree], target: Target, there: int, chosen: list[Mutant], deadline: float) -> Outcome:
    outcome = Outcome(target.name, there)
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        tree.load(target)
        free.put(tree)

    def meet(mutant: Mutant) -> None:
        reason = EQUIVALENT.get((mutant.path.removeprefix("src/laconic/"), mutant.becomes))
        if time.monotonic() > deadline:
            return
        if reason is not None:
            outcome.equivalent.append((mutant, reason))
            return
        tree = free.get()
        try:
            began = time.monotonic()
            killed = tree.is_killed(target, mutant)
            took = time.monotonic() - began
        finally:
            free.put(tree)
        (outcome.killed if killed else outcome.survivors).append(mutant)
        print(f"{took:4.1f} s {'killed' if killed else 'SURVIVED'}: {line_of(mutant)}", flush=True)

    with ThreadPoolExecutor(len(trees)) as pool:
        list(pool.map(meet, chosen))
    return outcome


if __name__ == "__main__":
    sys.exit(main())
