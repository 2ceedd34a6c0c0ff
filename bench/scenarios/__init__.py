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
    "journal": journal.measure,
    "pipeline": pipeline.measure,
    "killed": killed.measure,
    "create": create.measure,
    "bulk": bulk.measure,
    "codes": codes.measure,
    "cold": cold.measure,
    "lookups": lookups.measure,
    "tenants": tenants.measure,
    "memory": memory.measure,
    "quiet": quiet.measure,
    "start": start.measure,
    "ingest": ingest.measure,
    "agents": agents.measure,
    "analytics": analytics.measure,
    "mix": mix.measure,
    "unknown": unknown.measure,
    "reap": reap.measure,
}
