"""The memory tier, and the one way to find out what a code means: memory, the shared tier, the database.

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
from laconic.redirect.shared import SharedTier
from laconic.redirect.spread import Spread

LookUp = Callable[[int, str], Awaitable[LinkRow | None]]

# A memory entry is asked for again after this, should a change ever not have been told.
_RECHECK = 60 * SECOND
# The same while changes are not being told at all (P4). A no need not be doubted as soon.
_RECHECK_UNFOLLOWED = SECOND // 2
_RECHECK_NO = SECOND
_KEEP_GONE = 3600 * SECOND
_KEEP_UNKNOWN = 5 * SECOND
# How long a failed look-up is remembered: one per second and code, however many ask.
_FAILURE_PAUSE_SECONDS = 1
_MOST_FAILURES = 10_000
# Longer than the longest look-up may take.
_FLOOR_SECONDS = 60.0
_MOST_FLOORS = 100_000
# What an entry costs besides its bytes: the object, its numbers, the key and the dict's slot (measured).
_ENTRY_OVERHEAD = 420
# Visited entries that one eviction passes over: walking through all of them would stop the loop for 50 ms.
_MOST_SPARED = 100
_MOST_TRIES = 4
# More than clocks are corrected by in a second.
_CLOCK_STEP = SECOND // 2


class _CutOff(Unavailable):
    """Whoever looked up for all who wait was cancelled: that says nothing about the link."""


@dataclass(slots=True)
class CacheCounts:
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    stale: int = 0
    # Look-ups of the database, and those of them that the lane has answered itself.
    look_ups: int = 0
    in_lane: int = 0
    # What the lane has found out to be a no: the application asks for it again, to say so.
    asked_twice: int = 0


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
    shared: SharedTier | None = None
    now: Callable[[], int] = clock.now
    monotonic: Callable[[], float] = clock.monotonic
    entries: OrderedDict[bytes, Entry] = field(default_factory=OrderedDict)
    counts: CacheCounts = field(default_factory=CacheCounts)
    # From the moment of a change, by the clock of whoever made it, until it counts here: cache_propagation_seconds.
    propagation: Spread = field(default_factory=Spread)
    _bytes: int = 0
    _clock_offset: int = 0
    _recheck: int = _RECHECK_UNFOLLOWED
    # Counts how often what was remembered came into doubt: a look-up that began before proves nothing after it.
    _doubts: int = 0
    _flights: dict[bytes, asyncio.Future[Entry]] = field(default_factory=dict)
    _failed_until: dict[bytes, float] = field(default_factory=dict)
    _floors: OrderedDict[bytes, _Floor] = field(default_factory=OrderedDict)

    async def find(self, domain_id: int, code: str) -> Entry:
        """What the code means now. Raises Unavailable when that cannot be known."""
        key = key_of(domain_id, code)
        for _ in range(_MOST_TRIES):
            known = self._known(key)
            if known is not None:
                self.counts.hits += 1
                return known
            self.counts.misses += 1
            flight = self._flights.get(key)
            try:
                found = await (self._fly(key, domain_id, code) if flight is None else asyncio.shield(flight))
            except _CutOff:
                continue
            # A change may have been told between the end of the look-up and this waiter's turn.
            if not self._is_buried(key, found.version):
                return found
        raise Unavailable("The link changes faster than it can be read.")

    def find_now(self, domain_id: int, code: str) -> Entry | None:
        """The same without a suspension, for a database that answers at once; None when it does not."""
        finding = self.find(domain_id, code)
        try:
            finding.send(None)
        except StopIteration as found:
            return self._counted(found.value)
        except Unavailable:
            return None
        finding.close()
        return None

    async def find_soon(self, domain_id: int, code: str) -> Entry | None:
        """The same for one that takes its time; None when it cannot be known."""
        try:
            return self._counted(await self.find(domain_id, code))
        except Unavailable:
            return None

    def _counted(self, entry: Entry) -> Entry:
        """As found for the lane."""
        if isinstance(entry, Redirect):
            self.counts.in_lane += 1
        else:
            self.counts.asked_twice += 1
        return entry

    def _known(self, key: bytes) -> Entry | None:
        """What memory says, by the time it is now; None when it must be asked for."""
        entry = self.entries.get(key)
        if entry is None:
            return None
        entry.visited = True
        moment = self.now()
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
            flight.set_exception(
                error if isinstance(error, Exception) else _CutOff("The look-up was cut off.")
            )
            # Somebody may or may not have joined; either way this exception has been told.
            flight.exception()
            raise
        finally:
            del self._flights[key]
        flight.set_result(entry)
        return entry

    async def _ask(self, key: bytes, domain_id: int, code: str) -> Entry:
        if self.monotonic() < self._failed_until.get(key, 0.0):
            return self._stale_or_raise(key, Unavailable("The look-up failed a moment ago."))
        # What memory holds and doubts is asked of the database itself, should a change ever not have been told.
        if self.shared is not None and key not in self.entries:
            found = await self._ask_shared(key, self.shared)
            if found is not None:
                return found
        for _ in range(_MOST_TRIES):
            begun, doubts = self.now(), self._doubts
            self.counts.look_ups += 1
            try:
                row = await self.look_up(domain_id, code)
            except Unavailable as error:
                self._remember_failure(key)
                await self._recall(key)
                return self._stale_or_raise(key, error)
            self._failed_until.pop(key, None)
            entry = judge(row, self.now())
            # As old as its beginning: what was committed while it was under way it may not have seen.
            entry.checked_at = begun
            # When a change was told meanwhile that it did not see, or may have gone untold: ask again.
            if not self._is_buried(key, entry.version) and self._doubts == doubts:
                self.put(key, entry)
                if self.shared is not None:
                    self.shared.keep(key, row)
                return entry
        raise Unavailable("The link changes faster than it can be read.")

    async def _ask_shared(self, key: bytes, shared: SharedTier) -> Entry | None:
        begun, doubts = self.now(), self._doubts
        entry = await shared.find(key)
        if entry is None or self._is_buried(key, entry.version) or self._doubts != doubts:
            return None
        entry.checked_at = begun
        self.put(key, entry)
        return entry

    async def _recall(self, key: bytes) -> None:
        """The database is away and memory holds nothing: the shared tier may have known."""
        if self.shared is None or key in self.entries:
            return
        entry = await self.shared.find_old(key)
        if entry is not None:
            self.put(key, entry)

    def _is_buried(self, key: bytes, version: int) -> bool:
        floor = self._floors.get(key)
        return floor is not None and version < floor.version

    def _remember_failure(self, key: bytes) -> None:
        if len(self._failed_until) >= _MOST_FAILURES:
            self._failed_until.clear()
        self._failed_until[key] = self.monotonic() + _FAILURE_PAUSE_SECONDS

    def _stale_or_raise(self, key: bytes, error: Unavailable) -> Entry:
        """Without the database a link that was known goes on working, for a while (P7).

        A remembered no does not, for it may have become a yes (P6); only deleted links never come back.
        """
        entry = self.entries.get(key)
        moment = self.now()
        if entry is None or moment > entry.checked_at + self.max_stale:
            raise error
        if isinstance(entry, Redirect):
            if entry.has_expired(moment):
                raise error
            entry.keep_fresh(moment + _FAILURE_PAUSE_SECONDS * SECOND)
        elif entry.reason != "deleted":
            raise error
        self.counts.stale += 1
        return entry

    def put(self, key: bytes, entry: Entry) -> None:
        """Remembers an answer, unless a newer one is known."""
        old = self.entries.get(key)
        if self._is_buried(key, entry.version) or (old is not None and old.version > entry.version):
            return
        if isinstance(entry, Redirect):
            entry.keep_fresh(entry.checked_at + self._recheck)
        else:
            keep = _KEEP_UNKNOWN if entry.reason == "unknown" else _KEEP_GONE
            entry.keep_until = entry.checked_at + min(keep, max(self._recheck, _RECHECK_NO))
        entry.size += len(key) + _ENTRY_OVERHEAD
        self._bytes += entry.size - (old.size if old is not None else 0)
        self.entries[key] = entry
        while self._bytes > self.most_bytes or len(self.entries) > self.most_entries:
            self._evict_one()

    @property
    def size(self) -> int:
        """Bytes that the entries take."""
        return self._bytes

    def _evict_one(self) -> None:
        for _ in range(_MOST_SPARED):
            key, entry = self.entries.popitem(last=False)
            if not entry.visited:
                break
            entry.visited = False
            self.entries[key] = entry
        else:
            _, entry = self.entries.popitem(last=False)
        self._bytes -= entry.size
        self.counts.evictions += 1

    def _drop(self, key: bytes) -> None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size

    def forget(self, domain_id: int, short_code: str) -> None:
        """Whatever was remembered of this code is to be asked for again: it was unknown, and exists now."""
        key = key_of(domain_id, short_code)
        if key in self._flights:
            # The look-up under way may not see it any more.
            self.changed(domain_id, short_code, 1)
        self._drop(key)

    def wrote(self, domain_id: int, short_code: str, row: LinkRow) -> None:
        """This process has changed the link, and this is what it is now: for all machines to know."""
        if self.shared is not None:
            self.shared.keep(key_of(domain_id, short_code), row)

    # A cache is a `ChangeListener`.

    def changed(self, domain_id: int, short_code: str, version: int, changed_at: int | None = None) -> None:
        """The link has this version now: nothing older may be served from here on."""
        key = key_of(domain_id, short_code)
        if self.shared is not None:
            self.shared.changed(key, version)
        if not self._is_buried(key, version):
            self._floors[key] = _Floor(version, self.monotonic() + _FLOOR_SECONDS)
            self._floors.move_to_end(key)
            self._drop_old_floors()
        entry = self.entries.get(key)
        if entry is not None and entry.version < version:
            self._drop(key)
        if changed_at is not None:
            # Clocks differ: what seems to come from the future took no time.
            self.propagation.observe(max(0, self.now() - changed_at) / SECOND)

    def _drop_old_floors(self) -> None:
        """Those that have served their time, and the oldest of too many: a bulk change may tell of a million."""
        moment = self.monotonic()
        while self._floors:
            key, floor = next(iter(self._floors.items()))
            if floor.until >= moment:
                if len(self._floors) <= _MOST_FLOORS:
                    return
                if key in self._flights:
                    # Its look-up can no longer be judged by the version.
                    self._doubts += 1
            del self._floors[key]

    @property
    def history(self) -> int:
        """How far back changes must be told, in microseconds, before the shared tier may be believed."""
        return 0 if self.shared is None else self.shared.history

    def following(self) -> None:
        self._recheck = _RECHECK
        self.doubt_everything()
        if self.shared is not None:
            self.shared.following()

    def lost(self) -> None:
        if self.shared is not None:
            self.shared.lost()
        if self._recheck != _RECHECK_UNFOLLOWED:
            self._recheck = _RECHECK_UNFOLLOWED
            self.doubt_everything()

    def watch_clock(self) -> None:
        """Called about once a second: a clock that was set back would keep entries fresh for as long as it was wrong."""
        offset = self.now() - int(self.monotonic() * SECOND)
        if abs(offset - self._clock_offset) > _CLOCK_STEP:
            self.doubt_everything()
        self._clock_offset = offset

    def doubt_everything(self) -> None:
        """Entries stay for the case that the database is away, but each is asked for before it is used."""
        self._doubts += 1
        for entry in self.entries.values():
            entry.fresh_until = 0
            if isinstance(entry, Tombstone):
                entry.keep_until = 0


def key_of(domain_id: int, code: str) -> bytes:
    """As the lane builds it: the domain's number, then the request's path."""
    return b"%d/%b" % (domain_id, code.encode("ascii"))
