"""GET /{code}+: where a link leads, before following it; POST the same: a report on it. Public; looking is no click."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import now, to_rfc3339
from laconic.codes.rules import POSSIBLE_CODE
from laconic.codes.store import CodeStore
from laconic.errors import LaconicError
from laconic.links.store import PublicLink
from laconic.links.targets import parse
from laconic.oversight.model import ReportDraft
from laconic.redirect.endpoint import Refusal
from laconic.redirect.lookup import block
from laconic.redirect.model import Tombstone, judge
from laconic.settings import Rate
from laconic.web.api.answers import json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.problems import kind_of
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.forms import read_fields, require_own_form
from laconic.web.pages.home import retry_after, words_for
from laconic.web.pages.qr_drawing import QrPainter
from laconic.web.pages.refusals import refusal_response
from laconic.web.pages.templates import day_text, page_response, wants_html
from laconic.wiring import Services

_HEADERS = {"vary": "accept", "x-robots-tag": "noindex"}
# Reports of one address: some at once, for whoever has found a nest, then one every half minute.
_REPORTS = Rate(per_second=1 / 30, burst=5)


def is_preview(path: str) -> bool:
    return path.endswith("+") and len(path) > 2 and "/" not in path[1:]


class PreviewRoutes:
    def __init__(self, services: Services, gate: Gate, painter: QrPainter) -> None:
        self._services = services
        self._gate = gate
        self._painter = painter
        secret = CodeStore(services.database).signing_secret
        self._tokens = FormTokens(secret, services.settings.base_url)
        self._limits = gate.new_limits("report", _REPORTS)

    async def answer(self, request: Request, code: str) -> Response:
        """One route for all methods: the framework's 405 names those of one route only."""
        html = wants_html(request)
        if not POSSIBLE_CODE.fullmatch(code):
            return refusal_response(Refusal(400, "malformed", code[:64]), html)
        domain_id = self._services.hosts.domain_of(request.headers.get("host", "").encode("latin-1"))
        link = await self._services.links.find_public(domain_id, code)
        entry = judge(None if link is None else block(link.row, self._services.blocked), now())
        if link is None or isinstance(entry, Tombstone):
            return refusal_response(await self._refusal(domain_id, code), html)
        if request.method == "POST":
            return await self._report(request, domain_id, code, link)
        if html:
            return await self._page(request, domain_id, code, link)
        return self._document(domain_id, code, link)

    async def _refusal(self, domain_id: int, code: str) -> Refusal:
        """The same that whoever follows the link is told."""
        entry = await self._services.cache.find(domain_id, code)
        if not isinstance(entry, Tombstone):
            return Refusal(404, "unknown", code)
        return Refusal(404 if entry.reason == "unknown" else 410, entry.reason, code, entry.note)

    async def _report(self, request: Request, domain_id: int, code: str, link: PublicLink) -> Response:
        fields = await read_fields(request)
        try:
            await require_own_form(request, fields, self._tokens)
            address = self._gate.address_of(request)
            await self._limits.check(address)
            draft = ReportDraft(
                fields.get("reason", ""), fields.get("message", ""), fields.get("contact", ""), address
            )
            await self._services.visitor_reports.send(domain_id, code, link, draft)
        except LaconicError as error:
            if not wants_html(request):
                raise
            return await self._page(request, domain_id, code, link, fields=fields, error=error)
        if not wants_html(request):
            return json_response({"reported": True}, 201)
        return await self._page(request, domain_id, code, link, is_reported=True)

    def _document(self, domain_id: int, code: str, link: PublicLink) -> Response:
        shown = {
            "short_code": code,
            "short_url": self._services.directory.short_url(domain_id, code),
            "original_url": link.original_url,
            "target_url": link.row.location,
            "host": _host(link.row.location),
            "created_at": to_rfc3339(link.created_at),
        }
        return json_response(shown, headers=_HEADERS)

    async def _page(
        self,
        request: Request,
        domain_id: int,
        code: str,
        link: PublicLink,
        *,
        fields: dict[str, str] | None = None,
        error: LaconicError | None = None,
        is_reported: bool = False,
    ) -> Response:
        short_url = self._services.directory.short_url(domain_id, code)
        created = to_rfc3339(link.created_at)
        token = await self._tokens.token_for(request)
        status = 201 if is_reported else 200 if error is None else kind_of(error).status
        response = page_response(
            "preview.html",
            status,
            {**_HEADERS, **retry_after(error)},
            code=code,
            short_url=short_url,
            shown_url=short_url.partition("://")[2],
            target=link.row.location,
            host=_host(link.row.location),
            is_https=link.row.location.lower().startswith("https:"),
            created=created,
            created_day=day_text(link.created_at),
            qr=await self._painter.inline_svg(short_url),
            report=_report_values(fields or {}, words_for(error), token.field, is_sent=is_reported),
        )
        self._tokens.keep(response, token)
        return response

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/{code}+", self.answer, methods=["GET", "HEAD", "POST"])
        return router


_REASONS = (
    ("phishing", "It pretends to be another site"),
    ("malware", "It spreads malware"),
    ("spam", "It came as spam"),
    ("illegal", "What it leads to is illegal"),
    ("other", "Something else"),
)


def _report_values(fields: dict[str, str], error: str | None, token: str, *, is_sent: bool) -> dict[str, Any]:
    """For the form below the preview: what was filled in comes back when it was refused."""
    return {
        "reasons": _REASONS,
        "reason": fields.get("reason", ""),
        "message": fields.get("message", ""),
        "contact": fields.get("contact", ""),
        "error": error,
        "token": token,
        "is_sent": is_sent,
    }


def _host(target: str) -> str:
    """As browsers look it up, in ASCII: a name that only looks like another one is seen for what it is."""
    try:
        return parse(target)[1]
    except ValueError:
        return ""
