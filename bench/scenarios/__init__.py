"""What can be measured, in the order of a whole run."""

from collections.abc import Callable

from bench.report import Report
from bench.run import Run
from bench.scenarios import (
    agents,
    analytics,
    bulk,
    codes,
    cold,
    create,
    hit,
    ingest,
    journal,
    memory,
    quiet,
    reap,
    start,
    unknown,
)

Scenario = Callable[[Run], Report]

SCENARIOS: dict[str, Scenario] = {
    "hit": hit.measure,
    "journal": journal.measure,
    "create": create.measure,
    "bulk": bulk.measure,
    "codes": codes.measure,
    "cold": cold.measure,
    "memory": memory.measure,
    "quiet": quiet.measure,
    "start": start.measure,
    "ingest": ingest.measure,
    "agents": agents.measure,
    "analytics": analytics.measure,
    "unknown": unknown.measure,
    "reap": reap.measure,
}
