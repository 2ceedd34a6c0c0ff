"""Domains, settings and the audit trail: what the pages do."""

import re
from pathlib import Path

import pytest

import laconic
from laconic.web.api.domains import PROOFS
from laconic.web.pages.dashboard.audit import ACTION_WORDS
from laconic.workspaces.domains.model import Domain, DomainDraft
from laconic.workspaces.model import WorkspaceSettings, command_actor
from tests.web.pages.dashboard.office import Office

DOMAINS = "/dashboard/domains"
SETTINGS = "/dashboard/settings"
AUDIT = "/dashboard/audit"


async def test_a_domain_is_proved_step_by_step(office: Office) -> None:
    """Added, it says what to publish; checked too early, what was found instead; vouched for, it serves links."""
    page = await office.admin.follow(DOMAINS, host="Go.Example.COM")
    claim = await office.api.services.domains.get(1, "go.example.com")
    for told in ("_laconic.go.example.com", claim.proof_text, "laconic-verify.txt", "Check now"):
        assert told in page
    assert "vouch" not in page
    assert (await office.admin.send(f"{DOMAINS}/go.example.com/verify", trusted="yes")).status_code == 403
    assert (await office.admin.send(f"{DOMAINS}/go.example.com/default", is_default="yes")).status_code == 422
    await office.api.services.domains.trust(command_actor(1), "go.example.com")
    assert "serves links" in await office.viewer.open(f"{DOMAINS}/go.example.com")
    assert "New links go to go.example.com" in await office.admin.follow(
        f"{DOMAINS}/go.example.com/default", is_default="yes"
    )
    assert "new links go here" in await office.viewer.open(DOMAINS)


class NoProof:
    """Name servers that have never heard of us."""

    async def by_dns(self, domain: Domain) -> str:
        return f"_laconic.{domain.host} has no TXT record."


async def test_a_check_says_what_was_found_instead(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """409 on the domain's own page; so many looks a workspace, for they make this server ask others."""
    monkeypatch.setattr(office.api.services.domains, "_open_proofs", NoProof)
    one = f"{DOMAINS}/{(await _add(office)).host}"
    for _ in range(PROOFS.burst):
        refused = await office.admin.send(f"{one}/verify", method="dns")
        assert refused.status_code == 409
        assert "_laconic.go.example.com has no TXT record." in refused.text
    assert (await office.admin.send(f"{one}/verify", method="dns")).status_code == 429


async def test_a_domain_gets_its_targets_and_is_given_up(office: Office) -> None:
    """A target that may not be one comes back with the form; an empty one takes it away."""
    await office.api.services.domains.trust(command_actor(1), (await _add(office)).host)
    one = f"{DOMAINS}/go.example.com"
    refused = await office.admin.send(one, root_target="javascript:alert(1)")
    assert refused.status_code == 400
    assert 'value="javascript:alert(1)"' in refused.text
    await office.admin.follow(one, root_target="https://example.com/", not_found_target="")
    assert (await office.api.services.domains.get(1, "go.example.com")).root_target == "https://example.com/"
    assert "given up" in await office.admin.follow(f"{one}/remove")
    assert (await office.admin.client.get(one)).status_code == 404


async def _add(office: Office) -> Domain:
    return await office.api.services.domains.add(command_actor(1), DomainDraft("go.example.com"))


CHOSEN = {
    "redirect_status": "307",
    "expires_in_hours": "24",
    "deterministic": "yes",
    "privacy": "none",
    "click_retention_days": "30",
}


async def test_settings_are_saved_and_taken_back(office: Office) -> None:
    """What is chosen is there for new links and clicks; an empty field is as the installation has it."""
    page = await office.admin.follow(SETTINGS, name="Renamed", **CHOSEN)
    assert 'value="Renamed"' in page
    for shown in ('<option value="307" selected>', '<option value="none" selected>', "In effect: 30 days."):
        assert shown in page, shown
    settings = (await office.api.services.tenants.get(1)).settings
    assert settings == WorkspaceSettings(True, 307, 24, 30, "none")
    await office.admin.follow(SETTINGS, name="Renamed", **dict.fromkeys(CHOSEN, ""))
    assert (await office.api.services.tenants.get(1)).settings == WorkspaceSettings()


async def test_settings_tell_what_the_installation_keeps(office: Office) -> None:
    """A workspace that asks for more than the installation keeps sees on the page what holds."""
    page = await office.admin.follow(SETTINGS, name="N", privacy="full", click_retention_days="3650")
    assert '<option value="full" selected>' in page
    assert "In effect: the network, not the address." in page
    assert "In effect: 396 days." in page


async def test_settings_that_make_no_sense_are_refused(office: Office) -> None:
    """Each with a sentence at its field and what was typed, and nothing is saved."""
    for field, value in (
        ("redirect_status", "200"),
        ("redirect_status", "9999999999"),
        ("expires_in_hours", "0"),
        ("expires_in_hours", "8761"),
        ("expires_in_hours", "soon"),
        ("click_retention_days", "0"),
        ("click_retention_days", "3651"),
        ("click_retention_days", "1.5"),
        ("privacy", "some"),
        ("name", " "),
    ):
        refused = await office.admin.send(SETTINGS, **{"name": "New", **CHOSEN, field: value})
        assert refused.status_code == 422, value
        assert re.search(rf'id="{field}"[^>]* aria-invalid="true"', refused.text), field
        assert re.search(rf'id="{field}-error"[^>]*>[^<]+<', refused.text), field
    workspace = await office.api.services.tenants.get(1)
    assert (workspace.name != "New", workspace.settings) == (True, WorkspaceSettings())


async def test_a_workspace_is_deleted_by_its_slug_only(office: Office) -> None:
    """Typed wrongly, nothing happens; typed right, nobody is signed in any more. The default one cannot go."""
    neighbour = office.neighbour
    assert (await neighbour.send(f"{SETTINGS}/delete", slug="acm")).status_code == 422
    gone = await neighbour.send(f"{SETTINGS}/delete", slug="acme")
    assert (gone.status_code, gone.headers["location"]) == (303, "/dashboard/sign-in")
    assert (await neighbour.client.get(SETTINGS)).status_code == 303
    assert (await office.admin.send(f"{SETTINGS}/delete", slug="default")).status_code == 422


async def test_the_audit_trail_is_filtered_and_paged(every_office: Office) -> None:
    """By what, by whom and by day; fifty a page, and the export asks the same question."""
    office = every_office
    services = office.api.services
    for number in range(60):
        await services.people.invitations.invite(command_actor(1), 1, "viewer", f"p{number}@example.com")
    first = await office.admin.open(AUDIT + "?action=invitation.create")
    assert first.count("made an invitation") == 50
    after = re.search(r'href="([^"]*cursor=[^"]*)"', first)
    assert after
    second = await office.admin.open(after[1].replace("&amp;", "&"))
    assert second.count("made an invitation") == 10
    assert "p0@example.com" in second
    nothing = await office.admin.open(f"{AUDIT}?until=2020-01-01")
    assert "Nothing that fits" in nothing
    mine = await office.admin.open(f"{AUDIT}?actor={office.admin.user.id}")
    assert "made an invitation" not in mine
    asked = f"{AUDIT}?action=invitation.create&since=2020-01-01&until=2999-12-31"
    export = re.search(r'href="(/api/v1/audit/export\?format=csv[^"]*)"', await office.admin.open(asked))
    assert export
    answer = await office.admin.client.get(export[1].replace("&amp;", "&"))
    assert answer.text.count("invitation.create") == 60


async def test_a_filter_that_makes_no_sense_is_left_out(office: Office) -> None:
    """What a script kiddie puts into the address changes no page's status."""
    for asked in ("action=%00", "actor=abc", "since=2020-13-45", "until=9999-12-31", "actor=" + "9" * 40):
        assert (await office.admin.client.get(f"{AUDIT}?{asked}")).status_code == 200, asked
    assert (await office.admin.client.get(f"{AUDIT}?cursor=abc")).status_code == 422


def test_every_action_has_words() -> None:
    """What is written down somewhere in the source can be read and asked for here."""
    source = Path(laconic.__file__).parent
    kinds = "link|api_key|user|invitation|session|workspace|domain"
    written = {
        action
        for file in source.rglob("*.py")
        if "pages" not in file.parts
        for action in re.findall(rf'"((?:{kinds})\.[a-z_]+)"', file.read_text())
    }
    assert written
    assert written <= ACTION_WORDS.keys()
