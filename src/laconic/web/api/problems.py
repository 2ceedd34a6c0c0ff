"""THE table: which error is which HTTP status, and what a problem document looks like (RFC 9457)."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from laconic import errors
from laconic.errors import LaconicError
from laconic.logs import REQUEST_ID

_OURS = 500
JSON_PROBLEM = "application/problem+json"
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of error is told. `code` is stable: programs may rely on it."""

    status: int
    code: str
    title: str


PROBLEMS: dict[type[LaconicError], Kind] = {
    errors.TargetRefused: Kind(400, "url_refused", "The URL cannot be a link's target"),
    errors.TargetTooLong: Kind(413, "url_too_long", "The URL is too long"),
    errors.CodeRefused: Kind(422, "code_refused", "The custom code is not allowed"),
    errors.CodeTaken: Kind(409, "code_taken", "The custom code is taken"),
    errors.ChoiceRefused: Kind(422, "invalid_request", "A field has a value that is not allowed"),
    errors.LinkUnknown: Kind(404, "link_unknown", "There is no such link"),
    errors.LinkGone: Kind(410, "link_deleted", "The link was deleted"),
    errors.DomainUnknown: Kind(404, "domain_unknown", "There is no such domain"),
    errors.DomainTaken: Kind(409, "domain_taken", "The domain is another workspace's"),
    errors.DomainNotProved: Kind(409, "domain_not_proved", "The domain is not proved yet"),
    errors.DomainInUse: Kind(409, "domain_in_use", "Links live on the domain"),
    errors.CannotFetch: Kind(422, "cannot_fetch", "This cannot be fetched"),
    errors.EntryUnknown: Kind(404, "entry_unknown", "There is no such entry"),
    errors.IdempotencyKeyReused: Kind(422, "idempotency_key_reused", "The Idempotency-Key was used before"),
    errors.RecordUnknown: Kind(404, "record_unknown", "There is no such record"),
    errors.NameTaken: Kind(409, "name_taken", "The name is taken"),
    errors.LastAdmin: Kind(409, "last_admin", "A workspace keeps at least one admin"),
    errors.InvitationOver: Kind(410, "invitation_over", "The invitation is over"),
    errors.SignInFailed: Kind(401, "sign_in_failed", "The sign-in failed"),
    errors.WorkspaceNeeded: Kind(409, "workspace_needed", "Which workspace?"),
    errors.NotAuthenticated: Kind(401, "not_authenticated", "Credentials are needed"),
    errors.ScopeMissing: Kind(403, "scope_missing", "The credentials do not allow this"),
    errors.CleanupRunning: Kind(409, "cleanup_running", "A cleanup is under way"),
    errors.TooManyRequests: Kind(429, "too_many_requests", "Too many requests"),
    errors.OutcomeUnknown: Kind(503, "outcome_unknown", "It is not known whether the change was made"),
    errors.SharedAway: Kind(503, "unavailable", "The service is not available now"),
    errors.LeaseLost: Kind(503, "unavailable", "The service is not available now"),
    errors.Unavailable: Kind(503, "unavailable", "The service is not available now"),
    errors.Conflict: Kind(503, "unavailable", "The service is not available now"),
}

# Problems that the web itself finds, before any verb is called.
NOT_JSON = Kind(400, "invalid_json", "The body is not valid JSON")
WRONG_SHAPE = Kind(422, "invalid_request", "The request has the wrong shape")
WRONG_TYPE = Kind(415, "unsupported_media_type", "The content type is not supported")
TOO_LARGE = Kind(413, "body_too_large", "The body is too large")
NO_SUCH_PAGE = Kind(404, "not_found", "There is nothing here")
WRONG_METHOD = Kind(405, "method_not_allowed", "The method is not allowed here")
MALFORMED_CODE = Kind(400, "code_malformed", "This cannot be a code")
FORM_EXPIRED = Kind(403, "form_expired", "The form has expired")
INTERNAL = Kind(500, "internal", "Something went wrong here")


class Problem(LaconicError):
    """A problem that the web itself has found."""

    def __init__(self, kind: Kind, detail: str, errors: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(detail)
        self.kind = kind
        self.errors = list(errors)


def kind_of(error: LaconicError) -> Kind:
    if isinstance(error, Problem):
        return error.kind
    for cls in type(error).__mro__:
        if cls in PROBLEMS:
            return PROBLEMS[cls]
    return INTERNAL


def document_of(error: LaconicError) -> dict[str, Any]:
    """The problem document of an error."""
    kind = kind_of(error)
    document: dict[str, Any] = {
        "type": f"urn:laconic:problem:{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": str(error),
        "code": kind.code,
    }
    if isinstance(error, errors.TargetRefused | errors.CodeRefused | errors.CannotFetch):
        document["reason"] = error.reason
    if kind.status >= _OURS and (request_id := REQUEST_ID.get()):
        # For whoever asks the operator what happened.
        document["request_id"] = request_id
    listed = _field_errors(error)
    if listed:
        document["errors"] = listed
    return document


def document_line(error: LaconicError, **before: Any) -> bytes:
    """The same as a line of NDJSON."""
    document = {**before, **document_of(error)}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _field_errors(error: LaconicError) -> list[Mapping[str, str]]:
    if isinstance(error, Problem):
        return error.errors
    if isinstance(error, errors.ChoiceRefused):
        return [{"field": error.field, "detail": str(error)}]
    if isinstance(error, errors.CodeRefused):
        return [{"field": "custom_code", "detail": str(error)}]
    return []


def response_to(error: LaconicError) -> Response:
    document = document_of(error)
    headers = dict(SECURITY_HEADERS)
    headers["cache-control"] = "no-store"
    if document["status"] == 401:
        headers["www-authenticate"] = 'Bearer realm="laconic"'
    if isinstance(error, errors.TooManyRequests):
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    elif document["status"] == 503:
        headers["retry-after"] = "1"
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, document["status"], headers, media_type=JSON_PROBLEM)
