"""The answers of one loop tick: what is written where, and what is counted of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from laconic.clicks.click import Visitor
from laconic.clicks.journal import Journal
from laconic.clock import SECOND, now
from laconic.redirect.cache import RedirectCache
from laconic.redirect.hosts import Hosts
from laconic.redirect.lane.batch import Lane
from laconic.redirect.model import Redirect
from tests.clicks.records import clicks_of
from tests.redirect.links import LINK, NOON, Rows

CLOSE = b"connection: close\r\n"


@dataclass(eq=False)
class _Connection:
    """As far as a tick looks at it."""

    is_lost: bool = False
    written: list[bytes] = field(default_factory=list)
    is_closed: bool = False

    @property
    def transport(self) -> "_Connection":
        return self

    @property
    def send(self) -> Callable[[bytes], None] | None:
        return None if self.is_lost else self.written.append

    def close(self) -> None:
        self.is_closed = True


def redirect(status: int = 302) -> Redirect:
    return Redirect(replace(LINK, redirect_status=status), NOON)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path / "journal", segment_bytes=1 << 16)
    yield journal
    journal.close()


@pytest.fixture
def lane(journal: Journal) -> Lane:
    return Lane(RedirectCache(Rows()), Hosts(1), journal)


def put(lane: Lane, *answers: tuple[_Connection, Redirect, bool], begun: int | None = None) -> None:
    lane.begun = now() if begun is None else begun
    lane.answers.extend(answers)  # type: ignore[arg-type]


async def test_each_answer_goes_to_its_connection(lane: Lane) -> None:
    """With the date of this second; the last one says so and ends the connection."""
    first, second, lost = _Connection(), _Connection(), _Connection(is_lost=True)
    put(lane, (first, redirect(), False), (lost, redirect(), True), (second, redirect(301), True))
    lane.flush()
    (plain,), (last,) = first.written, second.written
    assert plain == b"HTTP/1.1 302 Found\r\n" + lane.date + redirect().tail
    assert last == b"HTTP/1.1 301 Moved Permanently\r\n" + lane.date + CLOSE + redirect(301).tail
    assert (first.is_closed, second.is_closed, lost.is_closed) == (False, True, False)
    assert not lost.written
    assert not lane.answers


async def test_clicks_are_journaled_once(lane: Lane, tmp_path: Path) -> None:
    """A tick without one writes nothing."""
    lane.clicks.append((NOON, 42, Visitor(b"", b"", b"", b"")))
    lane.flush()
    lane.flush()
    assert [click.link_id for click in clicks_of(tmp_path / "journal")] == [42]


async def test_answers_are_counted_by_status(lane: Lane) -> None:
    """Usual and unusual ones, over the ticks."""
    connection = _Connection()
    assert lane.answered_by_status() == {302: 0}
    for statuses in ((302, 301, 302), (308, 308), (302,)):
        put(lane, *((connection, redirect(status), False) for status in statuses))
        lane.flush()
    assert lane.answered == 6
    assert lane.answered_by_status() == {302: 3, 301: 1, 308: 2}


async def test_each_answer_took_as_long_as_the_first_of_its_tick(lane: Lane) -> None:
    """By the bits of its microseconds; a clock that was set back makes no negative time."""
    connection = _Connection()
    assert (sum(lane.durations), lane.seconds) == (0, 0.0)
    put(lane, (connection, redirect(), False), (connection, redirect(), False), begun=now() + 60 * SECOND)
    lane.flush()
    assert (lane.durations[0], sum(lane.durations), lane.seconds) == (2, 2, 0.0)
    put(lane, *[(connection, redirect(), False)] * 3, begun=now() - 100 * SECOND)
    lane.flush()
    assert (lane.durations[27], sum(lane.durations)) == (3, 5)
    assert lane.seconds == lane.microseconds / 1_000_000
    assert 300 <= lane.seconds < 390


async def test_when_the_worker_stops_each_connection_hears_it_with_its_last_answer(lane: Lane) -> None:
    """And nothing is answered from memory any more."""
    one, other = _Connection(), _Connection()
    put(lane, (one, redirect(), False), (other, redirect(), False), (one, redirect(), False))
    lane.stop()
    assert lane.is_stopping
    assert [CLOSE in answer for answer in one.written] == [False, True]
    assert [CLOSE in answer for answer in other.written] == [True]
    assert (lane.entries, lane.find_now) == ({}, None)


async def test_of_many_answers_to_one_connection_the_last_says_that_the_worker_stops(lane: Lane) -> None:
    """However many there are."""
    connection = _Connection()
    put(lane, *[(connection, redirect(), False)] * 1_000)
    lane.stop()
    assert [CLOSE in answer for answer in connection.written] == [False] * 999 + [True]


async def test_a_sweep_asks_every_connection(lane: Lane) -> None:
    """With the second that it is, also those that leave while it lasts."""
    asked: list[float] = []

    class Overdue:
        def close_if_overdue(self, second: float) -> None:
            asked.append(second)
            connections.discard(self)

    connections = {Overdue(), Overdue()}
    before = lane.second
    lane.turn_second()
    assert lane.second >= before > 0
    lane.close_overdue(connections)
    assert asked == [lane.second] * 2
