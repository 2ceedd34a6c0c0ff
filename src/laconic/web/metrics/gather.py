"""What each kind of process writes on its page, once a second and, where it is asked, before it answers."""

import math
import os
import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from laconic.clicks.journal import Journal
from laconic.redirect.cache import RedirectCache
from laconic.redirect.lane import Lane
from laconic.storage.breaker import Breaker
from laconic.storage.database import Database
from laconic.storage.shared import SharedStore
from laconic.web.api.authentication import Gate
from laconic.web.memory import process_bytes
from laconic.web.metrics import catalog
from laconic.web.metrics.board import Page
from laconic.web.metrics.requests import RequestMeter
from laconic.wiring import Services

_STATES = {"closed": 0, "half-open": 1, "open": 2}
_KNOWN_STATUSES = frozenset(catalog.STATUSES)


def tell_process(page: Page) -> None:
    used = os.times()
    page.count(catalog.CPU, used.user + used.system)
    page.gauge(catalog.MEMORY, process_bytes().resident)
    page.gauge(catalog.MAX_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    # Since Linux 6.2 the folder's size is the number of its entries; listing them would take long where they are many.
    page.gauge(catalog.OPEN_FILES, Path("/proc/self/fd").stat().st_size or math.nan)


def tell_storage(page: Page, database: Database, shared: SharedStore | None) -> None:
    page.count(catalog.SLOW, database.slow_queries)
    for pool in database.pools():
        page.gauge(catalog.DATABASE_CONNECTIONS, pool.open, pool.name, "open")
        page.gauge(catalog.DATABASE_CONNECTIONS, pool.busy, pool.name, "busy")
        page.gauge(catalog.DATABASE_CONNECTIONS, pool.most, pool.name, "most")
    _tell_breakers(page, database.breakers, lambda _: "database")
    if shared is not None:
        _tell_breakers(page, shared.breakers, lambda name: "redis_writes" if "writes" in name else "redis")


def _tell_breakers(page: Page, breakers: Sequence[Breaker], name_of: Callable[[str], str]) -> None:
    """A Cluster has a breaker for each node: the worst of them is shown."""
    for name in {name_of(breaker.name) for breaker in breakers}:
        some = [breaker for breaker in breakers if name_of(breaker.name) == name]
        page.gauge(catalog.BREAKER_STATE, max(_STATES[breaker.state] for breaker in some), name)
        page.count(catalog.BREAKER_OPENED, sum(breaker.opened for breaker in some), name)
        page.count(catalog.BREAKER_REFUSED, sum(breaker.refused for breaker in some), name)


def tell_links(page: Page, services: Services) -> None:
    """What whoever makes links has to tell."""
    for source, taken in services.codes.taken.items():
        page.count(catalog.ALLOCATED, taken, source)
    page.count(catalog.CONFLICTS, services.codes.conflicts)
    for reason, count in services.targets.refused.items():
        page.count(catalog.REFUSED_TARGETS, count, reason)


@dataclass(slots=True)
class WebWorker:
    """What a web worker has to tell. Lane and connections come when it begins to answer."""

    page: Page
    services: Services
    journal: Journal
    requests: RequestMeter
    gate: Gate
    lane: Lane | None = None
    count_connections: Callable[[], int] = field(default=lambda: 0)

    def tell(self) -> None:
        page, services = self.page, self.services
        tell_process(page)
        tell_storage(page, services.database, services.shared_store)
        tell_links(page, services)
        self._tell_requests()
        self._tell_cache(services.cache)
        for limits in self.gate.limits:
            page.count(catalog.RATE_LIMITED, limits.refused, limits.name)
            page.count(catalog.UNSHARED, limits.counted_alone, limits.name)
            page.gauge(catalog.FAILING_OPEN, limits.is_away, limits.name)
        page.count(catalog.RATE_LIMITED, self.gate.slowed, "scarce_codes")
        page.count(catalog.SYNC_ERRORS, self.journal.sync_failures)
        page.gauge(catalog.CONNECTIONS, self.count_connections())

    def _tell_requests(self) -> None:
        answered = dict(self.requests.answered)
        if self.lane is not None:
            for status, count in self.lane.answered_by_status().items():
                answered["redirect", status] = answered.get(("redirect", status), 0) + count
            for status, count in self.lane.refused.items():
                answered["refused", status] = count
        by_name: dict[tuple[str, str], int] = {}
        for (route_class, status), count in answered.items():
            name = str(status) if str(status) in _KNOWN_STATUSES else "other"
            by_name[route_class, name] = by_name.get((route_class, name), 0) + count
        for labels, count in by_name.items():
            self.page.count(catalog.REQUESTS, count, *labels)
        for route_class, durations in self.requests.durations.items():
            counts, total = durations.counts, durations.total
            if route_class == "redirect" and self.lane is not None:
                continue
            self.page.spread(catalog.DURATION, counts, total, route_class)
        if self.lane is not None:
            self._tell_redirect_durations(self.lane)

    def _tell_redirect_durations(self, lane: Lane) -> None:
        """Those of the lane, and those that the application answered."""
        durations = self.requests.durations["redirect"]
        first, last = catalog.FIRST_BITS, catalog.LAST_BITS
        by_bits = lane.durations
        counts = [sum(by_bits[: first + 1]), *by_bits[first + 1 : last + 1], sum(by_bits[last + 1 :])]
        both = [ours + theirs for ours, theirs in zip(counts, durations.counts, strict=True)]
        self.page.spread(catalog.DURATION, both, lane.seconds + durations.total, "redirect")

    def _tell_cache(self, cache: RedirectCache) -> None:
        page, counts = self.page, cache.counts
        # A hit in the lane is counted by its answer alone; those it has looked up first were misses.
        in_lane = self.lane.answered - counts.in_lane if self.lane is not None else 0
        page.count(catalog.CACHE, in_lane + counts.hits - counts.asked_twice, "memory", "hit")
        page.count(catalog.CACHE, counts.misses, "memory", "miss")
        page.count(catalog.CACHE, counts.look_ups, "database", "read")
        page.count(catalog.EVICTIONS, counts.evictions, "memory")
        page.count(catalog.STALE, counts.stale)
        page.gauge(catalog.ENTRIES, len(cache.entries), "memory")
        page.gauge(catalog.CACHE_BYTES, cache.size, "memory")
        page.spread(catalog.PROPAGATION, cache.propagation.counts, cache.propagation.total)
        if cache.shared is not None:
            shared = cache.shared.counts
            page.count(catalog.CACHE, shared.hits, "shared", "hit")
            page.count(catalog.CACHE, shared.misses - shared.away - shared.too_old, "shared", "miss")
            page.count(catalog.CACHE, shared.too_old, "shared", "too_old")
            page.count(catalog.CACHE, shared.away, "shared", "away")
            page.count(catalog.UNWRITTEN, shared.unwritten)
