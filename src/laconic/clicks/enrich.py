"""What a click tells beyond itself: who came with what, from where, sent by whom.

Each part is a dictionary from a header's bytes (or the address) to what is kept of it, filled on demand and bounded.
For the process that ingests: loading takes some 35 MiB.
"""

from dataclasses import dataclass

from laconic.clicks.agents import Agents
from laconic.clicks.headers import Languages
from laconic.clicks.places import Places
from laconic.clicks.referrers import Referrers


@dataclass(frozen=True, slots=True)
class Enricher:
    agents: Agents
    places: Places
    referrers: Referrers
    languages: Languages

    @classmethod
    def from_settings(cls, privacy: str, geoip_file: str) -> "Enricher":
        """`privacy` is full, truncate or none; `geoip_file` a path, or empty."""
        return cls(Agents(), Places(privacy, geoip_file), Referrers(), Languages())

    @property
    def privacy(self) -> str:
        """What the installation keeps of addresses."""
        return self.places.privacy

    @property
    def has_cities(self) -> bool:
        """Whether a place may have a city now: without a GeoIP file none has."""
        return self.places.has_cities

    def refresh(self) -> None:
        """Between batches: takes up a GeoIP file that was replaced. Costs next to nothing when called often."""
        self.places.refresh()
