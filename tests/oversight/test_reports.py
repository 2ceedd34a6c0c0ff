"""What visitors report, and the numbers of the whole installation."""

import pytest

from laconic.errors import ChoiceRefused, EntryUnknown
from laconic.links.store import PublicLink
from laconic.oversight.model import ReportDraft
from tests.links.desk import DOMAIN
from tests.oversight.conftest import OPERATOR, Bench

_MOST_OPEN = 50


async def _public(bench: Bench, code: str) -> PublicLink:
    link = await bench.desk.store.find_public(DOMAIN, code)
    assert link is not None
    return link


async def _send(bench: Bench, code: str, reason: str = "phishing", **fields: str) -> None:
    await bench.reports.send(DOMAIN, code, await _public(bench, code), ReportDraft(reason, **fields))


async def test_a_report_keeps_where_the_link_led(bench: Bench) -> None:
    """Its owner may change that a minute later. Of the visitor's address only the network is kept."""
    code = (await bench.desk.make("https://evil.example/a")).short_code
    await _send(bench, code, message=" Looks like my bank ", contact="", address="203.0.113.77")
    await bench.desk.edit(code, original_url="https://example.com/")
    (report,) = await bench.reports.page("open", 0, 10)
    assert (report.short_code, report.reason) == (code, "phishing")
    assert (report.target, report.original_url) == ("https://evil.example/a", "https://example.com/")
    assert (report.message, report.contact, report.address) == ("Looks like my bank", None, "203.0.113.0")


@pytest.mark.parametrize(
    ("address", "kept"), [("2001:db8:1:2::3", "2001:db8:1::"), ("", None), ("fe80::1%eth0", "fe80::")]
)
async def test_addresses_are_cut_as_those_of_clicks(bench: Bench, address: str, kept: str | None) -> None:
    """What cannot be read is not kept."""
    code = (await bench.desk.make()).short_code
    await _send(bench, code, address=address)
    assert (await bench.reports.page("open", 0, 10))[0].address == kept


async def test_reports_are_dismissed_one_by_one_and_upheld_together(bench: Bench) -> None:
    """A takedown answers all that were said of the link."""
    code, other = [(await bench.desk.make()).short_code for _ in range(2)]
    for reported in (code, other, code):
        await _send(bench, reported)
    first, second, third = await bench.reports.page("open", 0, 10)
    assert (await bench.reports.dismiss(first.id, OPERATOR)).state == "dismissed"
    with pytest.raises(EntryUnknown):
        await bench.reports.dismiss(first.id, OPERATOR)
    await bench.takedowns.take_down(DOMAIN, code, "Phishing", OPERATOR)
    assert [one.id for one in await bench.reports.page("upheld", 0, 10)] == [third.id]
    assert [one.id for one in await bench.reports.page("open", 0, 10)] == [second.id]


async def test_reports_on_one_link_are_bounded(bench: Bench) -> None:
    """Whoever sends thousands fills no disk; the list goes on behind a report."""
    code = (await bench.desk.make()).short_code
    for _ in range(_MOST_OPEN + 3):
        await _send(bench, code)
    reports = await bench.reports.page("open", 0, 1_000)
    assert len(reports) == _MOST_OPEN
    assert await bench.reports.page("open", reports[-2].id, 10) == [reports[-1]]


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": ""},
        {"reason": "boring"},
        {"message": "x" * 2001},
        {"contact": "x" * 255},
        {"message": "\0"},
    ],
)
async def test_a_report_that_cannot_be_kept_is_refused(bench: Bench, fields: dict[str, str]) -> None:
    """With the field that is wrong."""
    code = (await bench.desk.make()).short_code
    with pytest.raises(ChoiceRefused) as refused:
        await _send(bench, code, **fields)
    assert refused.value.field in fields


async def test_numbers_of_the_installation(bench: Bench) -> None:
    """Counted over all workspaces, and kept for a minute."""
    codes = [(await bench.desk.make()).short_code for _ in range(3)]
    await bench.desk.delete(codes[0])
    await bench.takedowns.take_down(DOMAIN, codes[1], "Phishing", OPERATOR)
    await _send(bench, codes[2])
    await bench.blocks.block("evil.example", OPERATOR)
    numbers = await bench.statistics.numbers()
    assert numbers.counts == {
        "workspaces": 1,
        "users": 0,
        "api_keys": 0,
        "domains": 1,
        "domains_lapsed": 0,
        "blocked_hosts": 1,
        "takedowns": 1,
        "open_reports": 1,
        "links": 3,
        "links_live": 1,
        "links_created_24h": 3,
        "clicks": 0,
        "bot_clicks": 0,
    }
    assert numbers.estimates == []
    assert numbers.bytes["database"] > 0
    await bench.desk.make()
    assert await bench.statistics.numbers() is numbers
