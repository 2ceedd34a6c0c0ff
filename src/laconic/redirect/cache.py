"""The memory tier, and the one way to find out what a code means.

Reading takes no lock and changes nothing but a mark. Eviction is a clock: the oldest entry goes, unless it
was visited since it was last looked at; then it gets another round.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from laconic import clock
from laconic.clock import SECOND
from laconic.errors import Unavailable
from laconic.redirect.model import Entry, LinkRow, Redirect, Tombstone, judge

LookUp = Callable[[int, str], Awaitable[LinkRow | None]]

# A memory entry is asked for again after this, should a change ever not have been told.
_RECHECK = 60 * SECOND
# The same while changes are not being told at all (P4).
_RECHECK_UNFOLLOWED = SECOND // 2
_KEEP_GONE = 3600 * SECOND
_KEEP_UNKNOWN = 5 * SECOND
# How long a failed look-up is remembered: one per second and code, however many ask.
_FAILURE_PAUSE = SECOND
# Longer than the longest look-up may take.
_FLOOR_SECONDS = 60.0
# What an entry costs besides its bytes: the object, its numbers, the key and the dict's slot (measured).
_ENTRY_OVERHEAD = 420
_MOST_TRIES = 4


@dataclass(slots=True)
class CacheCounts:
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    stale: int = 0


@dataclass(slots=True)
class _Floor:
    """Nothing older than `version` may be remembered or served for its key."""

    version: int
    until: float


@dataclass(slots=True)
class RedirectCache:
    """Finds redirects by domain and code. `entries` is read by the lane directly."""

    look_up: LookUp
    most_entries: int = 200_000
    most_bytes: int = 128 * 1024 * 1024
    max_stale: int = 3600 * SECOND
    now: Callable[[], int] = clock.now
    entries: OrderedDict[bytes, Entry] = field(default_factory=OrderedDict)
    counts: CacheCounts = field(default_factory=CacheCounts)
    _bytes: int = 0
    _recheck: int = _RECHECK_UNFOLLOWED
    _flights: dict[bytes, asyncio.Future[Entry]] = field(default_factory=dict)
    _failed_until: dict[bytes, int] = field(default_factory=dict)
    _floors: OrderedDict[bytes, _Floor] = field(default_factory=OrderedDict)

    async def find(self, domain_id: int, code: str) -> Entry:
        """What the code means now. Raises Unavailable when that cannot be known."""
        key = key_of(domain_id, code)
        moment = self.now()
        entry = self.entries.get(key)
        if entry is not None:
            known = self._still_true(entry, moment)
            if known is not None:
                self.counts.hits += 1
                return known
        self.counts.misses += 1
        flight = self._flights.get(key)
        if flight is not None:
            return await asyncio.shield(flight)
        return await self._fly(key, domain_id, code)

    def _still_true(self, entry: Entry, moment: int) -> Entry | None:
        """The entry, or what has become of it by time alone; None when it must be asked for again."""
        entry.visited = True
        if isinstance(entry, Tombstone):
            return entry if moment < entry.keep_until else None
        if entry.fresh_until == 0 or moment >= entry.checked_at + self._recheck:
            return None
        # Judged after the age: an expiry that was put off must be seen when changes are not being told.
        return Tombstone("expired", entry.version, moment) if entry.has_expired(moment) else entry

    async def _fly(self, key: bytes, domain_id: int, code: str) -> Entry:
        """The one look-up under way for this key; others join it."""
        flight: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        self._flights[key] = flight
        try:
            entry = await self._ask(key, domain_id, code)
        except BaseException as error:
            flight.set_exception(error if isinstance(error, Exception) else Unavailable("The look-up was cut off."))
            # Somebody may or may not have joined; either way this exception has been told.
            flight.exception()
            raise
        finally:
            del self._flights[key]
        flight.set_result(entry)
        return entry

    async def _ask(self, key: bytes, domain_id: int, code: str) -> Entry:
        if self.now() < self._failed_until.get(key, 0):
            return self._stale_or_raise(key, Unavailable("The look-up failed a moment ago."))
        for _ in range(_MOST_TRIES):
            try:
                row = await self.look_up(domain_id, code)
            except Unavailable as error:
                self._remember_failure(key)
                return self._stale_or_raise(key, error)
            self._failed_until.pop(key, None)
            entry = judge(row, self.now())
            # A change was told while the look-up was under way, and it did not see it: ask again.
            if not self._is_buried(key, entry.version):
                self.put(key, entry)
                return entry
        raise Unavailable("The link changes faster than it can be read.")

    def _is_buried(self, key: bytes, version: int) -> bool:
        floor = self._floors.get(key)
        return floor is not None and version < floor.version

    def _remember_failure(self, key: bytes) -> None:
        if len(self._failed_until) > 10_000:
            self._failed_until.clear()
        self._failed_until[key] = self.now() + _FAILURE_PAUSE

    def _stale_or_raise(self, key: bytes, error: Unavailable) -> Entry:
        """Without the database a link that was known goes on working, for a while (P7)."""
        entry = self.entries.get(key)
        moment = self.now()
        if entry is None or moment > entry.checked_at + self.max_stale:
            raise error
        self.counts.stale += 1
        if isinstance(entry, Redirect):
            if entry.has_expired(moment):
                return Tombstone("expired", entry.version, moment)
            entry.fresh_until = _no_later(moment + _FAILURE_PAUSE, entry.expires_at)
        return entry

    def put(self, key: bytes, entry: Entry) -> None:
        """Remembers an answer, unless a newer one is known."""
        old = self.entries.get(key)
        if self._is_buried(key, entry.version) or (old is not None and old.version > entry.version):
            return
        if isinstance(entry, Redirect):
            entry.fresh_until = _no_later(entry.checked_at + self._recheck, entry.expires_at)
        else:
            keep = _KEEP_UNKNOWN if entry.reason == "unknown" else min(_KEEP_GONE, self._recheck)
            entry.keep_until = entry.checked_at + keep
        entry.size += len(key) + _ENTRY_OVERHEAD
        self._bytes += entry.size - (old.size if old is not None else 0)
        self.entries[key] = entry
        while self._bytes > self.most_bytes or len(self.entries) > self.most_entries:
            self._evict_one()

    def _evict_one(self) -> None:
        while True:
            key, entry = self.entries.popitem(last=False)
            if not entry.visited:
                self._bytes -= entry.size
                self.counts.evictions += 1
                return
            entry.visited = False
            self.entries[key] = entry

    def forget(self, domain_id: int, short_code: str) -> None:
        """Whatever was remembered of this code is to be asked for again."""
        entry = self.entries.pop(key_of(domain_id, short_code), None)
        if entry is not None:
            self._bytes -= entry.size

    # A cache is a `ChangeListener`.

    def changed(self, domain_id: int, short_code: str, version: int) -> None:
        """The link has this version now: nothing older may be served from here on."""
        key = key_of(domain_id, short_code)
        floor = self._floors.get(key)
        if floor is None or floor.version < version:
            self._floors[key] = _Floor(version, clock.monotonic() + _FLOOR_SECONDS)
            self._floors.move_to_end(key)
        self._drop_old_floors()
        entry = self.entries.get(key)
        if entry is not None and entry.version < version:
            self._bytes -= entry.size
            del self.entries[key]

    def _drop_old_floors(self) -> None:
        moment = clock.monotonic()
        while self._floors and next(iter(self._floors.values())).until < moment:
            self._floors.popitem(last=False)

    def following(self) -> None:
        self._recheck = _RECHECK
        self._doubt_everything()

    def lost(self) -> None:
        self._recheck = _RECHECK_UNFOLLOWED
        self._doubt_everything()

    def _doubt_everything(self) -> None:
        """Entries stay for the case that the database is away, but each is asked for before it is used."""
        for entry in self.entries.values():
            entry.fresh_until = 0
            if isinstance(entry, Tombstone):
                entry.keep_until = 0


def key_of(domain_id: int, code: str) -> bytes:
    """As the lane builds it: the domain's number, then the request's path."""
    return b"%d/%b" % (domain_id, code.encode("ascii"))


def _no_later(moment: int, expires_at: int | None) -> int:
    return moment if expires_at is None else min(moment, expires_at)
