"""An OpenID Connect provider as a client sees it: authorization code with PKCE, and an ID token that is checked.

Settings name the provider, so talking to it is the operator's wish and no visitor's.
"""

from dataclasses import dataclass
from typing import Any

from laconic import clock
from laconic.errors import SettingInvalid, SignInFailed, Unavailable
from laconic.settings import Settings

_TIMEOUT_SECONDS = 5.0
_REMEMBER_SECONDS = 3600.0
_LEEWAY_SECONDS = 60
# Not `none`, and nothing that is keyed by the client secret.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the provider says it is. `email` only when the provider has verified it."""

    subject: str
    email: str | None


class IdentityProvider:
    def __init__(self, settings: Settings) -> None:
        try:
            import joserfc  # noqa: F401
            from authlib.integrations.httpx_client import AsyncOAuth2Client
        except ImportError as error:
            raise SettingInvalid("OpenID Connect needs an extra: pip install 'laconic[oidc]'.") from error
        self._client_class = AsyncOAuth2Client
        self.name = settings.oidc_name
        self._issuer = settings.oidc_issuer.rstrip("/")
        self._client_id = settings.oidc_client_id
        self._client_secret = settings.oidc_client_secret
        self._scopes = settings.oidc_scopes
        self._redirect_uri = f"{settings.base_url}/dashboard/oidc/callback"
        self._metadata: dict[str, Any] = {}
        self._keys: Any = None
        self._known_until = 0.0

    @classmethod
    def from_settings(cls, settings: Settings) -> "IdentityProvider | None":
        if not settings.oidc_issuer:
            return None
        if not settings.oidc_client_id:
            raise SettingInvalid("LACONIC_OIDC_CLIENT_ID is needed where LACONIC_OIDC_ISSUER is set.")
        return cls(settings)

    async def address(self, state: str, nonce: str, verifier: str) -> str:
        """Where to send the browser."""
        await self._discover()
        async with self._client() as client:
            url, _ = client.create_authorization_url(
                self._metadata["authorization_endpoint"],
                state=state,
                nonce=nonce,
                code_verifier=verifier,
            )
            return str(url)

    async def identify(self, code: str, nonce: str, verifier: str) -> Identity:
        """Whom a code stands for. Raises SignInFailed, or Unavailable when the provider does not answer."""
        await self._discover()
        async with self._client() as client:
            with _told_in_our_words():
                token = await client.fetch_token(
                    self._metadata["token_endpoint"],
                    code=code,
                    code_verifier=verifier,
                    grant_type="authorization_code",
                )
        claims = await self._claims(str(token.get("id_token", "")), nonce)
        email = claims.get("email") if claims.get("email_verified") is True else None
        # With the issuer: should the installation change providers, nobody becomes somebody else.
        return Identity(f"{self._issuer} {claims['sub']}", str(email) if email else None)

    def _client(self) -> Any:
        return self._client_class(
            self._client_id,
            self._client_secret or None,
            token_endpoint_auth_method="client_secret_basic" if self._client_secret else "none",
            scope=self._scopes,
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
            timeout=_TIMEOUT_SECONDS,
        )

    async def _discover(self) -> None:
        if self._metadata and clock.monotonic() < self._known_until:
            return
        found = await self._get(f"{self._issuer}/.well-known/openid-configuration")
        if str(found.get("issuer", "")).rstrip("/") != self._issuer:
            raise Unavailable("The identity provider calls itself by another name than LACONIC_OIDC_ISSUER.")
        self._metadata, self._keys = found, None
        self._known_until = clock.monotonic() + _REMEMBER_SECONDS

    async def _claims(self, id_token: str, nonce: str) -> dict[str, Any]:
        """Of an ID token that was signed by the provider, for us, for this sign-in, and is not over."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        rules = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._metadata["issuer"]},
            aud={"essential": True, "value": self._client_id},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
            exp={"essential": True},
        )
        last: Exception | None = None
        for refresh in (False, True):
            keys = await self._key_set(refresh=refresh)
            try:
                token = jwt.decode(id_token, keys, algorithms=_ALGORITHMS)
                rules.validate(token.claims)
            except (JoseError, ValueError, KeyError) as error:
                last = error  # the provider may have new keys since
                continue
            return dict(token.claims)
        raise SignInFailed("The identity provider's answer cannot be believed.") from last

    async def _key_set(self, *, refresh: bool) -> Any:
        from joserfc.jwk import KeySet

        if self._keys is None or refresh:
            self._keys = KeySet.import_key_set(await self._get(self._metadata["jwks_uri"]))
        return self._keys

    async def _get(self, url: str) -> Any:
        import httpx

        with _told_in_our_words():
            async with httpx.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
                answer = await client.get(url)
                answer.raise_for_status()
                return answer.json()


class _told_in_our_words:  # noqa: N801  reads as a statement
    """Turns the libraries' exceptions into ours. Their texts stay out of answers: they may hold a code or a secret."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import httpx
        from authlib.common.errors import AuthlibBaseError

        if isinstance(error, AuthlibBaseError):
            raise SignInFailed("The identity provider has refused the sign-in.") from None
        if isinstance(error, httpx.HTTPError | ValueError):
            raise Unavailable("The identity provider does not answer as it should.") from None
