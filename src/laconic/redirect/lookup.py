"""The one SELECT of a redirect."""

from laconic.redirect.model import LinkRow
from laconic.storage.database import Database

_LOOKUP = (
    "SELECT id, coalesce(target_url, original_url), redirect_status, expires_at, is_active, is_deleted,"
    " gone_reason, version FROM short_link WHERE domain_id = $1 AND short_code = $2"
)


class Lookup:
    def __init__(self, database: Database) -> None:
        self._fetch = database.fetch_hot

    async def __call__(self, domain_id: int, code: str) -> LinkRow | None:
        row = await self._fetch(_LOOKUP, domain_id, code)
        return LinkRow(*row) if row else None
