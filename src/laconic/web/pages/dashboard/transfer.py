"""/dashboard/transfer: links out of a file, and into one."""

import json
from typing import Any, get_args

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from laconic.errors import ChoiceRefused
from laconic.links.browse import Query, State
from laconic.web.api.answers import API_HEADERS
from laconic.web.api.imports import ImportOrder, Imports
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.export_lines import MEDIA_TYPES, ExportForm, LinkExport
from laconic.web.pages.forms import Form, require_own_form
from laconic.web.pages.import_lines import FILES, FileForm, Wishes, form_of
from laconic.web.pages.import_run import ImportResponse, Report
from laconic.web.pages.templates import HTML, PAGE_HEADERS, render
from laconic.web.pages.upload import Upload
from laconic.workspaces.model import LINKS_READ, LINKS_WRITE

_TRANSFER = "/dashboard/transfer"
_PLACEHOLDER = "PUT-THE-PROGRESS-HERE"


class TransferRoutes:
    def __init__(self, shell: Shell, imports: Imports) -> None:
        self._shell = shell
        self._services = shell.services
        self._imports = imports
        self._export = LinkExport(
            shell.services.browser, shell.services.directory.short_url, shell.services.directory.host_of
        )

    async def show(self, request: Request) -> Response:
        return await self._page(await self._shell.enter(request, LINKS_READ))

    async def take(self, request: Request) -> Response:
        """The file is read while it arrives; the answer tells of it while links are made."""
        visitor = await self._shell.enter(request, LINKS_WRITE)
        upload = Upload(request)
        await upload.begin()
        await require_own_form(request, upload.fields, self._shell.tokens)
        form = Form(list(upload.fields.items()))
        try:
            reader = FILES[_file_form(form, upload.file_name)](await self._wishes(visitor, form))
        except CORRECTABLE as error:
            return await self._page(visitor, Mistake.from_error("import", error, form))
        is_script = "application/x-ndjson" in request.headers.get("accept", "")
        teller = ScriptTeller() if is_script else await self._page_teller(visitor, upload.file_name or "")
        order = ImportOrder.for_actor(visitor.actor, None, "lines")
        return ImportResponse(upload, reader, self._imports, order, teller, PAGE_HEADERS)

    async def _page_teller(self, visitor: Visitor, file_name: str) -> "PageTeller":
        page = await self._shell.page(
            visitor, "dashboard/import_run.html", "transfer", file_name=file_name, placeholder=_PLACEHOLDER
        )
        before, _, after = bytes(page.body).partition(_PLACEHOLDER.encode())
        return PageTeller(before, after)

    async def _wishes(self, visitor: Visitor, form: Form) -> Wishes:
        domain = form.get("domain").strip() or None
        if domain is not None:
            await self._services.locator.for_new(visitor.workspace_id, domain)
        return Wishes(form.get("codes") != "new", form.get("reuse") == "yes", domain)

    async def give(self, request: Request, form: str) -> Response:
        """A download of all links, or of those that a filter picks."""
        visitor = await self._shell.enter(request, LINKS_READ)
        asked = request.query_params
        format_: ExportForm | None = next((one for one in get_args(ExportForm) if one == form), None)
        if format_ is None:
            raise ChoiceRefused("format", "Links are exported as ndjson or csv.")
        state: State = next((one for one in get_args(State) if one == asked.get("state")), "all")
        host = asked.get("domain") or None
        domain_id = await self._services.locator.for_list(visitor.workspace_id, host)
        query = Query(search=asked.get("search") or None, state=state, domain_id=domain_id)
        # The first page is asked for now: what is wrong with the question is told as a page, not in a file.
        await self._services.browser.page(visitor.workspace_id, query)
        name = f"{visitor.workspace.slug}-links.{format_}"
        return StreamingResponse(
            self._export.lines(visitor.workspace_id, query, format_),
            headers={**API_HEADERS, "content-disposition": f'attachment; filename="{name}"'},
            media_type=MEDIA_TYPES[format_],
        )

    async def _page(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        domains = await self._services.domains.list_all(visitor.workspace_id)
        return await self._shell.page(
            visitor,
            "dashboard/transfer.html",
            "transfer",
            200 if mistake is None else mistake.status,
            may_import=visitor.may(LINKS_WRITE),
            hosts=[domain.host for domain in domains if domain.is_served],
            states=get_args(State),
            mistake=mistake,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_TRANSFER, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_TRANSFER, self.take, methods=["POST"])
        router.add_api_route(_TRANSFER + "/links.{form}", self.give, methods=["GET"])
        return router


class PageTeller:
    """For a browser without a script: a page that grows."""

    media_type = HTML

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before = before
        self._after = after
        self._told_rows = -1

    def begin(self) -> bytes:
        return self._before

    def progress(self, report: Report) -> bytes:
        if report.rows == self._told_rows:
            return b""
        self._told_rows = report.rows
        return render("dashboard/import_progress.html", report=report)

    def end(self, report: Report) -> bytes:
        return b"</ol>" + render("dashboard/import_report.html", report=report) + self._after


class ScriptTeller:
    """For the page's script: numbers while it goes on, and the report as a part of a page at the end."""

    media_type = "application/x-ndjson"

    def begin(self) -> bytes:
        return b""

    def progress(self, report: Report) -> bytes:
        return _document(_numbers(report))

    def end(self, report: Report) -> bytes:
        part = render("dashboard/import_report.html", report=report).decode()
        return _document({**_numbers(report), "part": part})


def _numbers(report: Report) -> dict[str, Any]:
    return {
        "rows": report.rows,
        "made": report.made,
        "existing": report.existing,
        "refused": report.refused,
        "bytes": report.bytes_read,
    }


def _document(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"


def _file_form(form: Form, file_name: str | None) -> FileForm:
    if not file_name:
        raise ChoiceRefused("file", "Choose a file first.")
    chosen: FileForm | None = next((one for one in get_args(FileForm) if one == form.get("form")), None)
    return chosen or form_of(file_name)
