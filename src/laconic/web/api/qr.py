"""/api/v1/urls/{code}/qr: a link's QR code as a picture."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from laconic.errors import ChoiceRefused
from laconic.web.api.authentication import Gate
from laconic.web.api.links import DomainQuery, require_code
from laconic.web.api.openapi import problems
from laconic.web.api.problems import SECURITY_HEADERS
from laconic.web.pages.qr_drawing import QrPainter, QrStyle, draw_png, draw_svg
from laconic.wiring import Services
from laconic.workspaces.model import LINKS_READ

_COLOUR = r"#?([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})"
_MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
_DRAW = {"svg": draw_svg, "png": draw_png}


class QrRoutes:
    def __init__(self, services: Services, gate: Gate, painter: QrPainter) -> None:
        self._services = services
        self._gate = gate
        self._painter = painter

    async def show(
        self,
        request: Request,
        code: str,
        domain: DomainQuery = None,
        picture: Annotated[Literal["svg", "png"], Query(alias="format")] = "svg",
        size: Annotated[int, Query(ge=32, le=2048, description="Pixels on each side.")] = 320,
        margin: Annotated[int, Query(ge=0, le=16, description="Modules around it; scanners like 4.")] = 4,
        dark: Annotated[
            str, Query(pattern=f"^{_COLOUR}$", description="A colour such as 1a2b3c.")
        ] = "000000",
        light: Annotated[
            str, Query(pattern=f"^({_COLOUR}|transparent)$", description="A colour, or transparent.")
        ] = "ffffff",
        error: Annotated[
            Literal["l", "m", "q", "h", "L", "M", "Q", "H"],
            Query(description="How much may be damaged: about 7, 15, 25 or 30 %."),
        ] = "m",
    ) -> Response:
        """The QR code of the short URL."""
        actor = await self._gate.admit(request, LINKS_READ)
        domain_id = await self._services.locator.of_code(actor.workspace_id, require_code(code), domain)
        link = await self._services.browser.get(actor.workspace_id, domain_id, code)
        style = QrStyle(size, margin, _colour(dark), _ground(light), error.lower())
        if style.dark == style.light:
            raise ChoiceRefused("light", "Dark and light must differ, or nobody can read the code.")
        text = self._services.directory.short_url(domain_id, link.short_code)
        body = await self._painter.paint(_DRAW[picture], text, style)
        headers = {
            **SECURITY_HEADERS,
            # The picture holds the code alone, which never changes.
            "cache-control": "private, max-age=3600",
            "content-disposition": f'inline; filename="{link.short_code}.{picture}"',
        }
        return Response(body, headers=headers, media_type=_MEDIA_TYPES[picture])

    def router(self) -> APIRouter:
        router = APIRouter(tags=["links"])
        pictures: dict[str, dict[str, Any]] = {name: {} for name in _MEDIA_TYPES.values()}
        router.add_api_route(
            "/api/v1/urls/{code}/qr",
            self.show,
            methods=["GET"],
            summary="QR code",
            response_class=Response,
            responses={200: {"content": pictures}, **problems(400, 401, 404, 410, 422)},
        )
        return router


def _colour(text: str) -> str:
    digits = text.removeprefix("#").lower()
    return "#" + ("".join(digit * 2 for digit in digits) if len(digits) == 3 else digits)


def _ground(text: str) -> str | None:
    return None if text == "transparent" else _colour(text)
