"""Wrong sign-ins: they cost whoever makes them, and nobody else."""

import asyncio

import pytest

from laconic.clock import HOUR, MINUTE, SECOND
from laconic.errors import SignInFailed, TooManyRequests
from laconic.workspaces.model import User
from laconic.workspaces.people.sign_in import Attempt
from tests.workspaces.desk import PASSWORD, Desk

ANN, BOB = "ann@example.com", "bob@example.com"


async def attempt(
    desk: Desk, email: str, password: str, address: str = "192.0.2.1", device: str | None = None
) -> User | type[Exception]:
    try:
        return await desk.sign_in.with_password(Attempt(email, password, None, address, device))
    except (SignInFailed, TooManyRequests) as error:
        return type(error)


async def test_a_thousand_wrong_sign_ins_compute_a_handful_of_hashes(desk: Desk) -> None:
    """All at once from one address: the rest are refused by a read, and the others sign in as ever."""
    await desk.user(ANN, password=PASSWORD)
    bob = await desk.user(BOB, password=PASSWORD)
    outcomes = await asyncio.gather(*(attempt(desk, ANN, f"guess {n}", "203.0.113.9") for n in range(1_000)))
    assert outcomes.count(SignInFailed) <= 10
    assert outcomes.count(SignInFailed) + outcomes.count(TooManyRequests) == 1_000
    assert desk.passwords.computed <= 10
    assert await attempt(desk, BOB, PASSWORD, "198.51.100.1") == bob


async def test_a_thousand_addresses_do_not_lock_the_owner_out_for_good(desk: Desk) -> None:
    """The owner's own browser gets in at once; any other within half a minute."""
    ann = await desk.user(ANN, password=PASSWORD)
    device = await desk.sign_in.new_device(ANN)
    for number in range(1_000):
        await attempt(desk, ANN, "wrong password", f"203.0.{number // 250}.{number % 250}")
    assert desk.passwords.computed <= 30
    assert await attempt(desk, ANN, PASSWORD, "198.51.100.1") is TooManyRequests
    assert await attempt(desk, ANN, PASSWORD, "198.51.100.1", device) == ann
    desk.moved = 31 * SECOND
    assert await attempt(desk, ANN, PASSWORD, "198.51.100.2") == ann


async def test_the_wait_doubles_and_ends(desk: Desk) -> None:
    """Five are free, then 1, 2, 4 … seconds; a good sign-in takes the count back."""
    await desk.user(ANN, password=PASSWORD)
    waits = []
    for _ in range(9):
        try:
            await desk.sign_in.with_password(Attempt(ANN, "wrong password", None, "192.0.2.1"))
        except SignInFailed:
            waits.append(0.0)
        except TooManyRequests as refusal:
            waits.append(refusal.retry_after)
            desk.moved += int(refusal.retry_after * SECOND) + SECOND
    assert waits[:5] == [0.0] * 5
    assert any(wait > 0 for wait in waits[5:])
    desk.moved += 20 * MINUTE
    assert isinstance(await attempt(desk, ANN, PASSWORD), User)
    assert [await attempt(desk, ANN, "wrong password") for _ in range(4)] == [SignInFailed] * 4


async def test_a_refused_attempt_does_not_make_the_wait_longer(desk: Desk) -> None:
    """Or whoever keeps knocking could keep the door shut."""
    await desk.user(ANN, password=PASSWORD)
    for _ in range(30):
        await attempt(desk, ANN, "wrong password")
    with pytest.raises(TooManyRequests) as refusal:
        await desk.sign_in.with_password(Attempt(ANN, PASSWORD, None, "192.0.2.1"))
    assert refusal.value.retry_after <= 2


async def test_one_address_cannot_try_many_accounts(desk: Desk) -> None:
    """One guess at each of a thousand e-mails is stopped, too; after some hours it is forgotten."""
    outcomes = [await attempt(desk, f"user{number}@example.com", "password1") for number in range(60)]
    assert outcomes.count(SignInFailed) < 30
    assert outcomes[-1] is TooManyRequests
    desk.moved = 13 * HOUR
    assert await attempt(desk, "user1@example.com", "password1") is SignInFailed


async def test_a_mark_of_another_account_or_of_nobody_counts_as_none(desk: Desk) -> None:
    """A device's mark is good for the account it was given for."""
    ann = await desk.user(ANN, password=PASSWORD)
    for _ in range(11):
        await attempt(desk, ANN, "wrong password", "203.0.113.9")
    for mark in (await desk.sign_in.new_device(BOB), "made.up", "", "."):
        assert await attempt(desk, ANN, PASSWORD, "203.0.113.9", mark) is TooManyRequests
    assert await attempt(desk, ANN, PASSWORD, "203.0.113.9", await desk.sign_in.new_device(ANN)) == ann


async def test_failures_tell_nobody_who_tried(desk: Desk) -> None:
    """The table holds keyed hashes; the trail of the workspace tells its admins."""
    await desk.user(ANN, password=PASSWORD)
    await attempt(desk, ANN, "wrong password", "203.0.113.9")
    rows = await desk.database.fetch_all("SELECT key_hash FROM sign_in_failure")
    assert len(rows) == 3
    assert not any(b"ann" in bytes(row[0]) or b"203" in bytes(row[0]) for row in rows)
    refused = (await desk.events())[-1]
    assert (refused.action, refused.subject, refused.address) == ("session.refuse", ANN, "203.0.113.9")


@pytest.mark.parametrize("text", ["", "\0", "ann@example.com\0", "x" * 10_000, "' OR 1=1 --", "é\u202e"])
async def test_no_text_is_more_than_a_wrong_sign_in(desk: Desk, text: str) -> None:
    """Whatever is typed as e-mail, password or slug (P10)."""
    await desk.user(ANN, password=PASSWORD)
    for given in (Attempt(text, PASSWORD), Attempt(ANN, text), Attempt(ANN, PASSWORD, text or "x")):
        with pytest.raises(SignInFailed):
            await desk.sign_in.with_password(given)


async def test_people_of_the_identity_provider_have_no_password_to_guess(desk: Desk) -> None:
    await desk.user(ANN, password=None)
    assert await attempt(desk, ANN, "") is SignInFailed
