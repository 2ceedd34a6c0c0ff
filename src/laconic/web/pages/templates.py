"""Filling in pages. Templates are compiled once; no file is read for a request after the first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from laconic import __version__
from laconic.clock import to_rfc3339
from laconic.web.api.problems import SECURITY_HEADERS
from laconic.web.pages.static_files import static_url

_POLICY = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    # data: for QR codes, which are drawn into the page.
    "img-src": "'self' data:",
    "script-src": "'self'",
    "style-src": "'self'",
}
PAGE_HEADERS = {
    **SECURITY_HEADERS,
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "cache-control": "no-store",
    "vary": "accept",
}
HTML = "text/html; charset=utf-8"

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
_MONTHS = "January February March April May June July August September October November December".split()


def day_text(moment: int) -> str:
    """15 November 2026: no reader takes the month for the day."""
    year, month, day = to_rfc3339(moment)[:10].split("-")
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def _day(moment: int) -> Markup:
    """In a page: the day in UTC, which the script turns into the reader's own, about as wide."""
    return _TIME.format(to_rfc3339(moment), "day", _short_day(moment))


def _moment(moment: int) -> Markup:
    text = f"{_short_day(moment)}, {to_rfc3339(moment)[11:16]} UTC"
    return _TIME.format(to_rfc3339(moment), "moment", text)


def _short_day(moment: int) -> str:
    day, month, year = day_text(moment).split()
    return f"{day} {month[:3]} {year}"


def _count(number: int) -> str:
    return f"{number:,}"


_TIME = Markup('<time datetime="{}" data-local="{}">{}</time>')
_ENVIRONMENT.filters |= {"day": _day, "moment": _moment, "count": _count}
_ENVIRONMENT.globals["static"] = static_url
_ENVIRONMENT.globals["version"] = __version__


def render(template: str, **values: Any) -> bytes:
    # A lone surrogate, which no browser sends, must not become a 500.
    return _ENVIRONMENT.get_template(template).render(values).encode("utf-8", "replace")


def page_response(
    template: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> Response:
    body = render(template, **values)
    return Response(body, status, {**PAGE_HEADERS, **(headers or {})}, media_type=HTML)


def wants_html(request: Request) -> bool:
    """The same question that the redirect asks: browsers name text/html, programs do not."""
    return "text/html" in request.headers.get("accept", "")
