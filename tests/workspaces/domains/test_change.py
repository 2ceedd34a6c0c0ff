"""Adding, proving, changing and giving up domains."""

import pytest

from laconic.errors import (
    ChoiceRefused,
    DomainInUse,
    DomainNotProved,
    DomainTaken,
    DomainUnknown,
    TargetRefused,
)
from laconic.links.locate import Locator
from laconic.links.store import LinkStore
from laconic.workspaces.domains.model import DomainDraft
from laconic.workspaces.model import command_actor
from tests.workspaces.domains.office import OURS, THEIRS, Office, Worker

BRAND = DomainDraft("go.brand.example")


async def _add_link(office: Office, domain_id: int, code: str = "abcd") -> None:
    await office.database.execute(
        "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, created_at, updated_at)"
        " VALUES ($1, $2, $3, $4, 'https://example.com/', $5, $5)",
        domain_id + 1000,
        OURS,
        domain_id,
        code,
        1_700_000_000_000_000,
    )


async def test_a_claim_serves_nothing_until_it_is_proved(worker: Worker) -> None:
    """Its visitors are those of an unknown host."""
    domain = await worker.domains.add(command_actor(OURS), BRAND)
    assert (domain.host, domain.verified_at, domain.workspace_id) == ("go.brand.example", None, OURS)
    assert worker.hosts.domain_of(b"go.brand.example") == 1
    assert not worker.directory.is_own("go.brand.example")


async def test_dns_proves_a_domain(office: Office, worker: Worker) -> None:
    """Only by the value that was given for it, in a record of its own name."""
    domain = await worker.domains.add(command_actor(OURS), BRAND)
    with pytest.raises(DomainNotProved, match="has no TXT record"):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "dns")
    office.names.texts["_laconic.go.brand.example"] = ["laconic-verify=0000", f"x{domain.proof_text}"]
    with pytest.raises(DomainNotProved, match="no TXT record with this value"):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "dns")
    office.names.texts["_laconic.go.brand.example"] = ["v=spf1", domain.proof_text]
    proved = await worker.domains.verify(command_actor(OURS), "Go.Brand.Example.", "any")
    assert proved.verified_at is not None
    assert worker.hosts.domain_of(b"go.brand.example") == domain.id
    # What is proved is not looked for again at once.
    office.names.texts.clear()
    assert (
        await worker.domains.verify(command_actor(OURS), "go.brand.example")
    ).verified_at == proved.verified_at


async def test_a_file_on_the_host_proves_a_domain(office: Office, worker: Worker) -> None:
    """The value is a line of its own; whatever else the file says."""
    domain = await worker.domains.add(command_actor(OURS), BRAND)
    with pytest.raises(DomainNotProved, match="answers 404"):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "http")
    office.web.say(f"not-{domain.proof_text}")
    with pytest.raises(DomainNotProved, match="does not hold the value"):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "http")
    office.web.say(f"others\n{domain.proof_text}\n")
    assert (await worker.domains.verify(command_actor(OURS), "go.brand.example")).verified_at is not None


async def test_another_host_proves_nothing(office: Office, worker: Worker) -> None:
    """A redirect to somebody else's file is not followed."""
    await worker.domains.add(command_actor(OURS), BRAND)
    office.web.answer = (
        b"HTTP/1.1 302 Found\r\nlocation: http://evil.example/proof\r\ncontent-length: 0\r\n\r\n"
    )
    with pytest.raises(DomainNotProved, match="another host"):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "http")


async def test_whoever_proves_a_domain_has_it(office: Office, worker: Worker) -> None:
    """A claim keeps nobody else from making one, and two workspaces have two values."""
    ours = await worker.domains.add(command_actor(OURS), BRAND)
    theirs = await worker.domains.add(command_actor(THEIRS), BRAND)
    assert ours.proof != theirs.proof
    office.names.texts["_laconic.go.brand.example"] = [theirs.proof_text]
    with pytest.raises(DomainNotProved):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "dns")
    await worker.domains.verify(command_actor(THEIRS), "go.brand.example", "dns")
    office.names.texts["_laconic.go.brand.example"] = [ours.proof_text]
    with pytest.raises(DomainTaken):
        await worker.domains.verify(command_actor(OURS), "go.brand.example", "dns")
    assert worker.hosts.domain_of(b"go.brand.example") == theirs.id


async def test_a_host_that_was_given_up_may_go_to_another_workspace(worker: Worker) -> None:
    """With a namespace of its own: none of the earlier owner's links is served there."""
    first = await worker.prove(OURS, "go.brand.example")
    await worker.domains.remove(command_actor(OURS), "go.brand.example")
    assert worker.hosts.domain_of(b"go.brand.example") == 1
    second = await worker.prove(THEIRS, "go.brand.example")
    assert second.id != first.id
    assert worker.hosts.domain_of(b"go.brand.example") == second.id
    with pytest.raises(DomainTaken):
        await worker.prove(OURS, "go.brand.example")


async def test_p2_the_same_workspace_gets_its_domain_back_with_its_codes(worker: Worker) -> None:
    """A code that was used there stays used."""
    first = await worker.prove(OURS, "go.brand.example")
    await worker.domains.remove(command_actor(OURS), "go.brand.example")
    again = await worker.domains.add(command_actor(OURS), BRAND)
    assert (again.id, again.verified_at, again.is_deleted) == (first.id, None, False)


async def test_a_domain_with_live_links_is_not_given_up(office: Office, worker: Worker) -> None:
    """Visitors of those links would be told that there are none (P6)."""
    domain = await worker.prove(OURS, "go.brand.example")
    await _add_link(office, domain.id)
    with pytest.raises(DomainInUse):
        await worker.domains.remove(command_actor(OURS), "go.brand.example")
    await office.database.execute("UPDATE short_link SET is_active = FALSE, gone_reason = 'disabled'")
    await worker.domains.remove(command_actor(OURS), "go.brand.example")
    with pytest.raises(DomainUnknown):
        await worker.domains.get(OURS, "go.brand.example")


async def test_p8_another_tenants_domain_is_unknown(worker: Worker) -> None:
    """To every verb, and to whoever wants to make or find links there."""
    await worker.prove(THEIRS, "go.brand.example")
    for attempt in (
        worker.domains.get(OURS, "go.brand.example"),
        worker.domains.verify(command_actor(OURS), "go.brand.example"),
        worker.domains.trust(command_actor(OURS), "go.brand.example"),
        worker.change(OURS, "go.brand.example", is_default=True),
        worker.domains.remove(command_actor(OURS), "go.brand.example"),
    ):
        with pytest.raises(DomainUnknown):
            await attempt
    assert [one.host for one in await worker.domains.list_all(OURS)] == ["sho.rt"]
    assert worker.directory.find(OURS, "go.brand.example") is None


async def test_a_workspace_has_one_default_domain(worker: Worker) -> None:
    """A new default takes the place of the old one; without one, new links go to the shared domain."""
    first = await worker.prove(OURS, "one.example")
    second = await worker.prove(OURS, "two.example")
    assert worker.directory.default_of(OURS) == 1
    await worker.change(OURS, "one.example", is_default=True)
    assert worker.directory.default_of(OURS) == first.id
    await worker.change(OURS, "two.example", is_default=True)
    assert worker.directory.default_of(OURS) == second.id
    assert worker.directory.default_of(THEIRS) == 1
    await worker.change(OURS, "two.example", is_default=False)
    assert worker.directory.default_of(OURS) == 1
    await worker.domains.add(command_actor(OURS), BRAND)
    with pytest.raises(ChoiceRefused, match="proved"):
        await worker.change(OURS, "go.brand.example", is_default=True)


async def test_targets_of_a_domain_are_judged_as_those_of_links(worker: Worker) -> None:
    """No way around the rules by way of a domain; none back to one of our own hosts."""
    await worker.prove(OURS, "go.brand.example", root_target="https://brand.example/")
    for target in ("https://sho.rt/abc", "https://go.brand.example/", "http://10.0.0.1/", "javascript:1"):
        with pytest.raises(TargetRefused):
            await worker.change(OURS, "go.brand.example", not_found_target=target)
    changed = await worker.change(
        OURS, "go.brand.example", root_target=None, not_found_target="https://brand.example/404"
    )
    assert (changed.root_target, changed.not_found_target) == (None, "https://brand.example/404")
    site = worker.hosts.site_of(b"go.brand.example")
    assert site is not None
    assert (site.root_target, site.not_found_target) == (None, "https://brand.example/404")


async def test_the_subdomain_of_its_slug_is_a_workspaces_own(worker: Worker) -> None:
    """It needs no proof, and no other workspace may have it."""
    domain = await worker.domains.add(command_actor(THEIRS), DomainDraft("other.sho.rt"))
    assert (domain.is_subdomain, domain.verified_at is not None, domain.proof) == (True, True, None)
    assert worker.hosts.domain_of(b"OTHER.sho.rt:443") == domain.id
    for host in ("other.sho.rt", "www.sho.rt", "a.other.sho.rt", "sho.rt"):
        with pytest.raises(ChoiceRefused):
            await worker.domains.add(command_actor(OURS), DomainDraft(host))


async def test_subdomains_follow_the_base_url(office: Office, worker: Worker) -> None:
    """An installation that moves keeps its links."""
    domain = await worker.domains.add(command_actor(THEIRS), DomainDraft("other.sho.rt"))
    moved = await office.worker("https://links.example:8443")
    assert moved.hosts.domain_of(b"other.links.example") == domain.id
    assert moved.hosts.domain_of(b"other.sho.rt") == 1
    assert moved.directory.short_url(domain.id, "abc") == "https://other.links.example:8443/abc"


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "intranet",
        "printer.local",
        "127.0.0.1",
        "1.2.3.4",
        "[::1]",
        "::1",
        "go.brand.example:8080",
        "go.brand.example/path",
        "user@go.brand.example",
        "go_.brand.example",
        "-go.brand.example",
        "a" * 64 + ".example",
        ".".join(["abcdefgh"] * 30) + ".example",
        "go brand.example",
        "go.brand.example\0",
        "*.brand.example",
    ],
)
async def test_only_a_public_host_name_is_a_domain(worker: Worker, host: str) -> None:
    """No address, no port, no path, no name of a private network."""
    with pytest.raises(ChoiceRefused):
        await worker.domains.add(command_actor(OURS), DomainDraft(host))


@pytest.mark.parametrize(
    ("host", "stored"),
    [("GO.Brand.Example.", "go.brand.example"), ("müller.example", "xn--mller-kva.example")],
)
async def test_a_host_is_kept_as_browsers_send_it(worker: Worker, host: str, stored: str) -> None:
    """Lower case, ASCII, without the last dot: what the Host header will say."""
    assert (await worker.prove(OURS, host)).host == stored
    assert worker.hosts.site_of(stored.encode()) is not None
    found = worker.directory.find(OURS, host)
    assert found is not None
    assert (found.host, (await worker.domains.get(OURS, host)).host) == (stored, stored)
    with pytest.raises(ChoiceRefused, match="already"):
        await worker.domains.add(command_actor(OURS), DomainDraft(host))


async def test_a_code_without_a_domain_means_the_default_or_the_only_one(
    office: Office, worker: Worker
) -> None:
    """Whoever has the code on several other domains has to say which."""
    locator = Locator(worker.directory, LinkStore(office.database))
    assert await locator.of_code(OURS, "abcd", None) == 1
    first = await worker.prove(OURS, "one.example")
    await _add_link(office, first.id)
    assert await locator.of_code(OURS, "abcd", None) == first.id
    assert await locator.of_code(OURS, "unknown", None) == 1
    second = await worker.prove(OURS, "two.example")
    await _add_link(office, second.id)
    with pytest.raises(ChoiceRefused, match="Several domains"):
        await locator.of_code(OURS, "abcd", None)
    assert await locator.of_code(OURS, "abcd", "two.example") == second.id
    await worker.change(OURS, "two.example", is_default=True)
    assert await locator.of_code(OURS, "abcd", None) == second.id
    await worker.change(OURS, "two.example", is_default=False)
    await _add_link(office, 1)
    assert await locator.of_code(OURS, "abcd", None) == 1
