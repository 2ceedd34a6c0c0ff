"""P10 for domains and the operator's side: no input makes a 5xx, whatever is sent where."""

import json
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.web.api import problems
from tests.flows.talk import JSON, make_code

KINDS = (*problems.PROBLEMS.values(), *vars(problems).values())
CODES = {kind.code for kind in KINDS if isinstance(kind, problems.Kind)} - {"internal"}
fuzz = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["\0", "a\0b", "..", ".", "*", "*.", "xn--", "xn--a", "ß.example", "1.2.3.4", "[::1]", "::1"]
    ),
    st.sampled_from(["fuzz.example", "FUZZ.example.", "%", "%00", "a" * 300, "a." * 200, "localhost", "-.-"]),
)
values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts, st.lists(texts, max_size=2))
FIELDS = ["host", "trusted", "root_target", "not_found_target", "is_default", "method", "reason"]
FIELDS += ["includes_subdomains", "contact", "message"]
bodies = st.one_of(
    values, st.dictionaries(st.sampled_from(FIELDS), values, max_size=4), texts.map(lambda t: {"host": t})
)

# What a client library lets through in a header.
visible_bytes = st.lists(st.sampled_from([*range(0x21, 0x7F), *range(0x80, 0x100)]), max_size=40).map(bytes)

ROUTES = [
    ("POST", "/api/v1/domains"),
    ("GET", "/api/v1/domains/{}"),
    ("PATCH", "/api/v1/domains/{}"),
    ("DELETE", "/api/v1/domains/{}"),
    ("POST", "/api/admin/links/{}/takedown"),
    ("DELETE", "/api/admin/links/{}/takedown"),
    ("GET", "/api/admin/takedowns"),
    ("POST", "/api/admin/blocked-hosts"),
    ("GET", "/api/admin/blocked-hosts"),
    ("DELETE", "/api/admin/blocked-hosts/{}"),
    ("GET", "/api/admin/reports"),
    ("POST", "/api/admin/reports/{}/dismiss"),
]


def _check(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["code"] in CODES, answer.text


def _body(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(("method", "path"), ROUTES)
@fuzz
@given(
    name=texts,
    value=bodies,
    parameters=st.dictionaries(st.sampled_from(["cursor", "domain", "state"]), texts),
)
def test_p10_nothing_breaks_the_routes(
    api: httpx.Client, method: str, path: str, name: str, value: Any, parameters: dict[str, str]
) -> None:
    """Any name in the path, any body, any parameter."""
    place = (
        path.format(quote(name, safe="", errors="replace")) + "?" + urlencode(parameters, errors="replace")
    )
    if isinstance(value, dict) and "trusted" in value:
        # A domain that is served would change what other flows meet.
        value = {**value, "trusted": False}
    _check(api.request(method, place, content=_body(value), headers=JSON))


@fuzz
@given(fields=st.dictionaries(st.sampled_from(["reason", "message", "contact", "token", "x"]), texts))
def test_p10_nothing_breaks_the_report_form(api: httpx.Client, fields: dict[str, str]) -> None:
    """With or without its token."""
    code = make_code(api)
    page = api.get(f"/{code}+", headers={"accept": "text/html"})
    assert page.status_code == 200
    body = urlencode(fields, errors="replace")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    _check(api.post(f"/{code}+", content=body, headers=headers))


@fuzz
@given(host=visible_bytes, path=texts)
def test_p10_nothing_breaks_the_host_header(api: httpx.Client, host: bytes, path: str) -> None:
    """Whatever it says: a domain, the shared one, or a bad request."""
    place = "/" + quote(path, safe="+", errors="replace")
    answer = api.get(place, headers=[(b"host", host)])
    assert answer.status_code < 500, answer.text
