"""/static/{mark}/{name}: our own files, from memory, kept by browsers for a year.

The mark is a hash of the content, so a new release has new addresses. While two releases run side by side a page
of the one may ask the other for its files: a wrong mark gets the file that is here, and nobody keeps it.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.web.api.problems import NO_SUCH_PAGE, SECURITY_HEADERS, Problem

_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
}
KEEP: Final = "public, max-age=31536000, immutable"
_KEEP_A_DAY = "public, max-age=86400"
# Below this a second copy saves no packet.
_LEAST_GZIPPED = 500


@dataclass(frozen=True, slots=True)
class StaticFile:
    body: bytes
    gzipped: bytes | None
    media_type: str
    mark: str

    @classmethod
    def from_path(cls, path: Path) -> "StaticFile":
        body = path.read_bytes()
        gzipped = gzip.compress(body, mtime=0) if len(body) >= _LEAST_GZIPPED else None
        return cls(body, gzipped, MEDIA_TYPES[path.suffix], hashlib.sha256(body).hexdigest()[:12])


@cache
def static_files() -> dict[str, StaticFile]:
    """All of them, by name: a few dozen kilobytes."""
    return {
        path.name: StaticFile.from_path(path)
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in MEDIA_TYPES
    }


def static_url(name: str) -> str:
    return f"/static/{static_files()[name].mark}/{name}"


def file_response(request: Request, file: StaticFile, keep: str) -> Response:
    """The file, compressed for those who can read it so; 304 for those who have it."""
    headers = {**SECURITY_HEADERS, "cache-control": keep, "vary": "accept-encoding", "etag": f'"{file.mark}"'}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if file.gzipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return Response(file.gzipped, headers=headers, media_type=file.media_type)
    return Response(file.body, headers=headers, media_type=file.media_type)


class StaticRoutes:
    async def show(self, request: Request, mark: str, name: str) -> Response:
        file = static_files().get(name)
        if file is None:
            raise Problem(NO_SUCH_PAGE, "There is no such file.")
        return file_response(request, file, KEEP if mark == file.mark else "no-cache")

    async def favicon(self, request: Request) -> Response:
        return file_response(request, static_files()["favicon.ico"], _KEEP_A_DAY)

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/static/{mark}/{name}", self.show, methods=["GET", "HEAD"])
        router.add_api_route("/favicon.ico", self.favicon, methods=["GET", "HEAD"])
        return router
