"""Blocked hosts: no new links, and none of the old ones."""

import pytest

from laconic.errors import ChoiceRefused, EntryUnknown, TargetRefused
from laconic.redirect.model import Redirect, Tombstone
from tests.oversight.conftest import OPERATOR, Bench


async def test_links_that_are_there_stop_and_go_on(bench: Bench) -> None:
    """Cached or not; nothing is written to them, so that unblocking is the whole way back."""
    cached = (await bench.desk.make("https://WWW.evil.example:8443/a?b")).short_code
    cold = (await bench.desk.make("https://evil.example/")).short_code
    other = (await bench.desk.make("https://good.example/")).short_code
    assert isinstance(await bench.follow(cached), Redirect)
    await bench.blocks.block("evil.example", OPERATOR)
    for code in (cached, cold):
        entry = await bench.follow(code)
        assert isinstance(entry, Tombstone)
        assert entry.reason == "blocked"
    assert isinstance(await bench.follow(other), Redirect)
    await bench.blocks.unblock("evil.example", OPERATOR)
    for code in (cached, cold):
        assert isinstance(await bench.follow(code), Redirect)


async def test_new_links_there_are_refused(bench: Bench) -> None:
    """In this process at once."""
    await bench.blocks.block("evil.example", OPERATOR, includes_subdomains=False)
    bench.targets.check("https://www.evil.example/")
    with pytest.raises(TargetRefused):
        bench.targets.check("https://evil.example/")
    await bench.blocks.block("evil.example", OPERATOR)
    with pytest.raises(TargetRefused):
        bench.targets.check("https://www.evil.example/")


@pytest.mark.parametrize(
    ("written", "host"),
    [
        (" Evil.Example. ", "evil.example"),
        ("*.evil.example", "evil.example"),
        ("müller.example", "xn--mller-kva.example"),
        ("XN--MLLER-KVA.example", "xn--mller-kva.example"),
        ("zip", "zip"),
        ("93.184.215.14", "93.184.215.14"),
        ("2606:4700::1111", "[2606:4700::1111]"),
    ],
)
async def test_a_host_is_kept_as_targets_are_compared(bench: Bench, written: str, host: str) -> None:
    """However the operator writes it."""
    assert (await bench.blocks.block(written, OPERATOR)).host == host
    assert [one.host for one in await bench.blocks.page("", 10)] == [host]
    await bench.blocks.unblock(written, OPERATOR)
    assert await bench.blocks.page("", 10) == []
    with pytest.raises(EntryUnknown):
        await bench.blocks.unblock(written, OPERATOR)


@pytest.mark.parametrize(
    "written", ["", "*.", "a b", "https://evil.example/", "evil.example/x", "x@y", "a" * 300]
)
async def test_what_is_no_host_is_refused(bench: Bench, written: str) -> None:
    """A URL pasted in its place would never match."""
    with pytest.raises(ChoiceRefused):
        await bench.blocks.block(written, OPERATOR)
