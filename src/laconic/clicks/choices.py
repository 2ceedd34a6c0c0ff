"""What workspaces have chosen about their clicks. A workspace may keep less than the installation does, never more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from laconic.clicks.keeping import stricter
from laconic.clicks.places import cut_network
from laconic.clock import DAY


class Choice(NamedTuple):
    """As its workspace has written it; None: as the installation has it."""

    workspace_id: int
    privacy: str | None
    retention_days: int | None


class Choices:
    """Those of the workspaces that differ from the installation. Most installations have none."""

    def __init__(self, installation: str, chosen: Iterable[Choice] = ()) -> None:
        self._levels: dict[int, str] = {}
        self._retentions: dict[int, int] = {}
        for workspace_id, privacy, days in chosen:
            level = stricter(installation, privacy)
            if level != installation:
                self._levels[workspace_id] = level
            if days is not None:
                self._retentions[workspace_id] = days * DAY

    def networks(self, workspace_ids: Sequence[int], networks: Sequence[str | None]) -> Sequence[str | None]:
        """What is kept of addresses, a column; the column that came where nobody has chosen otherwise."""
        if not self._levels or self._levels.keys().isdisjoint(workspace_ids):
            return networks
        levels = self._levels
        return [
            network if workspace_id not in levels else _kept(levels[workspace_id], network)
            for workspace_id, network in zip(workspace_ids, networks, strict=True)
        ]

    def too_old(self, workspace_ids: Sequence[int], moments: Sequence[int], now: int) -> list[bool] | None:
        """Which clicks came later than their workspace keeps any; None: none did."""
        if not self._retentions or self._retentions.keys().isdisjoint(workspace_ids):
            return None
        kept: Mapping[int, int] = {owner: now - length for owner, length in self._retentions.items()}
        old = [
            moment < kept.get(workspace_id, 0)
            for workspace_id, moment in zip(workspace_ids, moments, strict=True)
        ]
        return old if any(old) else None


def _kept(level: str, network: str | None) -> str | None:
    return None if network is None or level == "none" else cut_network(network)
