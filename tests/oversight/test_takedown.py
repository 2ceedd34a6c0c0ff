"""Taking links down and putting them back."""

import pytest

from laconic.errors import ChoiceRefused, EntryUnknown, LinkGone, LinkUnknown
from laconic.redirect.model import Redirect, Tombstone
from tests.links.desk import DOMAIN
from tests.oversight.conftest import OPERATOR, Bench


async def test_a_link_that_is_taken_down_says_why(bench: Bench) -> None:
    """At once in this process; its owner cannot switch it on again, whatever else may be edited."""
    code = (await bench.desk.make()).short_code
    assert isinstance(await bench.follow(code), Redirect)
    taken = await bench.takedowns.take_down(DOMAIN, code, "  Phishing\u2026 ", OPERATOR)
    assert (taken.short_code, taken.reason) == (code, "Phishing\u2026")
    entry = await bench.follow(code)
    assert isinstance(entry, Tombstone)
    assert (entry.reason, entry.note) == ("taken_down", "Phishing\u2026")
    await bench.desk.edit(code, original_url="https://example.org/")
    with pytest.raises(ChoiceRefused, match="taken this link down"):
        await bench.desk.edit(code, is_active=True)
    assert (await bench.desk.get(code)).gone_reason == "taken_down"


async def test_putting_it_back_makes_it_what_it_was(bench: Bench) -> None:
    """A live link is live again; one that its owner had switched off stays off."""
    live, disabled = (await bench.desk.make()).short_code, (await bench.desk.make()).short_code
    await bench.desk.edit(disabled, is_active=False)
    for code in (live, disabled):
        await bench.takedowns.take_down(DOMAIN, code, "A mistake", OPERATOR)
        await bench.takedowns.put_back(DOMAIN, code, OPERATOR)
    assert isinstance(await bench.follow(live), Redirect)
    entry = await bench.follow(disabled)
    assert isinstance(entry, Tombstone)
    assert (entry.reason, entry.note) == ("disabled", None)
    with pytest.raises(EntryUnknown):
        await bench.takedowns.put_back(DOMAIN, live, OPERATOR)


async def test_a_second_takedown_betters_the_reason(bench: Bench) -> None:
    """And undoing it once is enough."""
    code = (await bench.desk.make()).short_code
    for reason in ("First", "Second"):
        await bench.takedowns.take_down(DOMAIN, code, reason, OPERATOR)
        entry = await bench.follow(code)
        assert isinstance(entry, Tombstone)
        assert entry.note == reason
    await bench.takedowns.put_back(DOMAIN, code, OPERATOR)
    assert isinstance(await bench.follow(code), Redirect)


async def test_a_link_for_reuse_gives_its_place_up(bench: Bench) -> None:
    """Whoever shortens the URL again gets a link that works, and it stays so when the first one is put back."""
    url = "https://example.com/again"
    first = await bench.desk.make(url, reuse=True)
    await bench.takedowns.take_down(DOMAIN, first.short_code, "Phishing", OPERATOR)
    second = await bench.desk.make(url, reuse=True)
    await bench.takedowns.put_back(DOMAIN, first.short_code, OPERATOR)
    assert isinstance(await bench.follow(first.short_code), Redirect)
    assert (await bench.desk.create(url, reuse=True)).link.id == second.id


async def test_what_is_not_there_cannot_be_taken_down(bench: Bench) -> None:
    """An unknown code, a deleted link, no reason."""
    code = (await bench.desk.make()).short_code
    with pytest.raises(LinkUnknown):
        await bench.takedowns.take_down(DOMAIN, "unknown", "Phishing", OPERATOR)
    for reason in ("", "  ", "x" * 501, "\0", "\ud800"):
        with pytest.raises(ChoiceRefused):
            await bench.takedowns.take_down(DOMAIN, code, reason, OPERATOR)
    await bench.desk.delete(code)
    with pytest.raises(LinkGone):
        await bench.takedowns.take_down(DOMAIN, code, "Phishing", OPERATOR)


async def test_a_link_that_its_owner_deletes_meanwhile_stays_deleted(bench: Bench) -> None:
    """Undoing brings nothing back that its owner has taken away."""
    code = (await bench.desk.make()).short_code
    await bench.takedowns.take_down(DOMAIN, code, "Phishing", OPERATOR)
    await bench.desk.delete(code)
    await bench.takedowns.put_back(DOMAIN, code, OPERATOR)
    with pytest.raises(LinkGone):
        await bench.desk.get(code)


async def test_takedowns_are_listed_by_page(bench: Bench) -> None:
    """Newest links first."""
    codes = [(await bench.desk.make()).short_code for _ in range(3)]
    for code in codes:
        await bench.takedowns.take_down(DOMAIN, code, "Phishing", OPERATOR)
    first = await bench.takedowns.page(None, 2)
    rest = await bench.takedowns.page(first[-1].link_id, 2)
    assert [one.short_code for one in (*first, *rest)] == codes[::-1]
