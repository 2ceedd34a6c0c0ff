"""Who is calling, and whether they may.

Open mode lets the first minute go without a key: on a loopback address, with no user created yet, whoever calls
acts as admin of the default workspace. Its fences are here, all of them.
"""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import Request

from laconic import clock
from laconic.codes.watch import PoolWatch
from laconic.errors import NotAuthenticated, ScopeMissing
from laconic.redirect.forwarded import TrustedProxies
from laconic.settings import Settings
from laconic.web.api.limits import Limiter
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, LINKS_CREATE, OPERATOR, TENANT_SCOPES, Actor
from laconic.workspaces.store import WorkspaceStore

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
# A request that came through a proxy is not from this machine, whatever its address says.
_PROXY_HEADERS = frozenset({"forwarded", "via", "x-real-ip"})
_PROXY_PREFIX = "x-forwarded"
_REMEMBER_USERS_SECONDS = 1.0

_OPEN_ACTOR = Actor(DEFAULT_WORKSPACE_ID, TENANT_SCOPES | {OPERATOR})
_ANYONE = Actor(DEFAULT_WORKSPACE_ID, frozenset({LINKS_CREATE}))


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
        self,
        settings: Settings,
        workspaces: WorkspaceStore,
        api_keys: ApiKeys,
        pool: PoolWatch | None = None,
    ) -> None:
        self._workspaces = workspaces
        self._api_keys = api_keys
        self._proxies = TrustedProxies(settings.trusted_proxies)
        self._may_be_open = may_be_open(settings)
        self._anyone_may_create = settings.open
        self._limiter = Limiter(settings.rate_create.per_second, settings.rate_create.burst)
        self._pool = pool
        self._short_limiter = Limiter(settings.rate_api.per_second, settings.rate_api.burst)
        self._has_users = False
        self._users_known_until = 0.0

    async def admit(self, request: Request, scope: str) -> Actor:
        """The caller, if they may do this; raises NotAuthenticated, ScopeMissing or TooManyRequests."""
        secret = _secret_of(request)
        if secret is not None:
            actor = await self._api_keys.authenticate(secret)
        elif await self._is_open(request):
            actor = _OPEN_ACTOR
        elif self._anyone_may_create and scope == LINKS_CREATE:
            self._limiter.check(self.address_of(request))
            actor = _ANYONE
        else:
            raise NotAuthenticated
        if not actor.may(scope):
            raise ScopeMissing(scope)
        if scope == LINKS_CREATE and self._pool is not None and self._pool.is_critical:
            # Codes are made on the fly, at the cost of all: no workspace shall have them alone.
            self._short_limiter.check(str(actor.workspace_id))
        return actor

    def address_of(self, request: Request) -> str:
        peer = request.client.host if request.client else ""
        forwarded = request.headers.get("x-forwarded-for")
        if forwarded and self._proxies.trusts(peer):
            return self._proxies.visitor_address(peer.encode(), forwarded.encode("latin-1")).decode()
        return peer

    async def _is_open(self, request: Request) -> bool:
        if not self._may_be_open or not _comes_from_here(request):
            return False
        return not await self._users_exist()

    async def _users_exist(self) -> bool:
        """Once there is a user there is one for ever, and open mode is over."""
        if not self._has_users and clock.monotonic() >= self._users_known_until:
            self._has_users = await self._workspaces.has_users()
            self._users_known_until = clock.monotonic() + _REMEMBER_USERS_SECONDS
        return self._has_users


def _secret_of(request: Request) -> str | None:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise NotAuthenticated
        return secret.strip()
    return request.headers.get("x-api-key")


def _comes_from_here(request: Request) -> bool:
    host = request.headers.get("host", "").lower()
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in _LOCAL_NAMES and not any(_is_from_proxy(header) for header in request.headers)


def _is_from_proxy(header: str) -> bool:
    return header in _PROXY_HEADERS or header.startswith(_PROXY_PREFIX)
