"""The shared tier: what one worker has looked up, every machine may use.

    key      laconic:<installation>:link:<domain>/<code>
    value    JSON: target, status, link_id, expires_at, created_at, version, is_tombstone, reason, note
    floor    JSON: version, floor: that version exists, and nothing older may be kept

It is believed only while this worker is told of changes and knows all that an entry may have missed
(`RecentChanges`); otherwise it serves for the case that the database is away. It is never waited for to be written.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from laconic import clock
from laconic.clock import HOUR, MINUTE, SECOND
from laconic.errors import SharedAway
from laconic.ids import LARGEST_ID
from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.lookup import block
from laconic.redirect.model import REDIRECT_STATUSES, Entry, LinkRow, Redirect, Tombstone, judge
from laconic.redirect.recent import RecentChanges
from laconic.storage.shared import Call, Script, SharedStore

_KEEP_TOMBSTONE = HOUR
_KEEP_UNKNOWN = 5 * SECOND
# Added to the longest life of an entry: a write that was given up may come late, and clocks differ.
_MARGIN = 15 * MINUTE
# How far the clock of whoever wrote a change may be behind.
_CLOCK_MARGIN = HOUR + 5 * MINUTE
_BATCH = 256
# Writes that wait. More than that are left out: each is only a convenience.
_MOST_WAITING = 20_000
_CLOSE_SECONDS = 0.5
_MILLISECOND = 1_000
_REASONS = frozenset({"unknown", "expired", "deleted", "disabled", "taken_down"})

# Keeps what is newer. A floor gives way to the answer of its own version; an answer never to another of its version,
# so that nothing ever lives longer for being read or looked up again. The end is a moment, not a duration: a
# write that was stuck on its way must not live from its arrival on. It is cut to what the store's clock allows.
_KEEP = Script("""
local version, value, is_floor = tonumber(ARGV[1]), ARGV[2], ARGV[3] == '1'
local held = redis.call('GET', KEYS[1])
if held then
  local is_json, known = pcall(cjson.decode, held)
  if is_json and type(known) == 'table' and type(known.version) == 'number' then
    if known.version > version then return 0 end
    if known.version == version and (is_floor or not known.floor) then return 0 end
  end
end
local time = redis.call('TIME')
local moment = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = math.min(tonumber(ARGV[5]), moment + tonumber(ARGV[4]))
if ends <= moment then return 0 end
redis.call('SET', KEYS[1], value, 'PXAT', string.format('%.0f', ends))
return 1
""")


@dataclass(slots=True)
class SharedCounts:
    hits: int = 0
    misses: int = 0
    too_old: int = 0
    away: int = 0
    unwritten: int = 0


@dataclass(frozen=True, slots=True)
class _Write:
    version: int
    value: bytes
    is_floor: bool
    life: int
    ends: int

    def beats(self, other: "_Write | None") -> bool:
        return other is None or (self.version, not self.is_floor) > (other.version, not other.is_floor)


@dataclass(slots=True)
class SharedTier:
    """Belongs to one loop. `installation` keeps apart those that share a store."""

    store: SharedStore
    installation: str
    ttl: int = HOUR
    blocked: BlockedHosts = field(default_factory=BlockedHosts)
    now: Callable[[], int] = clock.now
    monotonic: Callable[[], float] = clock.monotonic
    counts: SharedCounts = field(default_factory=SharedCounts)
    _recent: RecentChanges = field(init=False)
    _is_following: bool = False
    _waiting: OrderedDict[bytes, _Write] = field(default_factory=OrderedDict)
    _pump: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        longest = max(self.ttl, _KEEP_TOMBSTONE) + _MARGIN
        self._recent = RecentChanges(longest / SECOND, self.monotonic)

    @property
    def history(self) -> int:
        """How far back changes must be told before anything here may be believed."""
        return max(self.ttl, _KEEP_TOMBSTONE) + _MARGIN + _CLOCK_MARGIN

    # Reading.

    async def find(self, key: bytes) -> Entry | None:
        """What is known for certain: as new as anything that this worker was told of."""
        if not self._is_following:
            return None
        entry = await self._read(key)
        if entry is None:
            self.counts.misses += 1
        else:
            self.counts.hits += 1
        return entry

    async def find_old(self, key: bytes) -> Entry | None:
        """What was known some time ago, for whoever cannot ask the database; `checked_at` says when."""
        return await self._read(key)

    async def _read(self, key: bytes) -> Entry | None:
        try:
            value = await self.store.get(self._name(key))
        except SharedAway:
            self.counts.away += 1
            return None
        entry = decode(value, self.now(), self.blocked) if value is not None else None
        if entry is not None and entry.version < self._recent.floor(key):
            self.counts.too_old += 1
            return None
        return entry

    def _name(self, key: bytes) -> str:
        return f"laconic:{self.installation}:link:{key.decode('ascii')}"

    # Writing: later, in the order it came, many at a time.

    def keep(self, key: bytes, row: LinkRow | None) -> None:
        """Remembers what a look-up has found, or a writer has written, for all.

        Not that a host is blocked: nobody would be told when it no longer is. Each worker judges that itself.
        """
        if row is not None and row.gone_reason == "blocked":
            return
        moment = self.now()
        entry = judge(row, moment)
        life = _life(entry, row, self.ttl, moment)
        if life > 0:
            value = encode(entry, row, moment)
            self._queue(key, _Write(entry.version, value, is_floor=False, life=life, ends=moment + life))

    # What the cache is told, it tells on.

    def changed(self, key: bytes, version: int) -> None:
        self._recent.note(key, version)
        if not self._is_following:
            # History: whoever was there at the time has overwritten it.
            return
        value = json.dumps({"version": version, "floor": True}, separators=(",", ":")).encode()
        life = max(self.ttl, _KEEP_TOMBSTONE)
        self._queue(key, _Write(version, value, is_floor=True, life=life, ends=self.now() + life))

    def following(self) -> None:
        self._is_following = True

    def lost(self) -> None:
        self._is_following = False

    def _queue(self, key: bytes, write: _Write) -> None:
        if not write.beats(self._waiting.get(key)):
            return
        self._waiting[key] = write
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popitem(last=False)
            self.counts.unwritten += 1
        if self._pump is None:
            self._pump = asyncio.create_task(self._write_waiting())

    async def _write_waiting(self) -> None:
        try:
            while self._waiting:
                calls = self._take_calls()
                try:
                    await self.store.run_many(_KEEP, calls)
                except SharedAway:
                    self.counts.unwritten += len(calls)
        finally:
            self._pump = None

    def _take_calls(self) -> list[Call]:
        calls: list[Call] = []
        for _ in range(min(_BATCH, len(self._waiting))):
            key, write = self._waiting.popitem(last=False)
            if write.version < self._recent.floor(key):
                continue  # a change was told while it waited
            life, ends = write.life // _MILLISECOND, write.ends // _MILLISECOND
            calls.append((self._name(key), [write.version, write.value, int(write.is_floor), life, ends]))
        return calls

    async def close(self) -> None:
        """Gives what waits a moment to be written."""
        if self._pump is not None:
            await asyncio.wait([self._pump], timeout=_CLOSE_SECONDS)
        if self._pump is not None:
            self._pump.cancel()


def _life(entry: Entry, row: LinkRow | None, ttl: int, moment: int) -> int:
    """An hour, or until the link expires; five seconds for what is unknown."""
    if isinstance(entry, Tombstone):
        return _KEEP_UNKNOWN if entry.reason == "unknown" else _KEEP_TOMBSTONE
    if row is None or row.expires_at is None:
        return ttl
    return min(ttl, row.expires_at - moment)


def encode(entry: Entry, row: LinkRow | None, moment: int) -> bytes:
    """A tombstone says why, and nothing of where the link led."""
    is_tombstone = isinstance(entry, Tombstone)
    document = {
        "target": None if row is None or is_tombstone else row.location,
        "status": None if row is None or is_tombstone else row.redirect_status,
        "link_id": None if row is None else row.link_id,
        "expires_at": None if row is None else row.expires_at,
        "created_at": moment,
        "version": entry.version,
        "is_tombstone": is_tombstone,
        "reason": entry.reason if isinstance(entry, Tombstone) else None,
        "note": entry.note if isinstance(entry, Tombstone) else None,
    }
    return json.dumps(document, separators=(",", ":")).encode()


def decode(value: bytes, moment: int, blocked: BlockedHosts | None = None) -> Entry | None:
    """None for a floor, for what nobody here has written, and for what this clock judges otherwise."""
    try:
        document = json.loads(value)
        return None if "floor" in document else _entry(document, moment, blocked or BlockedHosts())
    except (ValueError, TypeError, KeyError):
        return None


def _entry(document: dict[str, Any], moment: int, blocked: BlockedHosts) -> Entry | None:
    version, created_at, expires_at = document["version"], document["created_at"], document["expires_at"]
    if (
        not isinstance(version, int)
        or not isinstance(created_at, int)
        or not isinstance(expires_at, int | None)
    ):
        return None
    if document["is_tombstone"]:
        # The clock of whoever wrote it may be ahead: expiry is judged here as everywhere.
        row = _row(document, target="", status=REDIRECT_STATUSES[0])
        if document["reason"] not in _REASONS:
            return None
        if document["reason"] == "expired" and isinstance(judge(row, moment), Redirect):
            return None
        note = document.get("note")
        return Tombstone(document["reason"], version, created_at, note if isinstance(note, str) else None)
    target, status = document["target"], document["status"]
    # It becomes a header: nothing but what a URL may hold.
    if not (
        isinstance(target, str) and target.isascii() and target.isprintable() and status in REDIRECT_STATUSES
    ):
        return None
    # Its clicks are journaled under it.
    link_id = document["link_id"]
    if type(link_id) is not int or not 0 < link_id <= LARGEST_ID:
        return None
    entry = judge(block(_row(document, target, status), blocked), moment)
    entry.checked_at = created_at
    return entry


def _row(document: dict[str, Any], target: str, status: int) -> LinkRow:
    return LinkRow(
        link_id=document["link_id"] or 0,
        location=target,
        redirect_status=status,
        expires_at=document["expires_at"],
        is_active=True,
        is_deleted=False,
        gone_reason=None,
        version=document["version"],
    )
