"""What has changed lately."""

import pytest

from laconic.redirect.recent import RecentChanges


class _Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_the_highest_version_told_counts() -> None:
    recent = RecentChanges(60, _Clock())
    for version in (3, 5, 4):
        recent.note(b"1/abc", version)
    assert recent.floor(b"1/abc") == 5


def test_a_change_is_known_for_the_whole_time_and_not_for_ever() -> None:
    """Whenever in the turn of the tables it is told."""
    for told_at in (0.0, 30.0, 59.0):
        clock = _Clock()
        recent = RecentChanges(60, clock)
        clock.seconds = told_at
        recent.note(b"1/abc", 7)
        for later in range(0, 61, 5):
            clock.seconds = told_at + later
            assert recent.floor(b"1/abc") == 7
        clock.seconds = told_at + 200
        assert recent.floor(b"1/abc") == 0


@pytest.mark.parametrize(("seconds", "floor"), [(119, 7), (120, 0), (1_000, 0)])
def test_a_change_before_a_long_silence_is_forgotten(seconds: float, floor: int) -> None:
    """Nobody has asked meanwhile, so both tables have served their time at once."""
    clock = _Clock()
    recent = RecentChanges(60, clock)
    recent.note(b"1/abc", 7)
    clock.seconds = seconds
    assert recent.floor(b"1/abc") == floor


def test_the_tables_take_8_mib() -> None:
    """Before and after their turns."""
    clock = _Clock()
    recent = RecentChanges(60, clock)
    for seconds in (0, 61, 1_000):
        clock.seconds = seconds
        recent.note(b"1/abc", 7)
        assert [len(table) * table.itemsize for table in (recent._new, recent._old)] == [4 << 20] * 2


def test_links_that_did_not_change_are_hardly_ever_taken_for_changed() -> None:
    recent = RecentChanges(60, _Clock())
    for number in range(10_000):
        recent.note(b"1/x%d" % number, 2)
    taken = sum(recent.floor(b"1/y%d" % number) > 0 for number in range(10_000))
    # A hundred on average; the standard deviation is ten.
    assert taken < 150


def test_a_version_is_remembered_to_the_last_one() -> None:
    """One that does not fit into four bytes counts as the highest that does."""
    recent = RecentChanges(60, _Clock())
    recent.note(b"1/abc", 1_000_000)
    assert recent.floor(b"1/abc") == 1_000_000
    recent.note(b"1/abc", 2**40)
    assert recent.floor(b"1/abc") == 2**32 - 1
