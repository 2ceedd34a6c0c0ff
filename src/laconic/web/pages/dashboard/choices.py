"""What a visitor wants charts of: which time, cut how, on which clocks, and whose clicks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, get_args
from urllib.parse import urlencode

from starlette.requests import Request

from laconic import clock
from laconic.clicks.reports.counts import Traffic
from laconic.clicks.reports.periods import Interval, Period, days_before, read_period, read_zone
from laconic.clock import to_rfc3339
from laconic.errors import ChoiceRefused

# Where the script leaves the browser's own zone, for whoever has not chosen one.
ZONE_COOKIE: Final = "laconic_zone"
# Days, and what they are called.
PRESETS: Final[Mapping[str, tuple[int, str]]] = {
    "1": (1, "Today"),
    "7": (7, "7 days"),
    "30": (30, "30 days"),
    "90": (90, "90 days"),
    "365": (365, "12 months"),
}
INTERVALS: Final[Sequence[tuple[str, str]]] = (
    ("", "Fitting"),
    ("hour", "Hours"),
    ("day", "Days"),
    ("week", "Weeks"),
    ("month", "Months"),
)
TRAFFIC: Final[Mapping[Traffic, str]] = {
    "humans": "People",
    "bots": "Bots and previews",
    "all": "Everybody",
}
# What a template offers.
OFFER: Final[Mapping[str, Any]] = {"presets": PRESETS, "intervals": INTERVALS, "traffic": TRAFFIC}
_DEFAULT: Final = "30"
_LONGEST_TEXT: Final = 64


@dataclass(frozen=True, slots=True)
class Choices:
    """As a form shows them; `preset` is empty where the visitor has named dates."""

    preset: str
    since: str
    until: str
    interval: str
    zone: str
    traffic: Traffic
    domain: str

    @classmethod
    def from_request(cls, request: Request) -> "Choices":
        given = {name: value[:_LONGEST_TEXT].strip() for name, value in request.query_params.items()}
        since, until = given.get("from", ""), given.get("to", "")
        preset = given.get("days", "")
        if preset not in PRESETS:
            preset = "" if since or until else _DEFAULT
        traffic = given.get("traffic", "")
        return cls(
            preset,
            "" if preset else since,
            "" if preset else until,
            given.get("interval", "") if given.get("interval", "") in get_args(Interval) else "",
            given.get("tz", "") or _zone_of(request),
            next((name for name in TRAFFIC if name == traffic), "humans"),
            request.query_params.get("domain", ""),
        )

    def period(self) -> Period:
        """Raises ChoiceRefused, which names the field that cannot be."""
        moment = clock.now()
        since = days_before(moment, PRESETS[self.preset][0], self.zone) if self.preset else self.since or None
        interval = next((name for name in get_args(Interval) if name == self.interval), None)
        return read_period(since, self.until or None, interval, self.zone, moment)

    @property
    def is_open(self) -> bool:
        """Does the period end now, in a bucket that is not over?"""
        return not self.until

    def or_default(self) -> "Choices":
        """What is shown beside a refusal."""
        return replace(self, preset=_DEFAULT, since="", until="", interval="", zone=_known(self.zone))

    def query(self, **changes: str) -> str:
        """The address of the same page with something else chosen."""
        fields = {
            "days": self.preset,
            "from": self.since,
            "to": self.until,
            "interval": self.interval,
            "tz": self.zone,
            "traffic": self.traffic,
            "domain": self.domain,
        }
        return "?" + urlencode({name: value for name, value in (fields | changes).items() if value})

    def with_preset(self, preset: str) -> str:
        return self.query(days=preset, **{"from": "", "to": "", "interval": ""})

    def export_query(self, period: Period, **more: str) -> str:
        """For the API: the same time to the microsecond."""
        fields = {
            "from": to_rfc3339(period.start),
            "to": to_rfc3339(period.end),
            "tz": self.zone,
            "domain": self.domain,
            **more,
        }
        return "?" + urlencode({name: value for name, value in fields.items() if value})


def _zone_of(request: Request) -> str:
    return _known(request.cookies.get(ZONE_COOKIE, "").replace("%2F", "/"))


def _known(zone: str) -> str:
    try:
        read_zone(zone)
    except ChoiceRefused:
        return "UTC"
    return zone


def before_by_date(period: Period) -> Period:
    """The same number of whole days before, so that a chart lays days upon days and hours upon hours."""
    first = _date(period, period.start)
    days = (_date(period, period.end - 1) - first).days + 1
    start, end = ((first - timedelta(days=ago)).isoformat() for ago in (days, 1))
    try:
        return read_period(start, end, period.interval, period.zone_name, period.start)
    except ChoiceRefused:
        return period.before()  # at the beginning of all time


def _date(period: Period, moment: int) -> date:
    return datetime.fromisoformat(period.local(moment)).date()
