"""What a process knows by heart, and how it hears of changes by another."""

import pytest

from laconic.errors import Conflict, TargetRefused
from laconic.links.locate import Locator
from laconic.links.store import LinkStore
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import command_actor
from tests.workspaces.domains.office import OURS, THEIRS, Office, Worker

MOMENT = 1_700_000_000_000_000


async def _block(
    office: Office, host: str, *, includes_subdomains: bool = True, is_removed: bool = False
) -> None:
    await office.database.execute(
        "INSERT INTO blocked_host (host, includes_subdomains, created_at, is_removed) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (host) DO UPDATE SET includes_subdomains = excluded.includes_subdomains,"
        " is_removed = excluded.is_removed",
        host,
        includes_subdomains,
        MOMENT,
        is_removed,
    )


async def test_another_process_hears_of_every_change(office: Office, worker: Worker) -> None:
    """Added, changed, given up: after the next look it knows the same."""
    other = await office.worker()
    domain = await worker.prove(OURS, "go.brand.example")
    assert other.hosts.domain_of(b"go.brand.example") == 1
    await other.directory.refresh()
    assert other.hosts.domain_of(b"go.brand.example") == domain.id
    await worker.change(OURS, "go.brand.example", not_found_target="https://brand.example/404")
    await other.directory.refresh()
    assert other.hosts.not_found_target(b"go.brand.example") == "https://brand.example/404"
    await worker.domains.remove(command_actor(OURS), "go.brand.example")
    await other.directory.refresh()
    assert other.hosts.domain_of(b"go.brand.example") == 1
    assert not other.directory.is_own("go.brand.example")


async def test_a_host_that_passes_on_is_served_for_its_new_owner(office: Office, worker: Worker) -> None:
    """Also by a process that hears of both changes at once."""
    other = await office.worker()
    await worker.prove(OURS, "go.brand.example")
    await other.directory.refresh()
    await worker.domains.remove(command_actor(OURS), "go.brand.example")
    theirs = await worker.prove(THEIRS, "go.brand.example")
    await other.directory.refresh()
    assert other.hosts.domain_of(b"go.brand.example") == theirs.id
    assert other.directory.is_own("go.brand.example")


async def test_a_change_by_hand_is_heard_of(office: Office, worker: Worker) -> None:
    """The tables are people's own: whoever edits them with a tool of theirs is served, too."""
    domain = await worker.prove(OURS, "go.brand.example")
    await office.database.execute(
        "UPDATE domain SET root_target = 'https://brand.example/' WHERE id = $1", domain.id
    )
    await worker.directory.refresh()
    site = worker.hosts.site_of(b"go.brand.example")
    assert site is not None
    assert site.root_target == "https://brand.example/"


async def test_nothing_is_read_while_nothing_has_changed(office: Office, worker: Worker) -> None:
    """The look four times a second costs one row by its key."""
    store = DomainStore(office.database)
    before = await store.revision()
    await worker.directory.refresh()
    assert await store.revision() == before
    assert await store.changed_since(before) == []


async def test_targets_on_a_new_domain_are_refused_at_once(worker: Worker) -> None:
    """A link to it would lead back to us."""
    worker.targets.check("https://go.brand.example/x")
    await worker.prove(OURS, "go.brand.example")
    for url in ("https://go.brand.example/x", "http://GO.brand.example.:8080/", "https://sho.rt/"):
        with pytest.raises(TargetRefused) as refused:
            worker.targets.check(url)
        assert refused.value.reason == "own_host"


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [
        ("https://evil.example/", True),
        ("https://EVIL.example./x", True),
        ("https://evil.example:8443/x", True),
        ("https://www.evil.example/", True),
        ("https://a.b.evil.example/", True),
        ("https://notevil.example/", False),
        ("https://evil.example.org/", False),
        ("https://exact.example/", True),
        ("https://www.exact.example/", False),
        ("https://müller.example/", True),
        ("https://xn--mller-kva.example/", True),
        ("https://MÜLLER.example/", True),
        ("https://8.8.4.4/", True),
        ("https://0x8.8.1028/", True),
    ],
)
async def test_blocked_hosts_are_refused_as_targets(
    office: Office, worker: Worker, url: str, is_refused: bool
) -> None:
    """By name, below it unless said otherwise, in every spelling."""
    await _block(office, "evil.example")
    await _block(office, "exact.example", includes_subdomains=False)
    await _block(office, "xn--mller-kva.example")
    await _block(office, "8.8.4.4")
    await worker.directory.refresh()
    if not is_refused:
        worker.targets.check(url)
        return
    with pytest.raises(TargetRefused) as refused:
        worker.targets.check(url)
    assert refused.value.reason == "blocked_host"


async def test_a_host_is_blocked_until_it_is_removed(office: Office, worker: Worker) -> None:
    """And a domain's own targets stay away as long."""
    await worker.prove(OURS, "go.brand.example", root_target="https://evil.example/")
    await _block(office, "evil.example")
    await worker.directory.refresh()
    assert worker.blocked.blocks_location("https://evil.example/x")
    site = worker.hosts.site_of(b"go.brand.example")
    assert site is not None
    assert site.root_target is None
    await _block(office, "evil.example", is_removed=True)
    await worker.directory.refresh()
    assert not worker.blocked.blocks_location("https://evil.example/x")
    site = worker.hosts.site_of(b"go.brand.example")
    assert site is not None
    assert site.root_target == "https://evil.example/"


async def test_the_base_host_cannot_be_a_workspaces_domain(office: Office, worker: Worker) -> None:
    """Whoever moves the installation there is told so at the start."""
    await worker.prove(OURS, "go.brand.example")
    with pytest.raises(Conflict):
        await DomainStore(office.database).follow_base_host("go.brand.example")


async def test_another_process_can_use_a_domain_at_once(office: Office, worker: Worker) -> None:
    """Whoever adds a domain on one worker and makes a link on the next is not told that there is none."""
    other = await office.worker()
    domain = await worker.prove(OURS, "go.brand.example")
    locator = Locator(other.directory, LinkStore(office.database))
    assert other.directory.find(OURS, "go.brand.example") is None
    assert await locator.for_new(OURS, "go.brand.example") == domain.id
    second = await worker.prove(OURS, "two.example")
    await other.directory.know([1, second.id])
    assert other.directory.short_url(second.id, "abcd") == "https://two.example/abcd"
