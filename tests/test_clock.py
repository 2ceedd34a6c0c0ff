"""Moments: microseconds since 1970, written as RFC 3339 and as HTTP wants them."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clock import LAST_MOMENT, SECOND, from_datetime, monotonic, now, to_http_date, to_rfc3339


@given(st.integers(0, LAST_MOMENT))
def test_rfc_3339_is_exact(moment: int) -> None:
    """To the microsecond, from 1970 to the end of the year 9999, in UTC."""
    text = to_rfc3339(moment)
    assert text.endswith("Z")
    assert from_datetime(datetime.fromisoformat(text)) == moment


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1, "1970-01-01T00:00:00.000001Z"),
        (1_794_772_440_123_456, "2026-11-15T19:54:00.123456Z"),
        (1_794_772_440_000_000, "2026-11-15T19:54:00Z"),
        (LAST_MOMENT, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_fraction_is_left_out_when_it_is_zero(moment: int, text: str) -> None:
    """Six digits or none."""
    assert to_rfc3339(moment) == text


@given(
    st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9999, 12, 30)),  # noqa: DTZ001
    st.integers(-14 * 60, 14 * 60),
)
def test_zone_does_not_change_the_moment(naive: datetime, minutes: int) -> None:
    """The same moment in any zone is the same number."""
    zoned = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert from_datetime(zoned) == from_datetime(zoned.astimezone(UTC))


def test_http_date() -> None:
    """RFC 9110, section 5.6.7."""
    moment = 1_794_772_440_999_999
    assert to_http_date(moment) == "Sun, 15 Nov 2026 19:54:00 GMT"
    assert from_datetime(parsedate_to_datetime(to_http_date(moment))) == moment // SECOND * SECOND


def test_now_is_now() -> None:
    """Between two looks at the wall clock, and the other clock never goes back."""
    before = from_datetime(datetime.now(UTC))
    seen = now()
    assert before <= seen <= from_datetime(datetime.now(UTC))
    assert monotonic() <= monotonic()
