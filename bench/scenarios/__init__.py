"""What can be measured, in the order of a whole run: most telling first, what spoils the filled database last."""

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
    hot,
    ingest,
    journal,
    killed,
    lookups,
    memory,
    mix,
    pipeline,
    quiet,
    reap,
    start,
    tenants,
    unknown,
)

Scenario = Callable[[Run], Report]

SCENARIOS: dict[str, Scenario] = {
    "hit": hit.measure,
    "hot": hot.measure,
    "pipeline": pipeline.measure,
    "killed": killed.measure,
    "create": create.measure,
    "bulk": bulk.measure,
    "cold": cold.measure,
    "lookups": lookups.measure,
    "start": start.measure,
    "memory": memory.measure,
    "mix": mix.measure,
    "ingest": ingest.measure,
    "analytics": analytics.measure,
    "tenants": tenants.measure,
    "journal": journal.measure,
    "codes": codes.measure,
    "agents": agents.measure,
    "quiet": quiet.measure,
    "unknown": unknown.measure,
    "reap": reap.measure,
}
