"""Proofs that are looked for again, and domains that the operator ends; on every engine."""

import pytest

from laconic.clock import DAY
from laconic.errors import DomainTaken, DomainUnknown
from laconic.upkeep.proofs import Proofs
from laconic.workspaces.domains.change import GRACE
from laconic.workspaces.domains.model import Domain, DomainDraft
from laconic.workspaces.model import command_actor
from tests.workspaces.domains.office import OURS, THEIRS, Office, Worker

HOST = "go.brand.example"
NAME = f"_laconic.{HOST}"


class Clock:
    """Goes on a little with every look, so that events have an order."""

    def __init__(self) -> None:
        self.moment = 1_800_000_000_000_000

    def __call__(self) -> int:
        self.moment += 1
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def worker(office: Office, clock: Clock) -> Worker:
    made = await office.worker()
    made.domains._now = clock
    return made


async def proved(office: Office, worker: Worker, workspace_id: int = OURS) -> Domain:
    domain = await worker.domains.add(command_actor(workspace_id), DomainDraft(HOST))
    office.names.texts[NAME] = [domain.proof_text]
    return await worker.domains.verify(command_actor(workspace_id), HOST, "dns")


async def look(office: Office, worker: Worker, clock: Clock) -> int:
    return await Proofs(office.database, worker.domains, now=clock).run()


async def actions(office: Office, workspace_id: int | None) -> list[str]:
    where = "workspace_id IS NULL" if workspace_id is None else f"workspace_id = {workspace_id}"
    rows = await office.database.fetch_all(
        f"SELECT action FROM audit_event WHERE {where} AND subject_kind = 'domain' ORDER BY created_at"
    )
    return [row[0] for row in rows]


async def test_a_proof_is_looked_for_about_once_a_week(office: Office, worker: Worker, clock: Clock) -> None:
    """Not before, and not again for another week; one that is there changes nothing."""
    await proved(office, worker)
    assert await look(office, worker, clock) == 0
    clock.moment += 8 * DAY
    assert await look(office, worker, clock) == 1
    assert await look(office, worker, clock) == 0
    assert (await worker.domains.get(OURS, HOST)).lapsed_at is None
    assert await actions(office, OURS) == ["domain.add", "domain.prove"]


async def test_a_missing_proof_marks_the_domain_and_cuts_nobody_off(
    office: Office, worker: Worker, clock: Clock
) -> None:
    """It is served as before, however long; when the proof is back, the mark goes."""
    domain = await proved(office, worker)
    office.names.texts.clear()
    clock.moment += 8 * DAY
    since = clock.moment
    assert await look(office, worker, clock) == 1
    clock.moment += 90 * DAY
    assert await look(office, worker, clock) == 1
    lapsed_at = (await worker.domains.get(OURS, HOST)).lapsed_at
    assert lapsed_at is not None
    assert since <= lapsed_at < since + DAY
    assert worker.hosts.domain_of(HOST.encode()) == domain.id
    office.names.texts[NAME] = [domain.proof_text]
    assert (await worker.domains.verify(command_actor(OURS), HOST)).lapsed_at is None
    assert await actions(office, OURS) == ["domain.add", "domain.prove", "domain.lapse", "domain.prove"]


async def test_who_proves_a_host_gets_it_when_the_grace_is_over(
    office: Office, worker: Worker, clock: Clock
) -> None:
    """Not a day before. Both trails say so."""
    ours = await proved(office, worker)
    claim = await worker.domains.add(command_actor(THEIRS), DomainDraft(HOST))
    office.names.texts[NAME] = [claim.proof_text]
    with pytest.raises(DomainTaken):
        await worker.domains.verify(command_actor(THEIRS), HOST)
    clock.moment += 8 * DAY
    await look(office, worker, clock)
    clock.moment += GRACE - DAY
    with pytest.raises(DomainTaken):
        await worker.domains.verify(command_actor(THEIRS), HOST)
    assert worker.hosts.domain_of(HOST.encode()) == ours.id
    clock.moment += DAY
    theirs = await worker.domains.verify(command_actor(THEIRS), HOST)
    assert worker.hosts.domain_of(HOST.encode()) == theirs.id
    with pytest.raises(DomainUnknown):
        await worker.domains.get(OURS, HOST)
    assert (await actions(office, OURS))[-1] == "domain.end"
    assert (await actions(office, THEIRS))[-1] == "domain.prove"


async def test_what_the_operator_vouches_for_is_not_looked_at(
    office: Office, worker: Worker, clock: Clock
) -> None:
    """Nor is a workspace's subdomain: neither has a proof to lose."""
    await worker.prove(OURS, HOST)
    claim = await worker.domains.add(command_actor(OURS), DomainDraft("b.brand.example"))
    await worker.domains.trust(command_actor(OURS), claim.host)
    await worker.domains.add(command_actor(THEIRS), DomainDraft("other.sho.rt"))
    clock.moment += 100 * DAY
    assert await look(office, worker, clock) == 0


async def test_the_operator_ends_a_domain_whoever_has_it(office: Office, worker: Worker) -> None:
    """With links that live on it; its next owner proves it and starts with no codes."""
    ours = await proved(office, worker)
    await office.database.execute(
        "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, created_at, updated_at)"
        " VALUES (4711, $1, $2, 'abcd', 'https://example.com/', $3, $3)",
        OURS,
        ours.id,
        1_700_000_000_000_000,
    )
    await worker.domains.end(command_actor(THEIRS), HOST)
    assert worker.hosts.domain_of(HOST.encode()) == 1
    assert (await proved(office, worker, THEIRS)).id != ours.id
    assert (await actions(office, OURS))[-1] == "domain.end"
    assert await actions(office, None) == ["domain.end"]
    for host in ("nothere.example", "sho.rt"):
        with pytest.raises(DomainUnknown):
            await worker.domains.end(command_actor(THEIRS), host)
