"""The cookies of people: which session, and the mark of a browser that has signed in before."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

_DEVICE_SECONDS = 365 * 86_400


class SessionCookie:
    """HttpOnly, SameSite=Lax, and Secure with the __Host- prefix wherever the site is served over TLS."""

    def __init__(self, base_url: str) -> None:
        self._is_https = urlsplit(base_url).scheme == "https"
        # With this prefix a browser takes the cookie from this very host over TLS only (RFC 6265bis, 4.1.3.2).
        prefix = "__Host-" if self._is_https else ""
        self.name = f"{prefix}laconic_session"
        self._device = f"{prefix}laconic_device"

    def token(self, request: Request) -> str | None:
        # Most requests of programs have no cookie at all; parsing is for those that do.
        if "cookie" not in request.headers:
            return None
        return request.cookies.get(self.name) or None

    def device(self, request: Request) -> str | None:
        return request.cookies.get(self._device)

    def keep(self, response: Response, token: str) -> None:
        """Until the browser is closed, or the session ends on the server."""
        self._set(response, self.name, token, None)

    def keep_device(self, response: Response, mark: str) -> None:
        self._set(response, self._device, mark, _DEVICE_SECONDS)

    def clear(self, response: Response) -> None:
        response.delete_cookie(self.name, path="/", secure=self._is_https, httponly=True, samesite="lax")

    def _set(self, response: Response, name: str, value: str, seconds: int | None) -> None:
        response.set_cookie(
            *(name, value, seconds), path="/", secure=self._is_https, httponly=True, samesite="lax"
        )
