"""/dashboard/oidc: signing in through an identity provider."""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from laconic import clock
from laconic.clock import MINUTE
from laconic.errors import LaconicError, SignInFailed, WorkspaceNeeded
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.forms import read_fields, require_own_form
from laconic.web.pages.identity_provider import Identity, IdentityProvider
from laconic.web.pages.sign_in import SignInRoutes

_LIFETIME = 10 * MINUTE
_PATH = "/dashboard/oidc"


class OidcRoutes:
    """What has to be remembered between two requests lies in a sealed cookie: nothing is kept on the server."""

    def __init__(
        self,
        provider: IdentityProvider,
        sign_in: SignInRoutes,
        tokens: FormTokens,
        load_secret: Callable[[], Awaitable[bytes]],
        base_url: str,
    ) -> None:
        self._provider = provider
        self._sign_in = sign_in
        self._tokens = tokens
        self._load_secret = load_secret
        self._is_https = urlsplit(base_url).scheme == "https"

    async def start(self, request: Request) -> Response:
        """To the provider, with a state, a nonce and a challenge that only this browser can answer."""
        kept = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
        try:
            url = await self._provider.address(**kept)
        except LaconicError as error:
            return await self._sign_in.refuse(request, error)
        response = RedirectResponse(url, 303, headers={"cache-control": "no-store"})
        await self._keep(response, kept)
        return response

    async def callback(self, request: Request, code: str = "", state: str = "", error: str = "") -> Response:
        try:
            kept = await self._kept(request)
            if (
                error
                or not kept.get("state")
                or not hmac.compare_digest(kept["state"].encode(), state.encode())
            ):
                raise SignInFailed("The sign-in was given up, or took too long. Please try again.")
            identity = await self._provider.identify(code, kept["nonce"], kept["verifier"])
            return await self._enter(request, identity, None)
        except LaconicError as refusal:
            return await self._sign_in.refuse(request, refusal)

    async def choose(self, request: Request) -> Response:
        """Of somebody who is in several workspaces, and has now said which one."""
        fields = await read_fields(request)
        try:
            await require_own_form(request, fields, self._tokens)
            kept = await self._kept(request)
            if "subject" not in kept:
                raise SignInFailed("That took too long. Please sign in again.")
            identity = Identity(kept["subject"], kept["email"])
            return await self._enter(request, identity, fields.get("workspace", "").strip() or "-")
        except LaconicError as refusal:
            return await self._sign_in.refuse(request, refusal)

    async def _enter(self, request: Request, identity: Identity, slug: str | None) -> Response:
        try:
            user = await self._sign_in.sign_in_verb.with_subject(identity.subject, identity.email, slug)
        except WorkspaceNeeded as needed:
            response = await self._sign_in.ask_workspace(request, needed, f"{_PATH}/workspace")
            await self._keep(response, {"subject": identity.subject, "email": identity.email})
            return response
        response = await self._sign_in.begin_session(request, user)
        response.delete_cookie(self._cookie, path=_PATH)
        return response

    # The sealed cookie.

    @property
    def _cookie(self) -> str:
        return "__Secure-laconic_oidc" if self._is_https else "laconic_oidc"

    async def _keep(self, response: Response, values: dict[str, Any]) -> None:
        text = base64.urlsafe_b64encode(
            json.dumps({**values, "until": clock.now() + _LIFETIME}).encode()
        ).decode()
        # Lax: the provider sends the browser back by a plain link, and the cookie has to come along.
        response.set_cookie(
            self._cookie,
            f"{text}.{await self._seal(text)}",
            max_age=_LIFETIME // clock.SECOND,
            path=_PATH,
            secure=self._is_https,
            httponly=True,
            samesite="lax",
        )

    async def _kept(self, request: Request) -> dict[str, Any]:
        text, _, seal = request.cookies.get(self._cookie, "").partition(".")
        if not hmac.compare_digest((await self._seal(text)).encode(), seal.encode("utf-8", "replace")):
            return {}
        values: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text))
        return values if values["until"] > clock.now() else {}

    async def _seal(self, text: str) -> str:
        key = hashlib.blake2b(await self._load_secret(), person=b"laconic oidc").digest()
        return hmac.new(key, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_PATH, self.start, methods=["GET"])
        router.add_api_route(f"{_PATH}/callback", self.callback, methods=["GET"])
        router.add_api_route(f"{_PATH}/workspace", self.choose, methods=["POST"])
        return router
