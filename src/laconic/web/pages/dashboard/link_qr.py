"""/dashboard/links/{code}/qr: the QR editor. The pictures come from the API; a logo never leaves the browser."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from laconic.web.api.links import domain_of
from laconic.web.pages.dashboard.link_paths import LINKS, ShownLink, host_of, link_path
from laconic.web.pages.dashboard.shell import Shell
from laconic.workspaces.model import LINKS_READ

_COLOUR: Final = re.compile("#[0-9a-f]{6}")
_LEVELS: Final = (("l", "Low, 7 %"), ("m", "Medium, 15 %"), ("q", "High, 25 %"), ("h", "Highest, 30 %"))
_SMALLEST, _LARGEST, _WIDEST = 64, 2_048, 16


@dataclass(frozen=True, slots=True)
class Look:
    """What the form asks for; a value that it cannot have given is as if it were not there."""

    size: int = 512
    margin: int = 4
    dark: str = "#000000"
    light: str = "#ffffff"
    is_transparent: bool = False
    error: str = "m"

    @classmethod
    def of_query(cls, asked: QueryParams) -> "Look":
        plain = cls()
        dark, light = asked.get("dark", "").lower(), asked.get("light", "").lower()
        look = cls(
            _number(asked.get("size", ""), _SMALLEST, _LARGEST, plain.size),
            _number(asked.get("margin", ""), 0, _WIDEST, plain.margin),
            dark if _COLOUR.fullmatch(dark) else plain.dark,
            light if _COLOUR.fullmatch(light) else plain.light,
            asked.get("transparent") == "on",
            asked.get("error", "") if asked.get("error") in dict(_LEVELS) else plain.error,
        )
        return look if look.dark != look.light else cls(look.size, look.margin)

    def query(self, picture: str, host: str) -> str:
        light = "transparent" if self.is_transparent else self.light[1:]
        return urlencode(
            {
                "format": picture,
                "size": self.size,
                "margin": self.margin,
                "dark": self.dark[1:],
                "light": light,
                "error": self.error,
                "domain": host,
            }
        )


def _number(text: str, least: int, most: int, otherwise: int) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 6
    return min(max(int(text), least), most) if is_number else otherwise


class LinkQrRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services

    async def show(self, request: Request, code: str) -> Response:
        visitor = await self._shell.enter(request, LINKS_READ)
        domain_id = await domain_of(
            self._services, visitor.actor, code, request.query_params.get("domain") or None
        )
        link = await self._services.browser.get(visitor.workspace_id, domain_id, code)
        look, host = Look.of_query(request.query_params), host_of(self._services, domain_id)
        picture = f"/api/v1/urls/{quote(link.short_code)}/qr"
        return await self._shell.page(
            visitor,
            "dashboard/link_qr.html",
            "links",
            shown=ShownLink.of(self._services, link),
            look=look,
            host=host,
            action=link_path(self._services, link, "/qr").partition("?")[0],
            picture=picture,
            svg=f"{picture}?{look.query('svg', host)}",
            png=f"{picture}?{look.query('png', host)}",
            levels=_LEVELS,
            smallest=_SMALLEST,
            largest=_LARGEST,
            widest=_WIDEST,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(LINKS + "/{code}/qr", self.show, methods=["GET", "HEAD"])
        return router
