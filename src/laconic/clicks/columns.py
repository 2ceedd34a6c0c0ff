"""The clicks of one UTC day, enriched, column by column: a click at a time would cost three times as much."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laconic.clicks.choices import Choices
from laconic.clicks.click import Click
from laconic.clicks.enrich import Enricher
from laconic.clicks.visitors import VisitorHashes
from laconic.clock import DAY

Column = Sequence[Any]

EVENT_COLUMNS = (
    "id",
    "short_link_id",
    "workspace_id",
    "clicked_at",
    "ip_address",
    "visitor_hash",
    "user_agent",
    "referer",
    "country",
    "city",
    "device_type",
    "browser",
    "os",
    "language",
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Each column has a value for every click; an empty text stands for "unknown"."""

    day: int
    sequences: Sequence[int]
    moments: Sequence[int]
    link_ids: Sequence[int]
    workspace_ids: Sequence[int]
    visitors: Sequence[bytes]
    are_bots: Sequence[bool]
    user_agents: Sequence[str | None]
    devices: Sequence[str]
    browsers: Sequence[str]
    systems: Sequence[str]
    networks: Sequence[str | None]
    countries: Sequence[str]
    cities: Sequence[str]
    referrers: Sequence[str | None]
    referrer_hosts: Sequence[str]
    languages: Sequence[str]
    has_cities: bool

    @classmethod
    def from_clicks(
        cls,
        clicks: Sequence[Click],
        enricher: Enricher,
        hashes: VisitorHashes,
        workspaces: Mapping[int, int],
        choices: Choices,
    ) -> "Columns":
        """All clicks are of one day, and their links' workspaces are known."""
        sequences, moments, link_ids, addresses, agents, referrers, languages = zip(*clicks, strict=True)
        texts, devices, browsers, systems, are_bots = _unzip(enricher.agents.__getitem__, agents)
        networks, countries, cities = _unzip(enricher.places.__getitem__, addresses)
        referrer_texts, referrer_hosts = _unzip(enricher.referrers.__getitem__, referrers)
        workspace_ids = [workspaces[link_id] for link_id in link_ids]
        day = moments[0] // DAY
        return cls(
            day=day,
            sequences=sequences,
            moments=moments,
            link_ids=link_ids,
            workspace_ids=workspace_ids,
            visitors=hashes.of_day(day, addresses, agents),
            are_bots=are_bots,
            user_agents=texts,
            devices=devices,
            browsers=browsers,
            systems=systems,
            networks=choices.networks(workspace_ids, networks),
            countries=countries,
            cities=cities,
            referrers=referrer_texts,
            referrer_hosts=referrer_hosts,
            languages=[enricher.languages[language] for language in languages],
            has_cities=enricher.has_cities,
        )

    def events(self, first_id: int) -> list[Sequence[Any]]:
        """The columns of `click_event`, in the order of EVENT_COLUMNS."""
        return [
            range(first_id, first_id + len(self.moments)),
            self.link_ids,
            self.workspace_ids,
            self.moments,
            self.networks,
            self.visitors,
            self.user_agents,
            self.referrers,
            _none_for_empty(self.countries),
            _none_for_empty(self.cities),
            self.devices,
            _none_for_empty(self.browsers),
            _none_for_empty(self.systems),
            _none_for_empty(self.languages),
        ]

    def dimensions(self) -> dict[str, Sequence[str]]:
        """What the clicks are counted by."""
        found = {
            "browser": self.browsers,
            "country": self.countries,
            "device_type": self.devices,
            "language": self.languages,
            "os": self.systems,
            "referer": self.referrer_hosts,
        }
        # Without a file that knows cities there would be a row of "unknown" for every link and day.
        return found | {"city": self.cities} if self.has_cities else found


def _unzip(find: Callable[[bytes], Sequence[Any]], keys: Iterable[bytes]) -> Iterable[tuple[Any, ...]]:
    return zip(*map(find, keys), strict=True)


def _none_for_empty(column: Iterable[str]) -> list[str | None]:
    return [text or None for text in column]
