"""An error in answer to a person: a page. In answer to a program: its problem document."""

import math
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from laconic.errors import LaconicError, NotAuthenticated, TooManyRequests
from laconic.web.api.problems import kind_of, response_to
from laconic.web.pages.dashboard.navigation import HOME, SIGN_IN
from laconic.web.pages.templates import HTML, PAGE_HEADERS, render, wants_html

# First path segments that speak JSON whatever the caller would like best.
_FOR_PROGRAMS = frozenset({"api", "health", "live", "metrics", "openapi.json", "ready", "shorten", "stats"})


def answer_to(request: Request, error: LaconicError) -> Response:
    response = response_to(error)
    if request.url.path[1:].partition("/")[0] in _FOR_PROGRAMS or not wants_html(request):
        return response
    if isinstance(error, NotAuthenticated) and request.url.path.startswith(HOME):
        return _to_sign_in(request)
    kind = kind_of(error)
    body = render(
        "refusal.html",
        status=kind.status,
        title=kind.title,
        detail=_words(error),
        code=None,
        suggestion=None,
        note=None,
        advice=None,
    )
    page = Response(body, kind.status, PAGE_HEADERS, media_type=HTML)
    if "retry-after" in response.headers:
        page.headers["retry-after"] = response.headers["retry-after"]
    return page


def _words(error: LaconicError) -> str:
    if not isinstance(error, TooManyRequests):
        return str(error)
    seconds = max(1, math.ceil(error.retry_after))
    return f"That was a little fast. Please try again in {seconds} second{'s' if seconds > 1 else ''}."


def _to_sign_in(request: Request) -> Response:
    """A page to sign in, which leads back to this one; a form that was sent is not sent again."""
    path = request.url.path
    if request.method not in ("GET", "HEAD") or path == HOME:
        return RedirectResponse(SIGN_IN, 303, headers={"cache-control": "no-store"})
    back = path + (f"?{request.url.query}" if request.url.query else "")
    where = f"{SIGN_IN}?next={quote(back, safe='/')}"
    return RedirectResponse(where, 303, headers={"cache-control": "no-store"})
