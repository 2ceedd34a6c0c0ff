"""Sums of a batch: what numpy counts is what anybody would count."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.coded import Coded
from laconic.clicks.columns import VISITOR, Columns
from laconic.clicks.rollups import QUARTER, Sums, clicks_by_link
from laconic.clock import DAY

DAY_NUMBER = 20_000

a_click = st.tuples(
    st.integers(1, 5),  # link
    st.integers(0, DAY - 1),  # moment of the day
    st.booleans(),  # bot
    st.sampled_from(["", "DE", "FR"]),
    st.sampled_from(["Firefox", "Chrome"]),
    st.binary(min_size=8, max_size=8),
)


def columns_of(clicks: list[tuple[int, int, bool, str, str, bytes]]) -> Columns:
    links, moments, bots, countries, browsers, visitors = zip(*clicks, strict=True)
    nothing = [None] * len(clicks)
    unknown = Coded.from_column([""] * len(clicks))
    of_links = Coded.from_numbers(np.array(links))
    return Columns(
        day=DAY_NUMBER,
        sequences=range(len(clicks)),
        moments=DAY_NUMBER * DAY + np.array(moments),
        links=of_links,
        workspaces=of_links.apply(lambda link: link % 2),
        visitors=np.frombuffer(b"".join(visitors), VISITOR),
        are_bots=np.array(bots),
        user_agents=nothing,
        devices=unknown,
        browsers=Coded.from_column(browsers).ordered(),
        systems=unknown,
        networks=nothing,
        countries=Coded.from_column(countries).ordered(),
        cities=unknown,
        referrers=nothing,
        referrer_hosts=unknown,
        languages=unknown,
        has_cities=False,
    )


@given(st.lists(a_click, min_size=1, max_size=60))
def test_totals_and_quarters_count_every_click_once(
    clicks: list[tuple[int, int, bool, str, str, bytes]],
) -> None:
    """By owner, with the last moment of each; bots are among the clicks and counted apart."""
    columns = columns_of(clicks)
    for owners in (columns.links, columns.workspaces.ordered()):
        sums = Sums(columns, owners)
        owner_ids = owners.rows()
        pairs = list(zip(owner_ids, columns.moments.tolist(), columns.are_bots.tolist(), strict=True))
        counted, bots, last = sums.totals()
        assert sums.owners == sorted(set(owner_ids))
        assert dict(zip(sums.owners, counted, strict=True)) == Counter(owner_ids)
        assert dict(zip(sums.owners, bots, strict=True)) == {
            owner: sum(is_bot for one, _, is_bot in pairs if one == owner) for owner in set(owner_ids)
        }
        assert dict(zip(sums.owners, last, strict=True)) == {
            owner: max(moment for one, moment, _ in pairs if one == owner) for owner in set(owner_ids)
        }
        rows = {
            (owner, quarter): (count, bot)
            for owner, quarter, count, bot in zip(*sums.quarters(), strict=True)
        }
        expected = Counter((owner, moment - moment % QUARTER) for owner, moment, _ in pairs)
        assert {key: row[0] for key, row in rows.items()} == expected
        assert sum(row[1] for row in rows.values()) == sum(columns.are_bots)


@given(st.lists(a_click, min_size=1, max_size=60))
def test_daily_rows_count_every_dimension(clicks: list[tuple[int, int, bool, str, str, bytes]]) -> None:
    """Each value of each dimension, unknown ones too; the rows of an owner stand together."""
    columns = columns_of(clicks)
    owners, dimensions, values, counted, bots = Sums(columns, columns.links).daily()
    assert list(owners) == sorted(owners)
    rows = dict(
        zip(
            zip(owners, dimensions, values, strict=True),
            zip(counted, bots, strict=True),
            strict=True,
        )
    )
    assert len(rows) == len(owners)
    assert {key[1] for key in rows} == {"browser", "country", "device_type", "language", "os", "referer"}
    expected = Counter(zip(columns.links.rows(), columns.countries.rows(), strict=True))
    by_country = {(key[0], key[2]): row for key, row in rows.items() if key[1] == "country"}
    assert {key: row[0] for key, row in by_country.items()} == expected
    assert sum(row[1] for row in by_country.values()) == sum(columns.are_bots)


@given(st.lists(a_click, min_size=1, max_size=60))
def test_people_are_told_apart_from_bots(clicks: list[tuple[int, int, bool, str, str, bytes]]) -> None:
    """Unique visitors are people: no bot's hash gets into a sketch."""
    columns = columns_of(clicks)
    people = Sums(columns, columns.links).people()
    hashes = Counter((link, visitor) for link, _, is_bot, _, _, visitor in clicks if not is_bot)
    assert (
        Counter(
            (link, visitor.to_bytes(8, signed=True))
            for link, visitors in people.items()
            for visitor in visitors
        )
        == hashes
    )


@given(st.lists(a_click, min_size=1, max_size=60))
def test_links_are_counted_by_workspace(clicks: list[tuple[int, int, bool, str, str, bytes]]) -> None:
    """For the sketch of the most followed."""
    found = clicks_by_link(columns_of(clicks))
    assert {link: count for links in found.values() for link, count in links.items()} == Counter(
        click[0] for click in clicks
    )
