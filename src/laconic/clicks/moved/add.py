"""Adding clicks that happened elsewhere: each once, however often a source comes, and whatever dies in between.

What a source has added to a link is written down in the transaction that adds it. So a batch that is repeated adds
nothing, and one that has grown adds what is new.
"""

import dataclasses
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any

from laconic import clock
from laconic.clicks.choices import Choice, Choices
from laconic.clicks.click import Click
from laconic.clicks.enrich import Enricher
from laconic.clicks.moved import store as statements_of
from laconic.clicks.moved.model import Claim, Entry, Portion, RecordedClick
from laconic.clicks.moved.tally import Tally
from laconic.clicks.store import EVENT_COLUMNS, Addition, ClickStore, Countable
from laconic.clicks.visitors import VisitorHashes
from laconic.clock import DAY
from laconic.storage.database import Database, Statements
from laconic.storage.months import month_of

if TYPE_CHECKING:
    from laconic.clicks.columns import Columns

_SALT_BYTES = 16
# Zero is no id; the highest bit is the sign.
_ID_BITS = 62


@dataclass(frozen=True, slots=True)
class Added:
    """What a batch has changed, or would change."""

    clicks: int = 0
    """By so many the totals of links have grown."""
    dated: int = 0
    """So many clicks have come into the charts."""


class _Undone(Exception):
    """Carries the result of a dry run out of its transaction."""

    def __init__(self, added: Added) -> None:
        super().__init__()
        self.added = added


Apply = Callable[[Statements, dict[int, Entry]], Awaitable[dict[int, int]]]


class MovedClicks:
    """The clicks of one source. `database` is one that writes clicks."""

    def __init__(
        self,
        database: Database,
        workspace_id: int,
        name: str,
        enricher: Callable[[], Enricher],
        *,
        retention: int,
        dry_run: bool = False,
        now: Callable[[], int] = clock.now,
    ) -> None:
        """Single clicks that are older than the `retention` (microseconds) are counted and not kept."""
        self._database = database
        self._workspace_id = workspace_id
        self._name = name
        self._open_enricher = enricher
        self._enricher: Enricher | None = None
        self._retention = retention
        self._dry_run = dry_run
        self._now = now
        self._source_id: int | None = None
        self._store = ClickStore(database)
        # Of this run: afterwards nobody can tell who was who.
        self._salts: dict[int, bytes] = defaultdict(lambda: secrets.token_bytes(_SALT_BYTES))
        self._hashes = VisitorHashes(self._salts.__getitem__)
        self._months: set[int] = set()
        # What the workspace keeps of its clicks, where it differs from the installation.
        self._chosen: list[Choice] = []

    async def claim(self, claims: Sequence[Claim]) -> Added:
        """The source says that it has counted so much altogether."""
        latest: dict[int, int] = {}
        said: dict[int, list[Claim]] = defaultdict(list)
        for claim in claims:
            said[claim.link_id].append(claim)
            if claim.last_clicked_at is not None:
                latest[claim.link_id] = max(latest.get(claim.link_id, 0), claim.last_clicked_at)

        async def apply(_: Statements, entries: dict[int, Entry]) -> dict[int, int]:
            for link_id, entry in entries.items():
                for claim in said[link_id]:
                    entry.claim(claim.clicks, claim.bot_clicks)
            return latest

        return await self._settle(said, apply)

    async def add_portions(self, portions: Sequence[Portion]) -> Added:
        """Counted clicks, in the order of their positions for each link."""

        async def apply(statements: Statements, entries: dict[int, Entry]) -> dict[int, int]:
            taken = [entries[portion.link_id].take(portion) for portion in portions]
            fresh = [portion for portion in taken if portion is not None]
            await self._count(statements, fresh)
            return _latest((portion.link_id, portion.last()) for portion in fresh if portion.quarters)

        return await self._settle({portion.link_id for portion in portions}, apply)

    async def add_recorded(self, clicks: Sequence[RecordedClick]) -> Added:
        """Clicks out of a log, in the order of their positions."""
        present = self._now()
        clicks = [click._replace(moment=present) if click.moment > present else click for click in clicks]
        await self._prepare_months(click.moment for click in clicks)
        self._chosen = [one for one in await self._store.choices() if one.workspace_id == self._workspace_id]

        async def apply(statements: Statements, entries: dict[int, Entry]) -> dict[int, int]:
            # All of a batch that lie behind what was there before it, also where positions repeat.
            known = {link_id: entry.position for link_id, entry in entries.items()}
            fresh = [click for click in clicks if click.position > known[click.link_id]]
            for click in fresh:
                entries[click.link_id].position = max(entries[click.link_id].position, click.position)
            await self._count_recorded(statements, fresh, entries)
            return _latest((click.link_id, click.moment) for click in fresh)

        return await self._settle({click.link_id for click in clicks}, apply)

    async def keep(self, rows: Sequence[Sequence[Any]]) -> int:
        """Single clicks that are counted already, under EVENT_COLUMNS; the ids are the source's. How many are kept."""
        oldest = self._now() - self._retention
        kept = [(self._event_id(row[0], row[1], row[3]), *row[1:]) for row in rows if row[3] >= oldest]
        if self._dry_run or not kept:
            return len(kept)
        await self._prepare_months(row[3] for row in kept)

        async def work(statements: Statements) -> None:
            await _keep(statements, kept)

        await self._database.transaction(work)
        return len(kept)

    async def _settle(self, link_ids: Iterable[int], apply: Apply) -> Added:
        """What `apply` does to the entries goes into the totals, in its transaction."""
        ids = sorted(link_ids)
        if not ids:
            return Added()
        source_id = await self._source()

        async def work(statements: Statements) -> Added:
            await statements_of.lock_source(statements, source_id, self._now())
            entries = await statements_of.read_entries(statements, source_id, ids)
            before = {link_id: (entry.counts(), entry.dated) for link_id, entry in entries.items()}
            latest = await apply(statements, entries)
            growth = []
            for link_id, entry in entries.items():
                (clicks, bots), (had, had_bots) = entry.counts(), before[link_id][0]
                growth.append(Claim(link_id, clicks - had, bots - had_bots, latest.get(link_id)))
            added = Added(
                sum(claim.clicks for claim in growth),
                sum(entry.dated - before[link_id][1] for link_id, entry in entries.items()),
            )
            changed = [claim for claim in growth if claim.clicks or claim.bot_clicks or claim.last_clicked_at]
            if changed:
                await statements_of.add_totals(statements, self._workspace_id, changed)
            if self._dry_run:
                raise _Undone(added)
            await statements_of.write_entries(statements, source_id, self._workspace_id, entries)
            return added

        try:
            return await self._database.transaction(work)
        except _Undone as undone:
            return undone.added

    async def _source(self) -> int:
        if self._source_id is None:
            if self._dry_run:
                # No id: nothing is known of a source that nobody has imported yet.
                found = await statements_of.find_source(self._database, self._workspace_id, self._name)
                self._source_id = found or 0
            else:
                self._source_id = await statements_of.make_source(
                    self._database, self._workspace_id, self._name, self._now()
                )
        return self._source_id

    async def _count(self, statements: Statements, portions: Sequence[Portion]) -> None:
        by_day: dict[int, list[Portion]] = defaultdict(list)
        for portion in portions:
            by_day[portion.day].append(portion)
        tallies = [Tally(day, self._workspace_id, of_day) for day, of_day in sorted(by_day.items())]
        await self._store.add(statements, tallies)
        for day, of_day in sorted(by_day.items()):
            sketches: dict[int, list[bytes]] = defaultdict(list)
            for portion in of_day:
                if portion.visitors is not None:
                    sketches[portion.link_id].append(portion.visitors)
            if sketches:
                own = self._workspace_id
                everybody = {own: [one for some in sketches.values() for one in some]}
                await statements_of.join_sketches(statements, "link", own, day, sketches)
                await statements_of.join_sketches(statements, "workspace", own, day, everybody)

    async def _count_recorded(
        self, statements: Statements, clicks: Sequence[RecordedClick], entries: dict[int, Entry]
    ) -> None:
        additions: list[Countable] = []
        events: list[Sequence[Any]] = []
        own = [one.retention_days * DAY for one in self._chosen if one.retention_days is not None]
        oldest = self._now() - min([self._retention, *own])
        # Link by link, as the columns have them.
        for _, group in groupby(sorted(clicks, key=_day_and_link), key=_day):
            of_day = list(group)
            columns = self._columns(of_day)
            for click, is_bot in zip(of_day, columns.are_bots.tolist(), strict=True):
                entries[click.link_id].dated += 1
                entries[click.link_id].dated_bots += is_bot
            addition = Addition(columns, 0)
            for rows in (addition.of_links, addition.of_workspaces):
                zeros = [0] * len(rows.owners)
                rows.totals = (zeros, zeros, rows.totals[2])
            additions.append(addition)
            for click, row in zip(of_day, zip(*columns.events(0), strict=True), strict=True):
                if click.moment >= oldest:
                    events.append((self._event_id(click.position, click.link_id, click.moment), *row[1:]))
        if not self._dry_run:
            await _keep(statements, events)
        await self._store.add(statements, additions)

    def _columns(self, clicks: Sequence[RecordedClick]) -> "Columns":
        # Here, because web workers load this room too and have no use for numpy's 13 MiB.
        import numpy as np

        from laconic.clicks.coded import Coded
        from laconic.clicks.columns import Columns
        from laconic.clicks.records import Clicks

        if self._enricher is None:
            self._enricher = self._open_enricher()
        columns = Columns.from_clicks(
            Clicks.from_clicks(
                Click(one.position, one.moment, one.link_id, one.address, one.user_agent, one.referrer, b"")
                for one in clicks
            ),
            self._enricher,
            self._hashes,
            {click.link_id: self._workspace_id for click in clicks},
            Choices(self._enricher.privacy, self._chosen),
        )

        def own(said: Iterable[Any], found: Coded) -> Coded:
            """What the source says, or else what was found."""
            rows = zip(said, found.rows(), strict=True)
            return Coded.from_column([one or other for one, other in rows]).ordered()

        pairs = list(zip(clicks, columns.are_bots.tolist(), strict=True))
        are_bots = [found if click.is_bot is None else click.is_bot for click, found in pairs]
        devices = [_device(*one) for one in zip(columns.devices.rows(), are_bots, strict=True)]
        return dataclasses.replace(
            columns,
            are_bots=np.array(are_bots, bool),
            devices=Coded.from_column(devices).ordered(),
            countries=own((click.country for click in clicks), columns.countries),
            cities=own((click.city for click in clicks), columns.cities),
            has_cities=columns.has_cities or any(click.city for click in clicks),
        )

    def _event_id(self, position: int, link_id: int, moment: int) -> int:
        """Made of what the click is: the same one comes with the same id the next time."""
        text = f"{self._workspace_id} {self._name} {position} {link_id} {moment}"
        digest = blake2b(text.encode(), digest_size=8, person=b"moved click").digest()
        return int.from_bytes(digest) >> (64 - _ID_BITS)

    async def _prepare_months(self, moments: Iterable[int]) -> None:
        oldest = self._now() - self._retention
        wanted = {month_of(moment) for moment in moments if moment >= oldest} - self._months
        for month in sorted(wanted) if not self._dry_run else ():
            await self._database.prepare_months(month, 1)
        self._months |= wanted


async def _keep(statements: Statements, events: Sequence[Sequence[Any]]) -> None:
    by_month: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for event in events:
        by_month[month_of(event[3])].append(event)
    for month, rows in sorted(by_month.items()):
        await statements.keep_events(month, EVENT_COLUMNS, rows)


def _day(click: RecordedClick) -> int:
    return click.moment // DAY


def _day_and_link(click: RecordedClick) -> tuple[int, int]:
    return _day(click), click.link_id


def _device(found: str, is_bot: bool) -> str:
    """As the source has it."""
    if is_bot:
        return "bot"
    return "unknown" if found == "bot" else found


def _latest(moments: Iterable[tuple[int, int]]) -> dict[int, int]:
    latest: dict[int, int] = {}
    for link_id, moment in moments:
        latest[link_id] = max(latest.get(link_id, moment), moment)
    return latest
