"""Every metric there is. docs/metrics.md says the same for people, and a test compares the two."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

from laconic.links.targets import REASONS
from laconic.redirect.spread import BOUNDS

Labels = tuple[str, ...]

# Durations are sorted by the number of their bits in microseconds, which costs the lane next to nothing: so every
# bound is a power of two. The first holds all below 64 us, the last finite one ends at 16.8 s.
FIRST_BITS, LAST_BITS = 6, 24
DURATION_BOUNDS = tuple((1 << bits) / 1_000_000 for bits in range(FIRST_BITS, LAST_BITS + 1))

CLASSES = (
    *("redirect", "create", "bulk", "stream", "analytics", "api", "admin"),
    *("preview", "page", "watch", "refused"),
)
STATUSES = (
    *("200", "201", "202", "204", "206", "301", "302", "303", "304", "307", "308"),
    *(
        "400",
        "401",
        "403",
        "404",
        "405",
        "406",
        "408",
        "409",
        "410",
        "411",
        "412",
        "413",
        "414",
        "415",
        "416",
    ),
    *("422", "428", "429", "431", "500", "501", "502", "503", "504", "other"),
)
# Shown from the start, so that the first one is seen as a step and not as a beginning.
FAILURES = frozenset({"500", "503"})
BREAKERS = ("database", "redis", "redis_writes")
POOLS = ("hot", "general", "tenants", "reader", "writer")
LIMITS = ("create", "api", "proof", "report", "scarce_codes")


@dataclass(frozen=True)
class Metric:
    """`values` are all that the labels can be: a page has a place for each."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: Labels = ()
    values: tuple[Labels, ...] = ((),)
    combine: Literal["sum", "max"] = "sum"
    """How the pages of several processes become one number."""
    by_process: bool = False
    """Each process's number is shown by itself, with the label `process`."""
    regional: bool = False
    """Shown with the label `region`."""
    sparse: bool = False
    """Series that were never counted are not shown."""
    bounds: tuple[float, ...] = ()

    @cached_property
    def width(self) -> int:
        """Numbers of one series: for a histogram a count for each bound, one beyond, and the sum."""
        return len(self.bounds) + 2 if self.kind == "histogram" else 1

    @cached_property
    def shown_labels(self) -> Labels:
        return ("region",) * self.regional + ("process",) * self.by_process + self.labels


def _each(*values: Labels) -> tuple[Labels, ...]:
    return tuple(product(*values))


# Requests.
REQUESTS = Metric(
    "laconic_requests_total",
    "counter",
    "Requests answered, by class of route and status.",
    ("class", "status"),
    _each(CLASSES, STATUSES),
    sparse=True,
)
DURATION = Metric(
    "laconic_request_duration_seconds",
    "histogram",
    "From a request's head being read to its answer being handed to the socket.",
    ("class",),
    _each(CLASSES),
    bounds=DURATION_BOUNDS,
)
CONNECTIONS = Metric("laconic_connections", "gauge", "Open client connections.")
RATE_LIMITED = Metric(
    "laconic_rate_limited_total", "counter", "Requests refused with 429.", ("limit",), _each(LIMITS)
)
UNSHARED = Metric(
    "laconic_rate_limit_unshared_total",
    "counter",
    "Requests counted by one machine alone, because Redis did not answer: the limit let more through.",
    ("limit",),
    _each(LIMITS),
)
FAILING_OPEN = Metric(
    "laconic_rate_limit_failing_open",
    "gauge",
    "1 while rate limits that should be shared are counted by each machine alone.",
    ("limit",),
    _each(LIMITS),
    combine="max",
)

# Cache.
CACHE = Metric(
    "laconic_cache_requests_total",
    "counter",
    "Questions to each tier and how they ended.",
    ("tier", "result"),
    (
        *(("memory", "hit"), ("memory", "miss")),
        *(("shared", "hit"), ("shared", "miss"), ("shared", "too_old"), ("shared", "away")),
        *(("database", "read"),),
    ),
)
EVICTIONS = Metric(
    "laconic_cache_evictions_total",
    "counter",
    "Entries that made room for others.",
    ("tier",),
    (("memory",),),
)
ENTRIES = Metric(
    "laconic_cache_entries", "gauge", "Entries, of all workers together.", ("tier",), (("memory",),)
)
CACHE_BYTES = Metric(
    "laconic_cache_bytes", "gauge", "What they take, of all workers together.", ("tier",), (("memory",),)
)
STALE = Metric(
    "laconic_cache_stale_answers_total",
    "counter",
    "Answers from memory past their time, because the database was away.",
)
UNWRITTEN = Metric("laconic_cache_unwritten_total", "counter", "Writes that the shared tier never got.")
PROPAGATION = Metric(
    "cache_propagation_seconds",
    "histogram",
    "From a link's change until a worker knows of it.",
    bounds=BOUNDS,
)

# Codes.
POOL_SIZE = Metric(
    "kgs_pool_size", "gauge", "Codes that are ready for any worker.", regional=True, combine="max"
)
POOL_MIN_SIZE = Metric(
    "kgs_pool_min_size", "gauge", "Codes that should be ready.", regional=True, combine="max"
)
EXHAUSTION = Metric(
    "kgs_pool_exhaustion_risk",
    "gauge",
    "Minutes until the pool is empty at the current rate; +Inf while nobody takes from it.",
    regional=True,
    combine="max",
)
ALLOCATED = Metric(
    "kgs_allocation_rate_total",
    "counter",
    "Codes that processes of this machine took, by where from.",
    ("status",),
    (("shared",), ("durable",), ("cursor",)),
    regional=True,
)
GENERATED = Metric(
    "kgs_generation_rate_total",
    "counter",
    "Codes ever made in this region, by the whole deployment.",
    regional=True,
    combine="max",
)
CONFLICTS = Metric("code_conflicts_total", "counter", "Generated codes that were taken already.")
REFUSED_TARGETS = Metric(
    "laconic_targets_refused_total",
    "counter",
    "URLs that may not be targets, by reason.",
    ("reason",),
    (*_each(REASONS), ("too_long",)),
)

# Clicks.
UNRECORDED = Metric(
    "laconic_clicks_unrecorded_total", "counter", "Redirects answered whose click could not be journaled."
)
SYNC_ERRORS = Metric(
    "laconic_journal_sync_errors_total", "counter", "Times that the journal could not be put on the disk."
)
JOURNAL_BYTES = Metric(
    "laconic_journal_bytes", "gauge", "Journals on this machine, preallocated room included."
)
SKIPPED_BYTES = Metric(
    "laconic_journal_skipped_bytes_total", "counter", "Bytes of damaged records that ingest passed over."
)
FOREIGN_SEGMENTS = Metric(
    "laconic_journal_foreign_segments_total",
    "counter",
    "Journal files of another release's format, left alone.",
)
LAG = Metric(
    "laconic_ingest_lag_seconds", "gauge", "Age of the oldest click that is in no report yet.", combine="max"
)
APPLIED = Metric("laconic_ingest_clicks_total", "counter", "Clicks that this machine's ingest has applied.")
ORPHANS = Metric(
    "laconic_ingest_unknown_links_total", "counter", "Clicks of links that the database does not know."
)
CLAMPED = Metric("laconic_ingest_clamped_total", "counter", "Clicks whose time lay ahead of the clock.")

# The installation, read from the database.
LINKS = Metric(
    "laconic_links", "gauge", "Links of the whole installation.", ("state",), (("all",), ("live",))
)
LINKS_CREATED = Metric("laconic_links_created_24h", "gauge", "Links made in the last 24 hours.")
CLICKS = Metric(
    "laconic_clicks_total",
    "counter",
    "Clicks counted by the whole installation.",
    ("kind",),
    (("all",), ("bot",)),
    combine="max",
)
CLEANUP_RUNS = Metric(
    "laconic_cleanup_runs_total",
    "counter",
    "Runs of the reaper.",
    ("outcome",),
    (("ok",), ("failed",)),
    combine="max",
)
CLEANED = Metric(
    "laconic_cleanup_links_total", "counter", "Links that the reaper has retired.", combine="max"
)
CLEANUP_BATCH = Metric("laconic_cleanup_last_batch_size", "gauge", "Links in the reaper's last step.")
CLEANUP_TIME = Metric(
    "laconic_cleanup_last_timestamp_seconds", "gauge", "When the last run of the reaper ended."
)
CLEANUP_AVERAGE = Metric("laconic_cleanup_average_seconds", "gauge", "How long its good runs take.")
CLEANUP_RUNNING = Metric("laconic_cleanup_running", "gauge", "1 while the reaper works.")
DATABASE_BYTES = Metric(
    "laconic_database_bytes",
    "gauge",
    "Size on disk.",
    ("part",),
    (("database",), ("clicks",), ("wal",)),
)
HEALTHY = Metric("laconic_healthy", "gauge", "As GET /health says: 1 healthy, 0.5 degraded, 0 unhealthy.")

# What it leans on.
BREAKER_STATE = Metric(
    "laconic_breaker_state",
    "gauge",
    "0 closed, 1 half-open, 2 open: the worst of this machine's processes.",
    ("breaker",),
    _each(BREAKERS),
    combine="max",
)
BREAKER_OPENED = Metric(
    "laconic_breaker_opened_total", "counter", "Times that a breaker opened.", ("breaker",), _each(BREAKERS)
)
BREAKER_REFUSED = Metric(
    "laconic_breaker_refused_total",
    "counter",
    "Calls refused while it was open.",
    ("breaker",),
    _each(BREAKERS),
)
DATABASE_CONNECTIONS = Metric(
    "laconic_database_connections",
    "gauge",
    "Connections of this machine's processes.",
    ("pool", "state"),
    _each(POOLS, ("open", "busy", "most")),
)
SLOW = Metric("laconic_slow_queries_total", "counter", "Statements that took more than 100 ms.")

# Processes.
BUILD = Metric(
    "laconic_build_info", "gauge", "Always 1; the labels say what runs.", ("version", "python", "engine"), ()
)
STARTS = Metric(
    "laconic_process_starts_total",
    "counter",
    "Starts since the supervisor's, the first included.",
    by_process=True,
)
UP = Metric(
    "laconic_process_up",
    "gauge",
    "1 while the process does its work, 0 until it is started again.",
    by_process=True,
)
CPU = Metric("laconic_process_cpu_seconds_total", "counter", "CPU time used.", by_process=True)
MEMORY = Metric("laconic_process_resident_bytes", "gauge", "Memory held.", by_process=True)
OPEN_FILES = Metric("laconic_process_open_files", "gauge", "File descriptors in use.", by_process=True)
MAX_FILES = Metric("laconic_process_max_files", "gauge", "File descriptors allowed.", by_process=True)

CATALOG: tuple[Metric, ...] = tuple(value for value in dict(globals()).values() if isinstance(value, Metric))
