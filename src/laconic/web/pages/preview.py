"""GET /{code}+: where a link leads, before following it. Public; looking is no click."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import now, to_rfc3339
from laconic.codes.rules import POSSIBLE_CODE
from laconic.links.store import PublicLink
from laconic.links.targets import parse
from laconic.redirect.endpoint import Refusal
from laconic.redirect.lookup import block
from laconic.redirect.model import Tombstone, judge
from laconic.web.api.links import json_response
from laconic.web.pages.qr_drawing import QrPainter
from laconic.web.pages.refusals import refusal_response
from laconic.web.pages.templates import page_response, wants_html
from laconic.wiring import Services

_HEADERS = {"vary": "accept", "x-robots-tag": "noindex"}


def is_preview(path: str) -> bool:
    return path.endswith("+") and len(path) > 2 and "/" not in path[1:]


class PreviewRoutes:
    def __init__(self, services: Services, painter: QrPainter) -> None:
        self._services = services
        self._painter = painter

    async def show(self, request: Request, code: str) -> Response:
        html = wants_html(request)
        if not POSSIBLE_CODE.fullmatch(code):
            return refusal_response(Refusal(400, "malformed", code[:64]), html)
        domain_id = self._services.hosts.domain_of(request.headers.get("host", "").encode("latin-1"))
        link = await self._services.links.find_public(domain_id, code)
        row = None if link is None else block(link.row, self._services.blocked)
        entry = judge(row, now())
        if link is None or isinstance(entry, Tombstone):
            reason = entry.reason if isinstance(entry, Tombstone) else "unknown"
            return refusal_response(Refusal(404 if reason == "unknown" else 410, reason, code), html)
        short_url = self._services.directory.short_url(domain_id, code)
        return await self._page(code, short_url, link) if html else self._document(code, short_url, link)

    def _document(self, code: str, short_url: str, link: PublicLink) -> Response:
        shown = {
            "short_code": code,
            "short_url": short_url,
            "original_url": link.original_url,
            "target_url": link.row.location,
            "host": _host(link.row.location),
            "created_at": to_rfc3339(link.created_at),
        }
        return json_response(shown, headers=_HEADERS)

    async def _page(self, code: str, short_url: str, link: PublicLink) -> Response:
        created = to_rfc3339(link.created_at)
        return page_response(
            "preview.html",
            headers=_HEADERS,
            code=code,
            short_url=short_url,
            shown_url=short_url.partition("://")[2],
            target=link.row.location,
            host=_host(link.row.location),
            is_https=link.row.location.lower().startswith("https:"),
            created=created,
            created_day=_day(created),
            qr=await self._painter.inline_svg(short_url),
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/{code}+", self.show, methods=["GET", "HEAD"])
        return router


_MONTHS = "January February March April May June July August September October November December".split()


def _day(rfc3339: str) -> str:
    """15 November 2026: no reader takes the month for the day."""
    year, month, day = rfc3339[:10].split("-")
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def _host(target: str) -> str:
    """As browsers look it up, in ASCII: a name that only looks like another one is seen for what it is."""
    try:
        return parse(target)[1]
    except ValueError:
        return ""
