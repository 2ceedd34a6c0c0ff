"""/docs and /openapi.json. Swagger UI comes from a wheel (decision 0018) and works without any other host."""

import asyncio
import gzip
import importlib.metadata
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from laconic.web.api.answers import json_response
from laconic.web.api.problems import NO_SUCH_PAGE, Problem
from laconic.web.pages.static_files import KEEP, MEDIA_TYPES, StaticFile, file_response
from laconic.web.pages.templates import page_response

_PACKAGE = "fastapi-swagger"
_NAMES = frozenset({"swagger-ui-bundle.js", "swagger-ui.css"})
_SECURITY = {
    "API key": {"type": "http", "scheme": "bearer", "description": "lac_live_…; not needed in open mode."},
}


class DocsRoutes:
    """For the application whose routes it describes."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._document: dict[str, Any] | None = None

    async def openapi(self) -> Response:
        """Made at the first request: it takes some tens of milliseconds, and most workers are never asked."""
        if self._document is None:
            document = await asyncio.to_thread(self._app.openapi)
            document.setdefault("components", {})["securitySchemes"] = _SECURITY
            # An empty requirement: a key is optional, for open mode has none.
            document["security"] = [{name: []} for name in _SECURITY] + [{}]
            self._document = document
        return json_response(self._document)

    async def docs(self) -> Response:
        version = importlib.metadata.version(_PACKAGE)
        files = {name: f"/static/swagger-ui/{version}/{name}" for name in _NAMES}
        return page_response("docs.html", style=files["swagger-ui.css"], script=files["swagger-ui-bundle.js"])

    async def file(self, request: Request, version: str, name: str) -> Response:
        if name not in _NAMES:
            raise Problem(NO_SUCH_PAGE, "There is no such file.")
        file = await asyncio.to_thread(_swagger_file, name)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            body = await asyncio.to_thread(gzip.decompress, file.gzipped or b"")
            file = StaticFile(body, None, file.media_type, file.mark)
        return file_response(request, file, KEEP if version == file.mark else "no-cache")

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/docs", self.docs, methods=["GET", "HEAD"])
        router.add_api_route("/openapi.json", self.openapi, methods=["GET", "HEAD"])
        router.add_api_route("/static/swagger-ui/{version}/{name}", self.file, methods=["GET", "HEAD"])
        return router


@cache
def _swagger_file(name: str) -> StaticFile:
    """Read when first asked for, and kept compressed: 1.7 MB would be much for a page that few open."""
    # find_spec does not import the package: none of its code runs.
    spec = importlib.util.find_spec(_PACKAGE.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise Problem(NO_SUCH_PAGE, f"The package {_PACKAGE} is not installed.")
    body = (Path(spec.submodule_search_locations[0]) / "resources" / name).read_bytes()
    mark = importlib.metadata.version(_PACKAGE)
    return StaticFile(b"", gzip.compress(body, mtime=0), MEDIA_TYPES[Path(name).suffix], mark)
