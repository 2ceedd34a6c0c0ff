"""THE table: every error that can reach a caller has a status and a stable code."""

import inspect
import json

import pytest

from laconic import errors
from laconic.errors import CannotStart, LaconicError
from laconic.web.api import problems
from laconic.web.api.problems import INTERNAL, PROBLEMS, Kind, Problem, document_of, kind_of, response_to

LEAVES = [
    cls
    for _, cls in inspect.getmembers(errors, inspect.isclass)
    if issubclass(cls, LaconicError) and not cls.__subclasses__() and cls.__module__ == errors.__name__
]
EXAMPLES: list[tuple[LaconicError, int, str]] = [
    (errors.TargetRefused("scheme", "no"), 400, "url_refused"),
    (errors.TargetTooLong(2049, 2048), 413, "url_too_long"),
    (errors.CodeRefused("shape", "no"), 422, "code_refused"),
    (errors.CodeTaken("abc"), 409, "code_taken"),
    (errors.ChoiceRefused("title", "no"), 422, "invalid_request"),
    (errors.LinkUnknown("abc"), 404, "link_unknown"),
    (errors.LinkGone("abc"), 410, "link_deleted"),
    (errors.IdempotencyKeyReused(), 422, "idempotency_key_reused"),
    (errors.NotAuthenticated(), 401, "not_authenticated"),
    (errors.ScopeMissing("admin"), 403, "scope_missing"),
    (errors.TooManyRequests(2.1), 429, "too_many_requests"),
    (errors.OutcomeUnknown("?"), 503, "outcome_unknown"),
    (errors.LeaseLost("reaper"), 503, "unavailable"),
    (errors.Unavailable("away"), 503, "unavailable"),
    (errors.Conflict("x"), 503, "unavailable"),
    (Problem(problems.NOT_JSON, "no"), 400, "invalid_json"),
    (Problem(problems.WRONG_TYPE, "no"), 415, "unsupported_media_type"),
]


@pytest.mark.parametrize("leaf", [leaf for leaf in LEAVES if not issubclass(leaf, CannotStart)])
def test_every_leaf_has_a_row(leaf: type[LaconicError]) -> None:
    """An error without a row would be told as our fault."""
    assert leaf in PROBLEMS


@pytest.mark.parametrize("leaf", [leaf for leaf in LEAVES if issubclass(leaf, CannotStart)])
def test_what_stops_a_start_has_none(leaf: type[LaconicError]) -> None:
    """It is for the operator's eyes; a caller who met it would learn only that it was not their fault."""
    assert leaf not in PROBLEMS
    assert kind_of(leaf("the path of a secret file")) is INTERNAL


def test_every_row_is_an_error_that_exists() -> None:
    """With the statuses of the contract only, and one title and status for each code."""
    told: dict[str, Kind] = {}
    for cls, kind in PROBLEMS.items():
        assert getattr(errors, cls.__name__) is cls
        assert kind.status in (400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503)
        assert told.setdefault(kind.code, kind) == kind


@pytest.mark.parametrize(("error", "status", "code"), EXAMPLES)
def test_document_is_rfc_9457(error: LaconicError, status: int, code: str) -> None:
    """type, title, status, detail and code, as application/problem+json, kept by nobody."""
    response = response_to(error)
    document = json.loads(bytes(response.body))
    assert (response.status_code, document["status"], document["code"]) == (status, status, code)
    assert document["type"] == f"urn:laconic:problem:{code}"
    assert document["title"]
    assert document["detail"] == str(error)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("error", "status", "code"), EXAMPLES)
def test_says_when_to_come_again(error: LaconicError, status: int, code: str) -> None:
    """429 and 503 carry Retry-After in whole seconds, nothing else does."""
    headers = response_to(error).headers
    assert ("retry-after" in headers) == (status in (429, 503))
    if status == 429:
        assert headers["retry-after"] == "3"
    assert ("www-authenticate" in headers) == (status == 401)


def test_names_fields_and_reasons() -> None:
    """`errors` for each field on 422, `reason` for what was refused by a rule."""
    assert document_of(errors.ChoiceRefused("title", "too long"))["errors"] == [
        {"field": "title", "detail": "too long"}
    ]
    refused = document_of(errors.CodeRefused("reserved", "no"))
    assert (refused["reason"], refused["errors"][0]["field"]) == ("reserved", "custom_code")
    assert document_of(errors.TargetRefused("scheme", "no"))["reason"] == "scheme"


def test_text_that_is_no_text_does_not_break_the_answer() -> None:
    """A detail may quote what a caller sent, half of a surrogate pair included."""
    response = response_to(errors.CodeTaken("\ud800"))
    assert json.loads(bytes(response.body))["code"] == "code_taken"
