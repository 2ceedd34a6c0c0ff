"""A deployment on one machine under mixed load: nodes restarted one by one, one killed, PostgreSQL failed over.

Prints what each step cost, and in the end what was lost of what had been answered.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from bench.scale.story import tell


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--web-nodes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1, help="how often every node is restarted")
    parser.add_argument("--visitors", type=int, default=8)
    parser.add_argument("--notice-seconds", type=float, default=2.0, help="from the loss to the promotion")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="laconic-scale-") as name:
        folder = Path(name)
        # nginx's worker is another user when its master is root.
        folder.chmod(0o755)
        outcome = tell(folder, say, **vars(options))
    for line in outcome.verdict.lines():
        say(line)
    return 0 if outcome.verdict.is_good and not any(outcome.statuses) else 1


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
