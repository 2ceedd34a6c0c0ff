"""python -m bench"""

import signal
import sys
import time
import traceback
from types import FrameType
from typing import Any

from bench import benchmarks_page, growth_page, machine, published, readme_table, report
from bench.options import Options, parse
from bench.processes import DidNotStart
from bench.run import open_run
from bench.scenarios import SCENARIOS
from bench.tools import ToolMissing
from tests.servers import ServerFailed, ServerMissing


def main() -> int:
    options = parse(sys.argv[1:], list(SCENARIOS))
    signal.signal(signal.SIGTERM, _leave)
    try:
        failed = _measure(options)
    except (ToolMissing, DidNotStart, ServerMissing, ServerFailed) as error:
        print(f"The benchmark cannot go on: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    if failed:
        print(f"Not measured: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _measure(options: Options) -> list[str]:
    """The names of scenarios that broke off: one that does spoils no other."""
    began = time.monotonic()
    failed = []
    last_time = published.read()
    with open_run(options) as run:
        described = {**machine.describe(run.folder), **_how(options)}
        print(machine.as_text(described), flush=True)
        reports = []
        for name in options.scenarios:
            kept = last_time.get(published.name(name, options.label), {"took_seconds": 0})
            expected = kept["took_seconds"]
            if time.monotonic() - began + expected > options.minutes * 60:
                print(f"{name}: left out, for it would end after {options.minutes} minutes\n", flush=True)
                continue
            begun = time.monotonic()
            try:
                reports.append(SCENARIOS[name](run))
            except (ToolMissing, ServerMissing):
                raise
            except Exception:
                traceback.print_exc()
                failed.append(name)
                continue
            print(reports[-1].as_text(), flush=True)
            if options.publishes:
                took = time.monotonic() - begun
                published.keep(reports[-1], described, options.command, took, options.label)
                benchmarks_page.write()
                growth_page.write()
                readme_table.write()
            if options.json:
                report.write_json(options.json, described, reports)
    return failed


def _how(options: Options) -> dict[str, Any]:
    return {
        "engine": options.engine,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "pinned": options.is_pinned,
    }


def _leave(number: int, frame: FrameType | None) -> None:
    """As by Ctrl-C: everything that was started is stopped on the way out."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
