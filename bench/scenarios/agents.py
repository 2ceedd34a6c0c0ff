"""What reading a click's headers costs ingest, and how well bots are told from people."""

import json
from pathlib import Path

from bench.report import Report, at_least, at_most
from bench.run import Run, say

_DATA = Path(__file__).parents[3] / "shared" / "data"
_MEBIBYTE = 1 << 20
_NAMES = {
    "agent": "user agent",
    "address": "address, 100,000 different ones",
    "referrer": "referrer",
    "language": "language",
}


def measure(run: Run) -> Report:
    report = Report("agents", "reading a click's headers, in a process of its own, CPU time")
    say("agents")
    programs, people = _user_agents("bots"), _user_agents("people")
    if not people:
        report.notes.append(
            f"{_DATA} is missing: bots are the list's own, and there are no people to be wrong about"
        )
        programs = _listed()
    files = run.file("programs", programs), run.file("people", people)
    client = run.client("enrich", "--programs", files[0], "--people", files[1])
    said = json.loads(client.result(seconds=300))
    for name, words in _NAMES.items():
        report.add(f"{words}: first time", [said[f"{name}_new"] * 1e6], "us")
        report.add(f"{words}: again", [said[f"{name}_known"] * 1e6], "us")
    report.add("visitor's hash", [said["visitor"] * 1e6], "us")
    report.add("loading", [said["load_seconds"]], "s")
    report.add("memory: libraries", [said["load_bytes"] / _MEBIBYTE], "MiB")
    report.add("memory: with all of these remembered", [said["full_bytes"] / _MEBIBYTE], "MiB")
    report.add(f"bots recognised, of {len(programs):,}", [100 * said["recall"]], "%", at_least(95))
    if people:
        report.add(f"people taken for bots, of {len(people):,}", [100 * said["wrong"]], "%", at_most(0.5))
    return report


def _user_agents(kind: str) -> list[str]:
    file = _DATA / f"user_agents_{kind}.jsonl"
    return [json.loads(line)["ua"] for line in file.read_text().splitlines()] if file.is_file() else []


def _listed() -> list[str]:
    from crawleruseragents import CRAWLER_USER_AGENTS_DATA

    return [text for crawler in CRAWLER_USER_AGENTS_DATA for text in crawler["instances"]]
