"""What visitors say about links, and what the operator makes of it."""

import ipaddress
from collections.abc import Callable

from laconic import clock
from laconic.errors import ChoiceRefused, EntryUnknown
from laconic.ids import IdSource
from laconic.links.store import PublicLink
from laconic.oversight import store as statements_of
from laconic.oversight.model import (
    LONGEST_CONTACT,
    LONGEST_MESSAGE,
    REPORT_REASONS,
    Report,
    ReportDraft,
    ReportState,
)
from laconic.oversight.store import OversightStore
from laconic.oversight.takedown import checked_text
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import Event, record_oversight
from laconic.workspaces.model import Actor

# Reports on one link that wait to be looked at: the next one would say nothing new, and fill the disk.
_MOST_OPEN = 50


class VisitorReports:
    def __init__(self, database: Database, *, now: Callable[[], int] = clock.now) -> None:
        self._database = database
        self._store = OversightStore(database)
        self._now = now
        self._ids = IdSource()

    async def send(self, domain_id: int, code: str, link: PublicLink, draft: ReportDraft) -> None:
        """Kept for the operator, unless many others wait: the visitor is thanked either way."""
        reason = next((known for known in REPORT_REASONS if known == draft.reason), None)
        if reason is None:
            raise ChoiceRefused("reason", f"The reason is one of {', '.join(REPORT_REASONS)}.")
        moment = self._now()
        report = Report(
            id=self._ids.take(moment),
            link_id=link.row.link_id,
            workspace_id=link.workspace_id,
            domain_id=domain_id,
            short_code=code,
            original_url=link.original_url,
            reason=reason,
            message=checked_text("message", draft.message, LONGEST_MESSAGE) or None,
            contact=checked_text("contact", draft.contact, LONGEST_CONTACT) or None,
            target=link.row.location,
            address=_network_of(draft.address),
            state="open",
            created_at=moment,
            reviewed_at=None,
        )
        await self._store.add_report(report, _MOST_OPEN)

    async def page(self, state: ReportState, after: int, limit: int) -> list[Report]:
        return await self._store.list_reports(state, after, limit)

    async def dismiss(self, report_id: int, actor: Actor) -> Report:
        """Nothing is wrong with the link. Taking it down is what upholds a report."""

        async def work(statements: Statements) -> None:
            moment = self._now()
            if not await statements_of.dismiss_report(statements, report_id, actor.user_id, moment):
                raise EntryUnknown("There is no open report with this id.")
            event = Event("report.dismiss", report_id, None, {"state": "open"}, {"state": "dismissed"})
            await record_oversight(statements, None, actor, event, moment)

        await self._database.transaction(work)
        report = await self._store.find_report(report_id)
        if report is None:
            raise EntryUnknown("There is no report with this id.")
        return report


def _network_of(address: str) -> str | None:
    """Cut as the addresses of clicks are: enough to see that many reports come from one place."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    length = 24 if parsed.version == 4 else 48
    return str(ipaddress.ip_network(f"{parsed}/{length}", strict=False).network_address)
