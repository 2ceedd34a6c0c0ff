"""Files that programs look for at fixed places: robots.txt and security.txt."""

from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.responses import Response

from laconic.clock import DAY, now, to_rfc3339
from laconic.web.api.problems import SECURITY_HEADERS

# Short links stay open to robots: those that draw link previews in chats and feeds obey this file, too.
_ROBOTS = """User-agent: *
Disallow: /api/
Disallow: /dashboard
Disallow: /shorten
Disallow: /stats/
"""
# RFC 9116, section 2.5.5, recommends less than a year.
_VALID_FOR = 180 * DAY


class WellKnownRoutes:
    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    async def robots(self) -> Response:
        return _text(_ROBOTS)

    async def security(self) -> Response:
        """RFC 9116. The mailbox is the one that RFC 2142 names for this."""
        midnight = now() // DAY * DAY
        return _text(
            f"Contact: mailto:security@{urlsplit(self._base_url).hostname}\n"
            f"Expires: {to_rfc3339(midnight + _VALID_FOR)}\n"
            f"Canonical: {self._base_url}/.well-known/security.txt\n"
            "Preferred-Languages: en\n"
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/robots.txt", self.robots, methods=["GET", "HEAD"])
        router.add_api_route("/.well-known/security.txt", self.security, methods=["GET", "HEAD"])
        return router


def _text(text: str) -> Response:
    headers = {**SECURITY_HEADERS, "cache-control": "public, max-age=3600"}
    return Response(text, headers=headers, media_type="text/plain; charset=utf-8")
