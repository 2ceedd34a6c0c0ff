"""A sentence for the next page: what was done, and a button that undoes it.

It travels in a cookie, signed, for a minute: nothing is kept on the server, and no other site can put words into a page
of ours.
"""

import base64
import binascii
import json
import zlib
from dataclasses import asdict, dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from laconic.web.pages.form_tokens import FormTokens

_COOKIE: Final = "laconic_flash"
_SECONDS: Final = 60
# Browsers keep at most 4096 bytes of a cookie.
_LARGEST: Final = 3_500


@dataclass(frozen=True, slots=True)
class Undo:
    """A form that takes a change back: where it goes, and its hidden fields."""

    action: str
    fields: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flash:
    """`kind` is done or problem."""

    text: str
    kind: str = "done"
    undo: Undo | None = None


class Flashes:
    def __init__(self, tokens: FormTokens) -> None:
        self._tokens = tokens

    async def keep(self, response: Response, flash: Flash) -> None:
        """For the page that the response leads to. An undo that is too long for a cookie is left out."""
        value = await self._sign(flash)
        if len(value) > _LARGEST:
            value = await self._sign(Flash(flash.text[:500], flash.kind))
        response.set_cookie(
            *(_COOKIE, value, _SECONDS),
            path="/dashboard",
            secure=self._tokens.is_https,
            httponly=True,
            samesite="lax",
        )

    async def take(self, request: Request) -> Flash | None:
        """What the page before has left, if it is ours. `clear` sees to it that it is shown once."""
        body, _, mark = request.cookies.get(_COOKIE, "").partition(".")
        if not body or not await self._tokens.is_signed(f"flash {body}", mark):
            return None
        try:
            told = json.loads(zlib.decompress(base64.urlsafe_b64decode(body)))
            undo = told.pop("undo")
            return Flash(**told, undo=None if undo is None else Undo(**undo))
        except (ValueError, TypeError, binascii.Error, zlib.error):
            # Signed by a release that had other fields, or another form.
            return None

    def clear(self, response: Response) -> None:
        response.delete_cookie(_COOKIE, path="/dashboard", secure=self._tokens.is_https, httponly=True)

    def is_there(self, request: Request) -> bool:
        return _COOKIE in request.cookies

    async def _sign(self, flash: Flash) -> str:
        # Packed: an undo names every link that it is for.
        packed = zlib.compress(json.dumps(asdict(flash)).encode(), 9)
        body = base64.urlsafe_b64encode(packed).decode()
        return f"{body}.{await self._tokens.sign(f'flash {body}')}"
