"""The one SELECT of a redirect, and a second one for the few links that were taken down."""

from dataclasses import replace

from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.model import LinkRow
from laconic.storage.database import Database

_LOOKUP = (
    "SELECT id, coalesce(target_url, original_url), redirect_status, expires_at, is_active, is_deleted,"
    " gone_reason, version FROM short_link WHERE domain_id = $1 AND short_code = $2"
)
_TAKEDOWN = "SELECT reason FROM takedown WHERE link_id = $1"


class Lookup:
    def __init__(self, database: Database, blocked: BlockedHosts | None = None) -> None:
        self._fetch = database.fetch_hot
        self._blocked = blocked or BlockedHosts()

    async def __call__(self, domain_id: int, code: str) -> LinkRow | None:
        row = await self._fetch(_LOOKUP, domain_id, code)
        if row is None:
            return None
        link = LinkRow(*row)
        if link.gone_reason == "taken_down":
            found = await self._fetch(_TAKEDOWN, link.link_id)
            return link if found is None else replace(link, note=str(found[0]))
        return block(link, self._blocked)


def block(link: LinkRow, blocked: BlockedHosts) -> LinkRow:
    """The link as a visitor meets it: gone, while the operator blocks where it leads."""
    is_gone = link.is_deleted or not (link.is_active or link.gone_reason == "expired")
    # Blanked rows lead nowhere.
    if is_gone or not link.location or not blocked.blocks_location(link.location):
        return link
    return replace(link, is_active=False, gone_reason="blocked")
