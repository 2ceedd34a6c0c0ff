"""Own paths to the framework, everything else to the redirect endpoint."""

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from laconic import __version__
from laconic.clicks.journal import Journal
from laconic.codes.rules import OWN_PATHS
from laconic.errors import LaconicError
from laconic.redirect.endpoint import RedirectEndpoint
from laconic.redirect.forwarded import TrustedProxies
from laconic.web.api.authentication import Gate
from laconic.web.api.bulk import BulkRoutes
from laconic.web.api.links import LinkRoutes
from laconic.web.api.problems import (
    INTERNAL,
    NO_SUCH_PAGE,
    WRONG_METHOD,
    WRONG_SHAPE,
    Kind,
    Problem,
    response_to,
)
from laconic.web.api.shorten import ShortenRoutes
from laconic.web.health import HealthRoutes
from laconic.web.pages.refusals import show_refusal
from laconic.wiring import Services

log = structlog.get_logger(__name__)


class App:
    """The ASGI application of a web worker."""

    def __init__(self, services: Services, journal: Journal) -> None:
        settings = services.settings
        self.health = HealthRoutes(services)
        self._framework = make_framework(services, self.health)
        self._redirect = RedirectEndpoint(
            services.cache,
            services.hosts,
            journal,
            TrustedProxies(settings.trusted_proxies),
            show_refusal,
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"][1:].partition("/")[0] not in OWN_PATHS:
            await self._redirect(scope, receive, send)
        else:
            await self._framework(scope, receive, send)


def make_framework(services: Services, health: HealthRoutes) -> FastAPI:
    """API, pages and their errors."""
    gate = Gate(services.settings, services.workspaces, services.api_keys)
    app = FastAPI(
        title="Laconic", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.include_router(BulkRoutes(services, gate).router())
    app.include_router(LinkRoutes(services, gate).router())
    app.include_router(ShortenRoutes(services, gate).router())
    app.include_router(health.router())
    app.add_exception_handler(LaconicError, _laconic_error)
    app.add_exception_handler(RequestValidationError, _wrong_shape)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _bug)
    return app


async def _laconic_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, LaconicError)  # noqa: S101
    return response_to(error)


async def _wrong_shape(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    listed = [
        {"field": ".".join(str(part) for part in one["loc"][1:]), "detail": one["msg"]} for one in error.errors()
    ]
    detail = "; ".join(f"{one['field']}: {one['detail']}" for one in listed[:3])
    return response_to(Problem(WRONG_SHAPE, detail + ".", listed))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    kinds = {404: NO_SUCH_PAGE, 405: WRONG_METHOD}
    kind = kinds.get(error.status_code, Kind(error.status_code, "http_error", str(error.detail)))
    response = response_to(Problem(kind, f"{kind.title}."))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _bug(request: Request, error: Exception) -> Response:
    """Logged with its trace for us; the caller learns only that it was not their fault."""
    log.error("unexpected error", path=request.url.path, exc_info=error)
    return response_to(Problem(INTERNAL, "The error was logged."))


