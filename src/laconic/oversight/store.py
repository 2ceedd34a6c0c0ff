"""The SQL of what the operator keeps. It reaches all workspaces: only the operator's verbs may call it."""

from typing import Any

from laconic.clock import HOUR
from laconic.ids import first_id
from laconic.oversight.model import BlockedHost, Report, Takedown
from laconic.redirect.model import GoneReason
from laconic.storage.database import Database, Row, Statements

_TAKEDOWN_COLUMNS = (
    "takedown.link_id, takedown.workspace_id, short_link.domain_id, short_link.short_code,"
    " short_link.original_url, takedown.reason, takedown.created_at"
)
_REPORT_COLUMNS = (
    "link_report.id, link_report.link_id, link_report.workspace_id, short_link.domain_id, short_link.short_code,"
    " short_link.original_url, link_report.reason, link_report.message, link_report.contact, link_report.target,"
    " link_report.address, link_report.state, link_report.created_at, link_report.reviewed_at"
)

_LIVE = " WHERE is_active AND NOT is_deleted"
# A link's id is made a moment before its row, perhaps by another clock.
_CLOCKS_DIFFER = HOUR


class OversightStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_takedowns(self, before: int, limit: int) -> list[Takedown]:
        """The newest links first; `before` is the link id that the last page ended with."""
        rows = await self._database.fetch_all(
            f"SELECT {_TAKEDOWN_COLUMNS} FROM takedown JOIN short_link ON short_link.id = takedown.link_id"
            f" WHERE takedown.link_id < $1 ORDER BY takedown.link_id DESC LIMIT {limit:d}",
            before,
        )
        return [Takedown(*row) for row in rows]

    async def list_blocked(self, after: str, limit: int) -> list[BlockedHost]:
        rows = await self._database.fetch_all(
            "SELECT host, includes_subdomains, reason, created_at FROM blocked_host"
            f" WHERE NOT is_removed AND host > $1 ORDER BY host LIMIT {limit:d}",
            after,
        )
        return [BlockedHost(host, bool(below), reason, created) for host, below, reason, created in rows]

    async def add_report(self, report: Report, most_open: int) -> bool:
        """False when so many reports on the link wait already that one more says nothing new."""
        added = await self._database.execute(
            "INSERT INTO link_report (id, link_id, workspace_id, reason, message, contact, target, address, created_at)"
            " SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9"
            " WHERE (SELECT count(*) FROM link_report WHERE link_id = $2 AND state = 'open') < $10",
            report.id,
            report.link_id,
            report.workspace_id,
            report.reason,
            report.message,
            report.contact,
            report.target,
            report.address,
            report.created_at,
            most_open,
        )
        return added > 0

    async def list_reports(self, state: str, after: int, limit: int) -> list[Report]:
        """The oldest first: whoever has waited longest is looked at first."""
        rows = await self._database.fetch_all(
            f"SELECT {_REPORT_COLUMNS} FROM link_report JOIN short_link ON short_link.id = link_report.link_id"
            f" WHERE link_report.state = $1 AND link_report.id > $2 ORDER BY link_report.id LIMIT {limit:d}",
            state,
            after,
        )
        return [Report(*row) for row in rows]

    async def find_report(self, report_id: int) -> Report | None:
        row = await self._database.fetch_one(
            f"SELECT {_REPORT_COLUMNS} FROM link_report JOIN short_link ON short_link.id = link_report.link_id"
            " WHERE link_report.id = $1",
            report_id,
        )
        return Report(*row) if row else None

    async def count_everything(self, a_day_ago: int) -> tuple[dict[str, int], list[str]]:
        """Numbers, and the names of those that are estimates. Nothing is read that grows with all links there are, where
        the engine can estimate them."""
        links = await self._database.estimate_rows("short_link")
        live = await self._database.estimate_rows("short_link_live_idx")
        estimates = [name for name, found in (("links", links), ("links_live", live)) if found is not None]
        counts = {
            **await self._count(
                "SELECT (SELECT count(*) FROM workspace WHERE NOT is_deleted),"
                " (SELECT count(*) FROM users WHERE NOT is_deleted),"
                " (SELECT count(*) FROM api_key WHERE is_active),"
                " (SELECT count(*) FROM domain WHERE verified_at IS NOT NULL AND NOT is_deleted),"
                " (SELECT count(*) FROM domain WHERE lapsed_at IS NOT NULL AND NOT is_deleted),"
                " (SELECT count(*) FROM blocked_host WHERE NOT is_removed), (SELECT count(*) FROM takedown),"
                " (SELECT count(*) FROM link_report WHERE state = 'open')",
                "workspaces users api_keys domains domains_lapsed blocked_hosts takedowns open_reports",
            ),
            "links": links if links is not None else await self._count_links(""),
            # Those whose time is over are among them until the reaper has come by.
            "links_live": live if live is not None else await self._count_links(_LIVE),
            **await self._count(
                # Ids grow with time: the day's links lie together.
                "SELECT count(*) FROM short_link WHERE id >= $1 AND created_at > $2",
                "links_created_24h",
                first_id(a_day_ago - _CLOCKS_DIFFER),
                a_day_ago,
            ),
            **await self._count(
                "SELECT coalesce(sum(clicks), 0), coalesce(sum(bot_clicks), 0) FROM workspace_total",
                "clicks bot_clicks",
            ),
        }
        return counts, estimates

    async def _count_links(self, condition: str) -> int:
        row = await self._database.fetch_one(f"SELECT count(*) FROM short_link{condition}")
        return int(row[0]) if row else 0

    async def _count(self, sql: str, names: str, *arguments: Any) -> dict[str, int]:
        row = await self._database.fetch_one(sql, *arguments)
        return dict(zip(names.split(), row or (), strict=True))


# Statements of a transaction that a verb has opened.


async def find_block(statements: Statements, host: str) -> BlockedHost | None:
    row = await statements.fetch_one(
        "SELECT host, includes_subdomains, reason, created_at FROM blocked_host WHERE host = $1 AND NOT is_removed",
        host,
    )
    return BlockedHost(row[0], bool(row[1]), row[2], row[3]) if row else None


async def keep_block(statements: Statements, blocked: BlockedHost, created_by: int | None) -> None:
    await statements.execute(
        "INSERT INTO blocked_host (host, includes_subdomains, reason, created_by, created_at)"
        " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (host) DO UPDATE SET is_removed = FALSE,"
        " includes_subdomains = excluded.includes_subdomains, reason = excluded.reason,"
        " created_by = excluded.created_by, created_at = excluded.created_at",
        blocked.host,
        blocked.includes_subdomains,
        blocked.reason,
        created_by,
        blocked.created_at,
    )


async def drop_block(statements: Statements, host: str) -> bool:
    changed = await statements.execute(
        "UPDATE blocked_host SET is_removed = TRUE WHERE host = $1 AND NOT is_removed", host
    )
    return changed > 0


async def dismiss_report(
    statements: Statements, report_id: int, reviewed_by: int | None, moment: int
) -> bool:
    changed = await statements.execute(
        "UPDATE link_report SET state = 'dismissed', reviewed_by = $2, reviewed_at = $3"
        " WHERE id = $1 AND state = 'open'",
        report_id,
        reviewed_by,
        moment,
    )
    return changed > 0


async def find_takedown(statements: Statements, link_id: int) -> Row | None:
    """(previous_reason, reason) of a link that was taken down."""
    return await statements.fetch_one(
        "SELECT previous_reason, reason FROM takedown WHERE link_id = $1", link_id
    )


async def keep_takedown(
    statements: Statements, takedown: Takedown, previous_reason: GoneReason | None, created_by: int | None
) -> None:
    """A second takedown of the same link is a better reason for the first."""
    await statements.execute(
        "INSERT INTO takedown (link_id, workspace_id, reason, previous_reason, created_by, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (link_id) DO UPDATE SET reason = excluded.reason",
        takedown.link_id,
        takedown.workspace_id,
        takedown.reason,
        previous_reason,
        created_by,
        takedown.created_at,
    )


async def drop_takedown(statements: Statements, link_id: int) -> None:
    await statements.execute("DELETE FROM takedown WHERE link_id = $1", link_id)


async def uphold_reports(statements: Statements, link_id: int, reviewed_by: int | None, moment: int) -> int:
    """The link was taken down: nobody has to look at what else is said of it. Says how many there were."""
    return await statements.execute(
        "UPDATE link_report SET state = 'upheld', reviewed_by = $2, reviewed_at = $3"
        " WHERE link_id = $1 AND state = 'open'",
        link_id,
        reviewed_by,
        moment,
    )
