"""takedown, blocked and report."""

import asyncio

from laconic.cli.documents import block_document, report_document, takedown_document
from laconic.links.store import LinkStore
from laconic.oversight.model import BlockedHost, Report, ReportDraft, Takedown
from laconic.oversight.reports import VisitorReports
from laconic.storage.engines import open_database
from laconic.web.api.oversight import block_json, report_json, takedown_json
from tests.cli.conftest import Laconic

URL = "https://example.com/"


def test_a_link_is_taken_down_and_put_back(laconic: Laconic) -> None:
    """By code or short URL; one of --reason and --undo is said."""
    laconic("shorten", URL, "--code", "sale24")
    taken = laconic("takedown", "http://localhost/sale24", "--reason", "Phishing", "--json").json()
    assert (taken["short_code"], taken["reason"]) == ("sale24", "Phishing")
    assert laconic("list", "--json").json()["items"][0]["is_active"] is False
    assert laconic("takedown", "sale24", "--undo").status == 0
    assert laconic("list", "--json").json()["items"][0]["is_active"] is True
    again = laconic("takedown", "sale24", "--undo", "--json")
    assert (again.status, again.problem()["code"]) == (1, "entry_unknown")
    for arguments in ([], ["--undo", "--reason", "x"]):
        assert laconic("takedown", "sale24", *arguments).status == 2
    elsewhere = laconic("takedown", "https://unknown.example/sale24", "--reason", "x", "--json")
    assert (elsewhere.status, elsewhere.problem()["code"]) == (1, "link_unknown")


def test_hosts_are_blocked_and_unblocked(laconic: Laconic) -> None:
    """With all below them, or exactly."""
    assert laconic("blocked", "add", "evil.example").line() == "Blocked evil.example and every name below it."
    laconic("blocked", "add", "exact.example", "--exact", "--reason", "Kit")
    shown = laconic("blocked", "list", "--json").json()["items"]
    assert [(one["host"], one["includes_subdomains"], one["reason"]) for one in shown] == [
        ("evil.example", True, None),
        ("exact.example", False, "Kit"),
    ]
    refused = laconic("shorten", "https://www.evil.example/", "--json")
    assert refused.problem()["reason"] == "blocked_host"
    assert "exact" in laconic("blocked", "list", "--after", "evil.example").line()
    assert laconic("blocked", "remove", "evil.example", "--json").json() == {"removed": "evil.example"}
    gone = laconic("blocked", "remove", "evil.example", "--json")
    assert (gone.status, gone.problem()["code"]) == (1, "entry_unknown")


def test_reports_are_looked_at(laconic: Laconic, migrated_url: str) -> None:
    """Oldest first; what others wrote does not drive the terminal."""
    laconic("shorten", URL, "--code", "sale24")
    assert laconic("report", "list").err == "No reports.\n"

    async def send() -> None:
        database = await open_database(migrated_url)
        try:
            link = await LinkStore(database).find_public(1, "sale24")
            assert link is not None
            draft = ReportDraft("spam", "see \x1b[31mthis", "", "203.0.113.9")
            await VisitorReports(database).send(1, "sale24", link, draft)
        finally:
            await database.close()

    asyncio.run(send())
    (shown,) = laconic("report", "list", "--json").json()["items"]
    assert (shown["short_url"], shown["reason"]) == ("http://localhost:8000/sale24", "spam")
    assert "\x1b" not in laconic("report", "list").line()
    assert laconic("report", "dismiss", shown["id"], "--json").json()["state"] == "dismissed"
    assert laconic("report", "list", "--state", "dismissed", "--json").json()["items"][0]["id"] == shown["id"]
    again = laconic("report", "dismiss", shown["id"], "--json")
    assert (again.status, again.problem()["code"]) == (1, "entry_unknown")


def test_json_is_what_the_api_answers() -> None:
    """The shapes stand twice in the code; they must not drift apart."""

    def short_url(domain_id: int, code: str) -> str:
        return f"https://{domain_id}.example/{code}"

    takedown = Takedown(1, 2, 3, "abcd", URL, "Phishing", 4)
    assert takedown_document(takedown, short_url) == takedown_json(takedown, short_url)
    blocked = BlockedHost("evil.example", True, None, 5)
    assert block_document(blocked) == block_json(blocked)
    for reviewed_at in (None, 6):
        report = Report(1, 2, 3, 4, "abcd", URL, "spam", "x", None, URL, None, "open", 5, reviewed_at)
        assert report_document(report, short_url) == report_json(report, short_url)
