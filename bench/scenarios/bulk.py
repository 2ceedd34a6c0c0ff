"""One request that makes a million links, its results read as they come."""

from bench.report import Report, at_least, at_most
from bench.run import Run


def measure(run: Run) -> Report:
    filled = run.filled
    bulk = filled.bulk
    report = Report(
        "bulk", f"NDJSON of {bulk.asked:,} links in one request, {run.options.engine}, every result durable"
    )
    report.add("links/s", [len(bulk.codes) / bulk.seconds], target=at_least(30_000))
    report.add("seconds", [bulk.seconds], "s")
    report.add("CPU a link, web worker", [bulk.cpu.answering / bulk.asked * 1e6], "µs")
    report.add("CPU a link, all processes", [bulk.cpu.all / bulk.asked * 1e6], "µs")
    report.add("client busy, of one core", [bulk.client_share])
    report.add("results other than 201", [bulk.asked - len(bulk.codes)], target=at_most(0))
    rows = set(filled.store.codes())
    report.add("answered and not in the database", [len(set(bulk.codes) - rows)], target=at_most(0))
    return report
