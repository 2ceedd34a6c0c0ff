"""Own paths to the framework, everything else to the redirect endpoint."""

import errno
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol

import structlog
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from laconic import __version__
from laconic.clicks.board import Board
from laconic.clicks.journal import Journal
from laconic.codes.rules import OWN_PATHS
from laconic.codes.store import CodeStore
from laconic.errors import LaconicError, OutcomeUnknown, Unavailable
from laconic.redirect.endpoint import RedirectEndpoint, send_on
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Site
from laconic.redirect.lane import WHOLE
from laconic.web.api.analytics import AnalyticsRoutes
from laconic.web.api.audit import AuditRoutes
from laconic.web.api.authentication import ALLOWANCE, Gate
from laconic.web.api.bulk import BulkRoutes
from laconic.web.api.cleanup import CleanupRoutes
from laconic.web.api.clicks import ClickRoutes
from laconic.web.api.direct import DirectRequest
from laconic.web.api.domains import DomainRoutes
from laconic.web.api.imports import Imports, LocalImports
from laconic.web.api.keys import KeyRoutes
from laconic.web.api.kgs import KgsRoutes
from laconic.web.api.limit_table import LimitTable
from laconic.web.api.limits import Allowance
from laconic.web.api.links import LinkRoutes
from laconic.web.api.live import LiveRoutes
from laconic.web.api.oversight import OversightRoutes
from laconic.web.api.problems import (
    INTERNAL,
    NO_SUCH_PAGE,
    WRONG_METHOD,
    WRONG_SHAPE,
    Kind,
    Problem,
    response_to,
)
from laconic.web.api.qr import QrRoutes
from laconic.web.api.shorten import ShortenRoutes
from laconic.web.api.users import UserRoutes
from laconic.web.api.workspaces import WorkspaceRoutes
from laconic.web.health import HealthRoutes
from laconic.web.memory import MemoryRoom
from laconic.web.metrics.board import MetricBoard
from laconic.web.metrics.gather import WebWorker
from laconic.web.metrics.requests import Answer, RequestMeter, class_of
from laconic.web.metrics.routes import MetricsRoutes
from laconic.web.pages.dashboard.operator.upkeep import UpkeepRoutes
from laconic.web.pages.dashboard.routes import dashboard_routes
from laconic.web.pages.dashboard.shell import Shell
from laconic.web.pages.dashboard.transfer import TransferRoutes
from laconic.web.pages.docs import DocsRoutes
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.home import HomeRoutes
from laconic.web.pages.identity_provider import IdentityProvider
from laconic.web.pages.oidc import OidcRoutes
from laconic.web.pages.preview import PreviewRoutes, is_preview
from laconic.web.pages.problem_pages import answer_to
from laconic.web.pages.qr_drawing import QrPainter
from laconic.web.pages.refusals import show_refusal
from laconic.web.pages.reset import ResetRoutes
from laconic.web.pages.sign_in import SignInRoutes
from laconic.web.pages.static_files import StaticRoutes
from laconic.web.pages.well_known import WellKnownRoutes
from laconic.web.tracing import Traces
from laconic.wiring import Services

log = structlog.get_logger(__name__)


# Own paths that answer on the domains of workspaces, too.
_EVERYWHERE = frozenset({"favicon.ico", "robots.txt", "static"})

# No room on the disk, a disk that fails, no file descriptor, no memory.
_EXHAUSTED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM})

_NO_MEMORY = response_to(OutcomeUnknown("The server has no memory left just now."))
_NO_MEMORY_HEAD = {"type": "http.response.start", "status": 503, "headers": _NO_MEMORY.raw_headers}
_NO_MEMORY_BODY = {"type": "http.response.body", "body": _NO_MEMORY.body}
_NOT_NOW = response_to(Unavailable("The server has hardly any memory left; nothing was changed."))
_READING = frozenset({"GET", "HEAD", "OPTIONS"})

_LOGGED = "laconic.logged"

Handler = Callable[[Request], Awaitable[Response]]


class App:
    """The ASGI application of a web worker."""

    def __init__(
        self,
        services: Services,
        journal: Journal,
        board: Board | None = None,
        imports: Imports | None = None,
        metrics: MetricBoard | None = None,
        process: str = "web 1",
        limit_table: LimitTable | None = None,
    ) -> None:
        """`process` is the name of this worker's page among the `metrics` of all; all share the `limit_table`."""
        settings = services.settings
        forms = FormTokens(CodeStore(services.database).signing_secret, settings.base_url)
        gate = Gate(settings, services, forms, limit_table)
        links, shorten = LinkRoutes(services, gate), ShortenRoutes(services, gate)
        imports = imports or LocalImports(services)
        board = board or Board()
        self.health = HealthRoutes(services, board)
        metrics = metrics or MetricBoard([process])
        self.memory = MemoryRoom()
        self.requests = RequestMeter()
        self.traces = Traces.from_settings(settings)
        self.numbers = WebWorker(metrics.page(process), services, journal, self.requests, gate)
        self.metrics = MetricsRoutes(services, gate, metrics, board, self.health, self.numbers.tell)
        shell = Shell(services, gate, forms)
        shared: list[Routes] = [
            BulkRoutes(gate, imports),
            links,
            shorten,
            self.health,
            self.metrics,
            AnalyticsRoutes(services, gate, lambda: board.lag_seconds),
            TransferRoutes(shell, imports),
            UpkeepRoutes(shell, self.health, board),
        ]
        self._framework = make_framework(services, gate, forms, shared)
        # What programs call thousands of times a second goes to its handler straight: the framework knows
        # these routes too and describes them, but finding them takes it 120 of 200 us (measured).
        self._direct: dict[tuple[str, str], Handler] = {
            ("POST", "/api/v1/urls"): links.create,
            ("POST", "/shorten"): shorten.shorten,
        }
        self._hosts = services.hosts
        self._redirect = RedirectEndpoint(
            services.cache,
            services.hosts,
            journal,
            TrustedProxies(settings.trusted_proxies),
            show_refusal,
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._serve(scope, receive, send)
        except MemoryError:
            # There may not even have been enough to say so; what is sent here was made at the start.
            if scope["type"] != "http":
                raise
            await send(_NO_MEMORY_HEAD)
            await send(_NO_MEMORY_BODY)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._framework(scope, receive, send)
            return
        site = self._hosts.site_of(_host_of(scope))
        handler = self._direct.get((scope["method"], scope["path"]))
        if handler is not None and site is None and self.traces is None and not self.memory.is_short:
            await self._answer_directly(handler, scope, receive, send)
            return
        answer: Answer
        if site is not None:
            route_class, answer = "redirect", partial(self._answer_on, site, scope, receive)
        else:
            route_class = class_of(scope["method"], scope["path"])
            answer = partial(self._answer_here, scope, receive)
        if self.memory.is_short and scope["method"] not in _READING:
            answer = partial(_NOT_NOW, scope, receive)
        if self.traces is not None:
            answer = self.traces.around(route_class, scope, answer)
        try:
            await self.requests.watch(route_class, scope, answer, send)
        except Exception:
            # The framework raises again what it has answered; the server would log it once more, without its id.
            if _LOGGED not in scope:
                raise

    async def _answer_here(self, scope: Any, receive: Any, send: Any) -> None:
        """On the base host, and on hosts that nobody has claimed."""
        allowances: list[Allowance] = []
        scope[ALLOWANCE] = allowances
        if _is_own(scope["path"]):
            await self._framework(scope, receive, _with_allowance(allowances, send))
        else:
            await self._redirect(scope, receive, send)

    async def _answer_directly(self, handler: Handler, scope: Any, receive: Any, send: Any) -> None:
        """What `_answer_here` and the meter would do, by the shortest way."""
        allowances: list[Allowance] = []
        scope[ALLOWANCE] = allowances
        watched = self.requests.begin(scope)
        status = INTERNAL.status
        try:
            response = await _answer(handler, DirectRequest(scope, receive))
            status = response.status_code
            if allowances:
                response.raw_headers += allowances[-1].headers()
            response.raw_headers.append(watched.header)
            if WHOLE in scope:
                scope[WHOLE](status, response.raw_headers, response.body)
            else:
                await response(scope, receive, send)
        finally:
            self.requests.end(watched, "create", scope["method"], status)

    async def _answer_on(self, site: Site, scope: Any, receive: Any, send: Any) -> None:
        """On a domain of a workspace: links, their previews and what those pages need. No API, no dashboard."""
        path = scope["path"]
        scope[ALLOWANCE] = []
        if path == "/" and site.root_target is not None and scope["method"] in ("GET", "HEAD"):
            await send_on(site.root_target, send)
        elif is_preview(path) or path[1:].partition("/")[0] in _EVERYWHERE:
            await self._framework(scope, receive, send)
        else:
            await self._redirect(scope, receive, send)


def _host_of(scope: Any) -> bytes:
    for name, value in scope["headers"]:
        if name == b"host":
            host: bytes = value
            return host
    return b""


def _with_allowance(allowances: list[Allowance], send: Any) -> Any:
    """Tells a caller who has a rate what is left of it, on every answer."""

    async def tell(message: Any) -> None:
        if allowances and message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *allowances[-1].headers()]}
        await send(message)

    return tell


async def _answer(handler: Handler, request: Request) -> Response:
    try:
        return await handler(request)
    except LaconicError as error:
        return answer_to(request, error)
    except Exception as error:
        return await _bug(request, error)


def _is_own(path: str) -> bool:
    return path[1:].partition("/")[0] in OWN_PATHS or is_preview(path)


class Routes(Protocol):
    def router(self) -> APIRouter: ...


def make_framework(services: Services, gate: Gate, forms: FormTokens, shared: Sequence[Routes]) -> FastAPI:
    """API, pages and their errors. `shared` are the routes that the caller holds as well."""
    painter = QrPainter()
    app = FastAPI(
        title="Laconic",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    routes: list[Routes] = [
        *shared,
        ClickRoutes(services, gate),
        LiveRoutes(services, gate),
        KgsRoutes(services, gate),
        QrRoutes(services, gate, painter),
        CleanupRoutes(services, gate),
        WorkspaceRoutes(services, gate),
        UserRoutes(services, gate),
        KeyRoutes(services, gate),
        AuditRoutes(services, gate),
        DomainRoutes(services, gate),
        OversightRoutes(services, gate),
        HomeRoutes(services, gate, painter, forms),
        *_sign_in_routes(services, gate, forms),
        *dashboard_routes(services, gate, forms),
        DocsRoutes(app),
        StaticRoutes(),
        WellKnownRoutes(services.settings.base_url),
        PreviewRoutes(services, gate, painter),
    ]
    for some in routes:
        app.include_router(some.router())
    app.add_exception_handler(LaconicError, _laconic_error)
    app.add_exception_handler(RequestValidationError, _wrong_shape)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _bug)
    return app


def _sign_in_routes(services: Services, gate: Gate, forms: FormTokens) -> list[Routes]:
    provider = IdentityProvider.from_settings(services.settings)
    pages = SignInRoutes(services, gate, forms, None if provider is None else provider.name)
    routes: list[Routes] = [pages, ResetRoutes(services, gate, forms, pages)]
    if provider is None:
        return routes
    secret = CodeStore(services.database).signing_secret
    return [*routes, OidcRoutes(provider, pages, forms, secret, services.settings.base_url)]


async def _laconic_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, LaconicError)  # noqa: S101
    return answer_to(request, error)


async def _wrong_shape(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    listed = [
        {"field": ".".join(str(part) for part in one["loc"][1:]), "detail": one["msg"]}
        for one in error.errors()
    ]
    detail = "; ".join(f"{one['field']}: {one['detail']}" for one in listed[:3])
    return answer_to(request, Problem(WRONG_SHAPE, detail + ".", listed))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    kinds = {404: NO_SUCH_PAGE, 405: WRONG_METHOD}
    kind = kinds.get(error.status_code, Kind(error.status_code, "http_error", str(error.detail)))
    response = answer_to(request, Problem(kind, f"{kind.title}."))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


def _is_exhaustion(error: Exception) -> bool:
    """The interpreter's word for a thread that cannot be started is no class of its own."""
    if isinstance(error, OSError):
        return error.errno in _EXHAUSTED
    return isinstance(error, MemoryError) or "can't start new thread" in str(error)


async def _bug(request: Request, error: Exception) -> Response:
    """Logged with its trace for us; the caller learns only that it was not their fault."""
    request.scope[_LOGGED] = True
    if _is_exhaustion(error):
        # No fault of the program: the machine has run out of something, and may have it again a moment later.
        log.error("the machine has run out of something", path=request.url.path, error=repr(error))
        kind = Unavailable if request.method in ("GET", "HEAD") else OutcomeUnknown
        return answer_to(request, kind("The server has no memory, disk or files left just now."))
    log.error("unexpected error", path=request.url.path, exc_info=error)
    return answer_to(request, Problem(INTERNAL, "The error was logged."))
