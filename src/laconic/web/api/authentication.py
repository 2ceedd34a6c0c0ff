"""Who is calling, and whether they may.

Open mode lets the first minute go without a key: on a loopback address, with no user created yet, whoever calls
acts as admin of the default workspace. Its fences are here, all of them.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request

from laconic import clock
from laconic.errors import NotAuthenticated, ScopeMissing, TooManyRequests
from laconic.redirect.forwarded import TrustedProxies
from laconic.settings import Rate, Settings
from laconic.web.api.limit_table import LimitTable
from laconic.web.api.limits import Limiter, Limits
from laconic.web.api.problems import FORM_EXPIRED, Problem
from laconic.web.api.session_cookie import SessionCookie
from laconic.web.pages.form_tokens import FormTokens
from laconic.wiring import Services
from laconic.workspaces.model import (
    DEFAULT_WORKSPACE_ID,
    LINKS_CREATE,
    OPERATOR,
    OWN_KEYS,
    TENANT_SCOPES,
    Actor,
)
from laconic.workspaces.people.sessions import SignedIn

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
# A request that came through a proxy is not from this machine, whatever its address says.
_PROXY_HEADERS = frozenset({"forwarded", "via", "x-real-ip"})
_PROXY_PREFIX = "x-forwarded"
_REMEMBER_USERS_SECONDS = 0.9
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Where the gate leaves what the caller has left of their rate, for whoever writes the answer's headers.
ALLOWANCE = "laconic.allowance"
_SIGNED_IN = "laconic.signed_in"

_OPEN_SCOPES = TENANT_SCOPES | {OPERATOR, OWN_KEYS}
_ANYONES_SCOPES = frozenset({LINKS_CREATE})


def is_loopback(host: str) -> bool:
    if host in ("localhost", "localhost."):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def may_be_open(settings: Settings) -> bool:
    """Do the settings allow open mode at all?"""
    base_host = urlsplit(settings.base_url).hostname or ""
    return is_loopback(settings.host) and is_loopback(base_host) and not settings.trusted_proxies


class Gate:
    """Turns a request into an actor."""

    def __init__(
        self, settings: Settings, services: Services, forms: FormTokens, table: LimitTable | None = None
    ) -> None:
        """`table` is where the workers of this machine count together."""
        self._workspaces = services.workspaces
        self._api_keys = services.api_keys
        self._sessions = services.people.sessions
        self._forms = forms
        self.cookie = SessionCookie(settings.base_url)
        self._proxies = TrustedProxies(settings.trusted_proxies)
        self._may_be_open = may_be_open(settings)
        self._anyone_may_create = settings.open

        self._base_url = settings.base_url
        self._shared_store = services.shared_store
        self._table = table or LimitTable()
        self._limits: dict[str, Limits] = {}
        self._creates = self.new_limits("create", settings.rate_create)
        self._requests = self.new_limits("api", settings.rate_api)
        self._pool = services.pool
        self._short_limiter = self._new_limiter("scarce codes", settings.rate_api)
        self.slowed = 0
        """Creates refused because codes are scarce."""
        self._has_users = False
        self._users_known_until = 0.0

    @property
    def limits(self) -> Iterable[Limits]:
        return self._limits.values()

    def new_limits(self, name: str, rate: Rate) -> Limits:
        """For whatever may be done only so often, the same for all who ask under this name. Two installations may use
        one Redis: their callers must not meet."""
        if name not in self._limits:
            limiter = self._new_limiter(name, rate)
            self._limits[name] = Limits(name, limiter, self._shared_store, self._base_url)
        return self._limits[name]

    def _new_limiter(self, name: str, rate: Rate) -> Limiter:
        return Limiter(rate.per_second, rate.burst, self._table, name)

    async def admit(self, request: Request, scope: str, *, own_page: bool = False) -> Actor:
        """The caller, if they may do this; raises NotAuthenticated, ScopeMissing or TooManyRequests.

        `own_page`: whoever asks has seen to it that the form is ours, or changes nothing.
        """
        return self.allow(await self.identify(request, scope, own_page=own_page), scope)

    def allow(self, actor: Actor, scope: str) -> Actor:
        if not actor.may(scope):
            raise ScopeMissing(scope)
        if scope == LINKS_CREATE and self._pool.is_critical:
            # Codes are made on the fly, at the cost of all: no workspace shall have them alone.
            try:
                self._short_limiter.check(str(actor.workspace_id))
            except TooManyRequests:
                self.slowed += 1
                raise
        return actor

    async def identify(self, request: Request, scope: str = "", *, own_page: bool = False) -> Actor:
        """The caller, whatever they may do; raises NotAuthenticated or TooManyRequests."""
        address = self.address_of(request)
        try:
            secret = _secret_of(request)
            if secret is not None:
                actor = await self._api_keys.authenticate(secret, plain_address(address))
                await self.limit(request, self._requests, f"key {actor.api_key_id}")
                return actor
            signed_in = await self.signed_in(request)
            if signed_in is not None:
                await self.limit(request, self._requests, f"user {signed_in.user.id}")
                if not own_page:
                    await self._require_own_page(request)
                return signed_in.actor(plain_address(address))
            if await self._is_open(request):
                return _open_actor(address)
            if self._anyone_may_create and scope == LINKS_CREATE:
                await self.limit(request, self._creates, address)
                return Actor(
                    DEFAULT_WORKSPACE_ID, _ANYONES_SCOPES, kind="anyone", address=plain_address(address)
                )
            raise NotAuthenticated
        except NotAuthenticated:
            # Whoever tries out keys is slowed down like everybody else.
            await self.limit(request, self._requests, f"address {address}")
            raise

    async def signed_in(self, request: Request) -> SignedIn | None:
        """The session of the browser that asks."""
        if _SIGNED_IN not in request.scope:
            token = self.cookie.token(request)
            found = None if token is None else await self._sessions.find(token)
            # Asked for again by the page that this request is for.
            request.scope[_SIGNED_IN] = found
        signed_in: SignedIn | None = request.scope[_SIGNED_IN]
        return signed_in

    async def _require_own_page(self, request: Request) -> None:
        """A browser sends its cookie whoever makes it ask: a change needs the token of one of our own pages."""
        if request.method not in _SAFE_METHODS and not await self._forms.is_ours(
            request, request.headers.get("x-csrf-token", "")
        ):
            raise Problem(FORM_EXPIRED, "A signed-in browser sends X-CSRF-Token, which its page holds.")

    async def limit(self, request: Request, limits: Limits, caller: str) -> None:
        """Counts the request, and lets its answer say what is left; raises TooManyRequests."""
        try:
            request.scope[ALLOWANCE].append(await limits.check(caller))
        except TooManyRequests as refusal:
            request.scope[ALLOWANCE].append(limits.spent(refusal.retry_after))
            raise

    def address_of(self, request: Request) -> str:
        client = request.scope.get("client")
        peer: str = client[0] if client else ""
        forwarded = request.headers.get("x-forwarded-for")
        if forwarded and self._proxies.trusts(peer):
            return self._proxies.visitor_address(peer.encode(), forwarded.encode("latin-1")).decode()
        return peer

    async def _is_open(self, request: Request) -> bool:
        if not self._may_be_open or not comes_from_here(request):
            return False
        return not await self._users_exist()

    async def _users_exist(self) -> bool:
        """Once there is a user there is one for ever, and open mode is over."""
        if not self._has_users and clock.monotonic() >= self._users_known_until:
            until = clock.monotonic() + _REMEMBER_USERS_SECONDS
            self._has_users = await self._workspaces.has_users()
            self._users_known_until = until
        return self._has_users


@lru_cache(maxsize=64)
def _open_actor(address: str) -> Actor:
    return Actor(DEFAULT_WORKSPACE_ID, _OPEN_SCOPES, address=plain_address(address))


@lru_cache(maxsize=4096)
def plain_address(address: str) -> str | None:
    """As the audit trail keeps it: without a zone, and nothing that is no address."""
    try:
        return str(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return None


def _secret_of(request: Request) -> str | None:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise NotAuthenticated
        return secret.strip()
    return request.headers.get("x-api-key")


def comes_from_here(request: Request) -> bool:
    """Does a request with a local address come from a program of this machine, as far as its headers tell?

    Not through a proxy, and not by a name that a web page elsewhere has given to this machine (DNS rebinding).
    """
    host = request.headers.get("host", "").lower()
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in _LOCAL_NAMES and not any(is_from_proxy(header) for header in request.headers)


def is_from_proxy(header: str) -> bool:
    return header in _PROXY_HEADERS or header.startswith(_PROXY_PREFIX)
