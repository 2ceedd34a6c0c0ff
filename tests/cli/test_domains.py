"""domain add, list, verify, edit, remove, end, and --domain on the commands of links."""

from laconic.cli.documents import domain_document
from laconic.web.api.domains import domain_json
from laconic.workspaces.domains.model import Domain
from tests.cli.conftest import Laconic

HOST = "go.brand.example"
URL = "https://example.com/"


def test_a_claim_prints_what_proves_it(laconic: Laconic) -> None:
    """For people as lines, for programs as the API shows it."""
    result = laconic("domain", "add", HOST)
    assert result.status == 0
    assert f"_laconic.{HOST} TXT laconic-verify=" in result.out
    assert f"http://{HOST}/.well-known/laconic-verify.txt" in result.out
    assert f"laconic domain verify {HOST}" in result.out
    refused = laconic("domain", "add", HOST, "--json")
    assert (refused.status, refused.problem()["code"]) == (1, "invalid_request")
    shown = laconic("domain", "list", "--json").json()["items"]
    assert [(one["host"], one["verified_at"] is not None) for one in shown] == [
        ("localhost", True),
        (HOST, False),
    ]


def test_the_operator_vouches(laconic: Laconic) -> None:
    """At once or later; then links can live there."""
    assert laconic("domain", "add", HOST, "--trusted").line() == f"{HOST} is served."
    laconic("domain", "add", "other.example")
    assert laconic("domain", "verify", "other.example", "--trusted", "--json").json()["proof"] is None
    unknown = laconic("domain", "verify", "unknown.example", "--json")
    assert (unknown.status, unknown.problem()["code"]) == (1, "domain_unknown")


def test_links_live_on_a_domain(laconic: Laconic) -> None:
    """By --domain, by the short URL, and by default where the workspace says so."""
    laconic("domain", "add", HOST, "--trusted")
    branded = laconic("shorten", URL, "--code", "sale24", "--domain", HOST).line()
    assert branded == f"http://{HOST}:8000/sale24"
    assert (
        laconic("shorten", "https://example.org/", "--code", "sale24").line()
        == "http://localhost:8000/sale24"
    )
    assert laconic("expand", branded).line() == URL
    assert laconic("expand", "sale24", "--domain", HOST).line() == URL
    assert laconic("expand", "sale24").line() == "https://example.org/"
    listed = laconic("list", "--domain", HOST, "--json").json()["items"]
    assert [one["short_url"] for one in listed] == [branded]
    assert len(laconic("list", "--json").json()["items"]) == 2
    edited = laconic("edit", "sale24", "--domain", HOST, "--title", "Sale", "--json").json()
    assert (edited["short_url"], edited["title"]) == (branded, "Sale")
    assert laconic("domain", "edit", HOST, "--default", "--json").json()["is_default"] is True
    assert laconic("shorten", URL).line().startswith(f"http://{HOST}:8000/")
    assert laconic("expand", "sale24").line() == URL
    assert laconic("delete", branded).line() == "Deleted sale24."
    refused = laconic("shorten", URL, "--domain", "unknown.example", "--json")
    assert (refused.status, refused.problem()["code"]) == (1, "invalid_request")


def test_targets_are_set_and_taken_away(laconic: Laconic) -> None:
    """An empty text takes one away; nothing to change is a mistake."""
    laconic("domain", "add", HOST, "--trusted", "--root", "https://example.com/home")
    edited = laconic("domain", "edit", HOST, "--root", "", "--not-found", "https://example.com/404", "--json")
    assert (edited.json()["root_target"], edited.json()["not_found_target"]) == (
        None,
        "https://example.com/404",
    )
    assert laconic("domain", "edit", HOST).status == 2
    assert HOST in laconic("domain", "list").out


def test_a_domain_is_given_up(laconic: Laconic) -> None:
    """Not while links live there."""
    laconic("domain", "add", HOST, "--trusted")
    laconic("shorten", URL, "--code", "sale24", "--domain", HOST)
    refused = laconic("domain", "remove", HOST, "--json")
    assert (refused.status, refused.problem()["code"]) == (1, "domain_in_use")
    laconic("delete", "sale24", "--domain", HOST)
    assert laconic("domain", "remove", HOST, "--json").json() == {"removed": HOST}


def test_the_operator_ends_a_domain_with_its_links(laconic: Laconic) -> None:
    """After a question, unless --yes; then it is nobody's, and whoever proves it has it."""
    laconic("domain", "add", HOST, "--trusted")
    laconic("shorten", URL, "--code", "sale24", "--domain", HOST)
    assert laconic("domain", "end", HOST).status != 0
    assert laconic("expand", "sale24", "--domain", HOST).line() == URL
    assert laconic("domain", "end", HOST.upper(), "--yes", "--json").json() == {"ended": HOST}
    assert HOST not in laconic("domain", "list").out
    again = laconic("domain", "end", HOST, "--yes", "--json")
    assert (again.status, again.problem()["code"]) == (1, "domain_unknown")
    assert laconic("domain", "add", HOST, "--trusted").line() == f"{HOST} is served."
    shared = laconic("domain", "end", "localhost", "--yes", "--json")
    assert (shared.status, shared.problem()["code"]) == (1, "domain_unknown")


def test_json_is_what_the_api_answers() -> None:
    """The shapes stand twice in the code; they must not drift apart."""
    for verified_at in (None, 1_700_000_000_000_000):
        domain = Domain(7, 1, HOST, True, verified_at, URL, None, 1, "abc", False, False)
        assert domain_document(domain, 7) == domain_json(domain, 7)
