"""Proof that a form was served by us to the browser that sends it (against cross-site request forgery).

A random number in a cookie, and its keyed hash in a field of the form: another site can neither read the one nor
make the other. Nothing is kept on the server. What the browser itself says of the origin is believed, too.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

_NUMBER = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class FormToken:
    """`number` goes into the cookie, `field` into the form."""

    number: str
    field: str


class FormTokens:
    """`load_secret` gives what all processes of the installation share; it is asked once."""

    def __init__(self, load_secret: Callable[[], Awaitable[bytes]], base_url: str) -> None:
        self._load_secret = load_secret
        self._key: bytes | None = None
        base = urlsplit(base_url)
        self._base_authority = base.netloc
        self.is_https = base.scheme == "https"
        # With this prefix a browser takes the cookie from this very host over TLS only (RFC 6265bis, 4.1.3.2).
        self._cookie = "__Host-laconic_form" if self.is_https else "laconic_form"

    async def token_for(self, request: Request) -> FormToken:
        """The browser's own, so that forms in several tabs work; a new one for a new browser."""
        number = request.cookies.get(self._cookie, "")
        if not _NUMBER.fullmatch(number):
            number = secrets.token_hex(16)
        return FormToken(number, await self._field(number))

    def keep(self, response: Response, token: FormToken) -> None:
        response.set_cookie(
            self._cookie, token.number, path="/", secure=self.is_https, httponly=True, samesite="lax"
        )

    async def is_ours(self, request: Request, field: str) -> bool:
        """Does the form that this request carries come from a page of ours?"""
        number = request.cookies.get(self._cookie, "")
        if not _NUMBER.fullmatch(number) or self._comes_from_elsewhere(request):
            return False
        return hmac.compare_digest((await self._field(number)).encode(), field.encode("utf-8", "replace"))

    async def sign(self, text: str) -> str:
        """A mark that only this installation can put under a text. The text begins with what it is for."""
        return await self._field(text)

    async def is_signed(self, text: str, mark: str) -> bool:
        return hmac.compare_digest((await self._field(text)).encode(), mark.encode("utf-8", "replace"))

    def _comes_from_elsewhere(self, request: Request) -> bool:
        site = request.headers.get("sec-fetch-site")
        if site is not None:
            return site not in ("same-origin", "none")
        origin = request.headers.get("origin")
        if origin is None:
            return False
        return urlsplit(origin).netloc not in (request.headers.get("host"), self._base_authority)

    async def _field(self, number: str) -> str:
        if self._key is None:
            # A key of its own for this use: nothing that is signed with it tells of the secret it comes from.
            self._key = hashlib.blake2b(await self._load_secret(), person=b"laconic forms").digest()
        return hmac.new(self._key, number.encode(), hashlib.sha256).hexdigest()
