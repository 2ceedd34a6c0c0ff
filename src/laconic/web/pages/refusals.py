"""What a visitor sees who is not sent on: a small page, or a problem document.

These are answered under attack, too: what can be is made once, and a code is put between two halves.
"""

import json
from functools import cache, lru_cache
from http import HTTPStatus

from markupsafe import escape
from starlette.responses import Response

from laconic.codes.rules import POSSIBLE_CODE
from laconic.redirect.endpoint import Headers, Refusal
from laconic.web.api.problems import JSON_PROBLEM, SECURITY_HEADERS
from laconic.web.pages.templates import HTML, PAGE_HEADERS, render

_WORDS = {
    # reason: (stable code, title, what it means)
    "malformed": (
        "code_malformed",
        "This is not a short link",
        "A short link has only letters, digits, - and _.",
    ),
    "unknown": ("link_unknown", "There is no such link", "Nobody has made a link with this address."),
    "expired": (
        "link_expired",
        "This link has expired",
        "It worked for a limited time, and that time is over.",
    ),
    "deleted": ("link_deleted", "This link was deleted", "Whoever made it has taken it away."),
    "disabled": ("link_disabled", "This link is switched off", "Whoever made it has switched it off."),
    "taken_down": (
        "link_taken_down",
        "This link was taken down",
        "The operator of this site has removed it.",
    ),
    "blocked": (
        "link_blocked",
        "This link is blocked",
        "The operator of this site sends nobody where it leads.",
    ),
    "method": ("method_not_allowed", "Links are followed with GET", "Only GET and HEAD are answered here."),
    "unavailable": ("unavailable", "Please try again", "The link cannot be looked up at this moment."),
}
# What a visitor may do about it.
_ASK_ANEW = "Ask whoever gave it to you for one that works."
_ADVICE = {
    "malformed": "Compare it with the one that you were given.",
    "unknown": "Compare it, letter by letter, with the one that you were given: a and A are different here.",
    "expired": _ASK_ANEW,
    "deleted": _ASK_ANEW,
    "disabled": _ASK_ANEW,
    "unavailable": "It is not lost: it works again in a moment.",
}
_STRAY = "".join(chr(number) for number in range(128) if not POSSIBLE_CODE.fullmatch(chr(number)))
# What a text program puts around or behind a link: quotation marks, ellipsis, dashes, CJK full stops and brackets.
_STRAY += "‘’‚“”„«»‹›…–—、。，．）］】」』›\u00a0\u200b\ufeff\ufffd"

_PLACEHOLDER = "PUT-THE-CODE-HERE"


def show_refusal(refusal: Refusal, wants_html: bool) -> tuple[Headers, bytes]:
    """Headers and body, by what the visitor can read."""
    if not wants_html:
        return _JSON_HEADERS, _document(refusal.reason, refusal.status, refusal.note)
    if refusal.note is not None:
        return _PAGE_HEADERS, _page(refusal, None)
    suggestion = suggest(refusal.code)
    if suggestion is not None:
        return _PAGE_HEADERS, _page(refusal, suggestion)
    before, after = _halves(refusal.reason, refusal.status)
    return _PAGE_HEADERS, before + escape(refusal.code).encode("utf-8", "replace") + after


def refusal_response(refusal: Refusal, wants_html: bool) -> Response:
    """The same for a page of the framework."""
    headers, body = show_refusal(refusal, wants_html)
    response = Response(body, refusal.status, {"cache-control": "no-store"})
    for name, value in headers:
        response.headers[name.decode()] = value.decode()
    return response


def suggest(code: str) -> str | None:
    """The code that was meant, when punctuation was copied along with it: `abc123).` means `abc123`."""
    bare = code.strip(_STRAY)
    return bare if bare != code and POSSIBLE_CODE.fullmatch(bare) else None


def _page(refusal: Refusal, suggestion: str | None) -> bytes:
    _, title, detail = _WORDS[refusal.reason]
    return render(
        "refusal.html",
        status=refusal.status,
        title=title,
        detail=detail,
        code=refusal.code,
        suggestion=suggestion,
        note=refusal.note,
        advice=_ADVICE.get(refusal.reason),
    )


@cache
def _halves(reason: str, status: int) -> tuple[bytes, bytes]:
    before, _, after = _page(Refusal(status, reason, _PLACEHOLDER), None).partition(_PLACEHOLDER.encode())
    return before, after


@lru_cache(1_000)
def _document(reason: str, status: int, note: str | None) -> bytes:
    code, title, detail = _WORDS[reason]
    document = {
        "type": f"urn:laconic:problem:{code}",
        "title": title,
        "status": int(HTTPStatus(status)),
        "detail": detail,
        "code": code,
    }
    if note is not None:
        document["reason"] = note
    return json.dumps(document).encode()


def _as_headers(headers: dict[str, str], media_type: str) -> Headers:
    """Without cache-control, which whoever answers the refusal adds."""
    told = {**headers, "content-type": media_type, "vary": "accept", "x-robots-tag": "noindex"}
    told.pop("cache-control", None)
    return [(name.encode(), value.encode()) for name, value in told.items()]


_JSON_HEADERS = _as_headers(SECURITY_HEADERS, JSON_PROBLEM)
_PAGE_HEADERS = _as_headers(PAGE_HEADERS, HTML)
