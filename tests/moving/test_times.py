"""Times as other programs write them."""

from zoneinfo import ZoneInfo

import pytest

from laconic.clock import to_rfc3339
from laconic.moving.times import read_moment


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2024-02-03 04:05:06", "2024-02-03T04:05:06Z"),
        ("2024-02-03 04:05:06.5+00", "2024-02-03T04:05:06.500000Z"),
        ("2024-02-03T04:05:06.123456789Z", "2024-02-03T04:05:06.123456Z"),
        ("2024-02-03T04:05:06+0100", "2024-02-03T03:05:06Z"),
        ("2024-02-03 04:05:06-07:30", "2024-02-03T11:35:06Z"),
        ("2024-02-03", "2024-02-03T00:00:00Z"),
        ("2024-02-03 04:05:06 UTC", "2024-02-03T04:05:06Z"),
        (1_706_933_106, "2024-02-03T04:05:06Z"),
        (1_706_933_106_000, "2024-02-03T04:05:06Z"),
        ("1706933106", "2024-02-03T04:05:06Z"),
        ("03.02.2024 04:05", "2024-02-03T04:05:00Z"),
        ("Feb 3, 2024", "2024-02-03T00:00:00Z"),
    ],
)
def test_times_are_read(value: object, moment: str) -> None:
    """With a zone, without, as numbers."""
    found = read_moment(value)
    assert found is not None
    assert to_rfc3339(found) == moment


def test_a_time_without_a_zone_is_in_the_given_one() -> None:
    """And one that names its own is not."""
    zone = ZoneInfo("Europe/Berlin")
    assert read_moment("2024-07-01 12:00:00", zone) == read_moment("2024-07-01T10:00:00Z", zone)


@pytest.mark.parametrize("value", [None, "", "0000-00-00 00:00:00"])
def test_no_time_is_none(value: object) -> None:
    """MySQL writes zeros."""
    assert read_moment(value) is None


@pytest.mark.parametrize("value", ["yesterday", True, "1234", "1969-12-31", "99999-01-01", "12/13"])
def test_what_is_no_time_is_told(value: object) -> None:
    """Rather than taken for another one."""
    with pytest.raises(ValueError):  # noqa: PT011
        read_moment(value)
