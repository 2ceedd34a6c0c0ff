"""workspace create, list, edit, delete."""

from tests.cli.conftest import Laconic


def test_a_workspace_is_made_with_a_way_in(laconic: Laconic) -> None:
    """The link alone on standard output; a slug is given once, and has its rules."""
    made = laconic("workspace", "create", "acme", "--name", "Acme Ltd")
    assert made.line().startswith("http://localhost:8000/dashboard/invitation/")
    assert "works once" in made.err
    for slug, code in (("acme", "name_taken"), ("-no-", "invalid_request"), ("api", "invalid_request")):
        refused = laconic("workspace", "create", "--json", "--", slug)
        assert (refused.status, refused.problem()["code"]) == (1, code)
    listed = laconic("workspace", "list", "--json").json()["items"]
    assert [(one["slug"], one["name"]) for one in listed] == [("default", "Default"), ("acme", "Acme Ltd")]


def test_choices_are_made_and_taken_back(laconic: Laconic) -> None:
    """What is not named stays, and --reset takes all of it back."""
    laconic("workspace", "create", "acme")
    laconic("workspace", "edit", "acme", "--deterministic", "--redirect-status", "301")
    edited = laconic("workspace", "edit", "acme", "--expires-in-hours", "24", "--json").json()["settings"]
    assert (edited["deterministic"], edited["redirect_status"], edited["expires_in_hours"]) == (True, 301, 24)
    chosen = laconic("workspace", "list").out.splitlines()[1].split("\t")[2]
    assert chosen == "deterministic=True redirect_status=301 expires_in_hours=24"
    assert laconic("workspace", "edit", "acme", "--reset").line() == "acme: as the installation has it"
    assert laconic("workspace", "edit", "nowhere", "--reset", "--json").problem()["code"] == "record_unknown"


def test_a_workspace_is_deleted_with_its_links(laconic: Laconic) -> None:
    """After a question, unless --yes; the default one stays, and no slug is given twice."""
    laconic("workspace", "create", "acme")
    assert laconic("workspace", "delete", "acme").status != 0
    assert laconic("workspace", "delete", "acme", "--yes", "--json").json() == {"deleted": "acme", "links": 0}
    assert laconic("workspace", "delete", "default", "--yes").status == 1
    assert laconic("workspace", "create", "acme", "--json").problem()["code"] == "name_taken"
    assert [one["slug"] for one in laconic("workspace", "list", "--json").json()["items"]] == ["default"]
