"""The clicks of one UTC day, enriched, column by column: a click at a time would cost many times as much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.clicks.choices import Choices
from laconic.clicks.coded import Coded, Numbers
from laconic.clicks.enrich import Enricher
from laconic.clicks.records import Clicks
from laconic.clicks.visitors import VisitorHashes
from laconic.clock import DAY

# A hash of eight bytes.
VISITOR = np.dtype("V8")


@dataclass(frozen=True, slots=True)
class Columns:
    """Each column has a value for every click; an empty text stands for "unknown".

    The clicks stand link by link, those of one link in the order they were written. So the rows that are made of them
    touch each page of an index over links once, which halves what raw clicks cost.
    """

    day: int
    sequences: Sequence[int]
    moments: Numbers
    links: Coded
    workspaces: Coded
    visitors: NDArray[np.void]
    are_bots: NDArray[np.bool_]
    user_agents: Sequence[str | None]
    devices: Coded
    browsers: Coded
    systems: Coded
    networks: Sequence[str | None]
    countries: Coded
    cities: Coded
    referrers: Sequence[str | None]
    referrer_hosts: Coded
    languages: Coded
    has_cities: bool

    @classmethod
    def from_clicks(
        cls,
        clicks: Clicks,
        enricher: Enricher,
        hashes: VisitorHashes,
        workspaces: Mapping[int, int],
        choices: Choices,
    ) -> "Columns":
        """All clicks are of one day, and their links' workspaces are known."""
        order = np.argsort(clicks.link_ids, kind="stable")
        agents = Coded.from_column(clicks.user_agents).at(order).apply(enricher.agents.__getitem__)
        places = Coded.from_column(clicks.addresses).at(order).apply(enricher.places.__getitem__)
        referrers = Coded.from_column(clicks.referrers).at(order).apply(enricher.referrers.__getitem__)
        languages = Coded.from_column(clicks.languages).at(order).apply(enricher.languages.__getitem__)
        links = Coded.from_numbers(clicks.link_ids[order])
        owners = links.apply(workspaces.__getitem__)
        networks = places.apply(attrgetter("network")).rows()
        day = int(clicks.moments[0]) // DAY
        visitors = hashes.of_day(day, clicks.addresses, clicks.user_agents)
        return cls(
            day=day,
            sequences=clicks.sequences[order].tolist(),
            moments=clicks.moments[order],
            links=links,
            workspaces=owners,
            visitors=np.frombuffer(b"".join(visitors), VISITOR)[order],
            are_bots=np.array([agent.is_bot for agent in agents.values])[agents.places],
            user_agents=agents.apply(attrgetter("text")).rows(),
            devices=agents.apply(attrgetter("device_type")).ordered(),
            browsers=agents.apply(attrgetter("browser")).ordered(),
            systems=agents.apply(attrgetter("os")).ordered(),
            networks=choices.networks(owners.rows(), networks),
            countries=places.apply(attrgetter("country")).ordered(),
            cities=places.apply(attrgetter("city")).ordered(),
            referrers=referrers.apply(attrgetter("text")).rows(),
            referrer_hosts=referrers.apply(attrgetter("host")).ordered(),
            languages=languages.ordered(),
            has_cities=enricher.has_cities,
        )

    def events(self, first_id: int) -> list[Sequence[Any]]:
        """The columns of `click_event`, in the order of EVENT_COLUMNS."""
        return [
            range(first_id, first_id + len(self.moments)),
            self.links.rows(),
            self.workspaces.rows(),
            self.moments.tolist(),
            self.networks,
            self.visitors.tolist(),
            self.user_agents,
            self.referrers,
            self.countries.apply(_none_for_empty).rows(),
            self.cities.apply(_none_for_empty).rows(),
            self.devices.rows(),
            self.browsers.apply(_none_for_empty).rows(),
            self.systems.apply(_none_for_empty).rows(),
            self.languages.apply(_none_for_empty).rows(),
        ]

    def dimensions(self) -> dict[str, Coded]:
        """What the clicks are counted by; the values of each in order."""
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


def _none_for_empty(text: str) -> str | None:
    return text or None
