"""Importing: records of any source into a workspace, in bounded batches.

Links go in by their codes and clicks by what their source has added before, so a second import adds what is new, and
one that was cut short goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from laconic import clock
from laconic.clicks.moved.add import Added, MovedClicks
from laconic.clicks.moved.model import Claim, Portion, RecordedClick
from laconic.links.adopted.adopt import Adoption, LinkAdopter, Outcome
from laconic.links.adopted.store import Key
from laconic.moving.records import KeptClick, MovedClick, MovedDay, MovedLink, Record, Source, Unreadable
from laconic.moving.report import Report
from laconic.workspaces.domains.directory import Directory

_BATCH = 2_000
_TAKEN_IN = frozenset({"added", "present", "differs", "changed"})
_UNKNOWN_DOMAIN = "This workspace has no domain {!r}: add it first, or name another with --map-domain."


@dataclass(frozen=True, slots=True)
class Plan:
    """How to import."""

    workspace_id: int
    domain_id: int | None = None
    """For links whose source names no domain; None: the workspace's default."""
    domains: Mapping[str, str] = field(default_factory=dict)
    """Domains of the source that have another name here."""
    overwrite: bool = False
    dry_run: bool = False


class Importer:
    """The verb "import". `clicks` is None where clicks are left out."""

    def __init__(
        self,
        adopter: LinkAdopter,
        clicks: MovedClicks | None,
        directory: Directory,
        plan: Plan,
        report: Report,
        *,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._adopter = adopter
        self._clicks = clicks
        self._directory = directory
        self._plan = plan
        self.report = report
        self._now = now
        # Codes whose clicks go nowhere: their links were not taken in.
        self._refused: set[Key] = set()
        # In a dry run: links that are not there yet, with the clicks they would bring.
        self._planned: dict[Key, list[int]] = {}
        self._ids: dict[Key, int] = {}

    async def run(self, source: Source, advance: Callable[[int], None] = lambda _: None) -> Report:
        batch: list[Record] = []
        async for record in source.records():
            batch.append(record)
            if len(batch) >= _BATCH:
                await self._take(batch)
                advance(len(batch))
                batch = []
        await self._take(batch)
        advance(len(batch))
        self.report.clicks_added += sum(max(pair) for pair in self._planned.values())
        return self.report

    async def _take(self, batch: Sequence[Record]) -> None:
        """Links first: whatever else is in a batch belongs to links of this one or of one before."""
        for record in batch:
            if isinstance(record, Unreadable):
                self.report.note_unreadable(record)
        self._ids = {}
        await self._take_links([record for record in batch if isinstance(record, MovedLink)])
        if self._clicks is not None:
            others = [record for record in batch if isinstance(record, MovedDay | MovedClick | KeptClick)]
            await self._learn_ids(others)
            await self._take_days([one for one in others if isinstance(one, MovedDay)])
            await self._take_clicks([one for one in others if isinstance(one, MovedClick)])
            await self._take_kept([one for one in others if isinstance(one, KeptClick)])

    async def _take_links(self, links: Sequence[MovedLink]) -> None:
        known = [(link, self._domain_of(link.domain)) for link in links]
        for link, domain_id in known:
            if domain_id is None:
                detail = _UNKNOWN_DOMAIN.format(link.domain)
                self.report.note_link(link, "refused", "domain_unknown", detail, ())
        wanted = [
            (link, self._adoption(link, domain_id)) for link, domain_id in known if domain_id is not None
        ]
        outcomes = await self._adopter.adopt(
            self._plan.workspace_id,
            [adoption for _, adoption in wanted],
            overwrite=self._plan.overwrite,
            dry_run=self._plan.dry_run,
        )
        claims = []
        for (link, adoption), outcome in zip(wanted, outcomes, strict=True):
            self.report.note_link(link, outcome.what, outcome.reason, outcome.detail, outcome.fields)
            if self._settle(adoption.key, outcome, link.clicks) and link.clicks:
                link_id = self._ids[adoption.key]
                claims.append(Claim(link_id, link.clicks, link.bot_clicks, link.last_clicked_at))
        if self._clicks is not None:
            self._add(await self._clicks.claim(claims))

    def _settle(self, key: Key, outcome: Outcome, clicks: int) -> bool:
        """Is the link here now, so that clicks can be added to it?"""
        if outcome.what not in _TAKEN_IN or outcome.link_id is None:
            self._refused.add(key)
            return False
        self._refused.discard(key)
        if self._plan.dry_run and outcome.what == "added":
            self._planned[key] = [0, clicks if self._clicks is not None else 0]
            return False
        self._ids[key] = outcome.link_id
        return True

    def _adoption(self, link: MovedLink, domain_id: int) -> Adoption:
        return Adoption(
            domain_id,
            link.short_code,
            link.original_url,
            self._now() if link.created_at is None else link.created_at,
            updated_at=link.updated_at,
            expires_at=link.expires_at,
            title=link.title,
            description=link.description,
            metadata=link.metadata,
            redirect_status=link.redirect_status,
            is_active=link.is_active,
            is_deleted=link.is_deleted,
            gone_reason=link.gone_reason,
        )

    def _domain_of(self, host: str | None) -> int | None:
        if host is None or host == "":
            if self._plan.domain_id is not None:
                return self._plan.domain_id
            return self._directory.default_of(self._plan.workspace_id)
        domain = self._directory.find(self._plan.workspace_id, self._plan.domains.get(host, host))
        return domain.id if domain is not None and domain.is_served else None

    def _key_of(self, record: MovedDay | MovedClick | KeptClick) -> Key:
        return self._domain_of(record.domain) or 0, record.short_code

    async def _learn_ids(self, records: Sequence[MovedDay | MovedClick | KeptClick]) -> None:
        keys = {self._key_of(record) for record in records} - self._ids.keys() - self._refused
        missing = [key for key in keys if key not in self._planned]
        if missing:
            self._ids |= await self._adopter.find(self._plan.workspace_id, missing)

    def _link_id(self, record: MovedDay | MovedClick | KeptClick, clicks: int) -> int | None:
        """None where the clicks cannot be added, or only counted because nothing is written."""
        key = self._key_of(record)
        if key in self._planned:
            if not isinstance(record, KeptClick):
                self._planned[key][0] += clicks
                self.report.clicks_dated += clicks
            return None
        if key in self._refused or key not in self._ids:
            self.report.clicks_without_link += clicks
            return None
        return self._ids[key]

    async def _take_days(self, days: Sequence[MovedDay]) -> None:
        portions = []
        for day in days:
            clicks = sum(pair[0] for pair in day.quarters.values())
            link_id = self._link_id(day, clicks)
            if link_id is not None:
                portions.append(
                    Portion(link_id, day.position, day.day, day.quarters, day.dimensions, day.visitors)
                )
        if self._clicks is not None:
            self._add(await self._clicks.add_portions(portions))

    async def _take_clicks(self, clicks: Sequence[MovedClick]) -> None:
        recorded = []
        for click in clicks:
            link_id = self._link_id(click, 1)
            if link_id is not None:
                recorded.append(
                    RecordedClick(
                        link_id,
                        click.position,
                        click.moment,
                        click.address.encode(errors="replace"),
                        click.user_agent.encode(errors="replace"),
                        click.referrer.encode(errors="replace"),
                        click.country,
                        click.city,
                        click.is_bot,
                    )
                )
        if self._clicks is not None:
            self._add(await self._clicks.add_recorded(recorded))

    async def _take_kept(self, clicks: Sequence[KeptClick]) -> None:
        rows = []
        for click in clicks:
            link_id = self._link_id(click, 1)
            if link_id is not None:
                rows.append((click.id, link_id, self._plan.workspace_id, click.clicked_at, *click.values))
        if self._clicks is not None and rows:
            self.report.raw_clicks += await self._clicks.keep(rows)

    def _add(self, added: Added) -> None:
        self.report.clicks_added += added.clicks
        self.report.clicks_dated += added.dated
