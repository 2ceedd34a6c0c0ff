"""Mail through a real server: in clear, after STARTTLS, over TLS; and all that can go wrong with it."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from laconic.outside import mail
from laconic.outside.mail import Mailer, MailServer
from tests.outside.certificate import make_certificate
from tests.outside.mail_server import serving_mail

pytestmark = pytest.mark.anyio

LINK = "https://sho.rt/dashboard/invitation/planted-token"


def server(
    port: int, tls: str = "none", user: str = "", password: str = "", host: str = "localhost"
) -> MailServer:
    return MailServer(host, port, tls, user, "links@sho.rt", password)


async def test_a_mail_arrives_as_it_was_written() -> None:
    """Sender, recipient, subject and text, letters of all alphabets included."""
    async with serving_mail() as box:
        assert await Mailer(server(box.port)).send("bob@example.com", "Grüße für 山", f"Zwölf\n{LINK}\n")
    (received,) = box.mails
    assert (received["From"], received["To"], received["Subject"]) == (
        "links@sho.rt",
        "bob@example.com",
        "Grüße für 山",
    )
    assert received.get_content().splitlines() == ["Zwölf", LINK]
    assert received["Auto-Submitted"] == "auto-generated"
    assert box.recipients == ["bob@example.com"]


@pytest.mark.parametrize("tls", ["starttls", "tls"])
async def test_the_connection_is_made_safe_before_the_password_is_said(tmp_path: Path, tls: str) -> None:
    """With a certificate that is checked, and a sign-in."""
    serving, trusting = make_certificate(tmp_path, "localhost")
    async with serving_mail(serving, from_the_first_byte=tls == "tls", needs_login=True) as box:
        here = server(box.port, tls, "laconic", "a secret of the server")
        assert await Mailer(here, context=trusting).send("bob@example.com", "Hello", "text")
        with capture_logs() as logs:
            assert not await Mailer(here).send("bob@example.com", "Hello", "text")
    assert (len(box.mails), box.users) == (1, ["laconic"])
    assert "certificate" in logs[0]["error"].lower()


async def test_a_server_that_cannot_be_made_safe_gets_nothing() -> None:
    """The default asks for STARTTLS: a server without it is not spoken to in clear."""
    async with serving_mail() as box:
        with capture_logs() as logs:
            assert not await Mailer(server(box.port, "starttls")).send("bob@example.com", "Hello", "text")
    assert not box.mails
    assert "STARTTLS" in logs[0]["error"]


async def test_what_fails_is_logged_without_the_text() -> None:
    """No server, one that refuses, a recipient that would write headers of its own; the link is in no log line."""
    async with serving_mail() as box:
        box.refuses = "550 No mail today"
        with capture_logs() as logs:
            assert not await Mailer(server(box.port)).send("bob@example.com", "Hello", LINK)
            assert not await Mailer(server(box.port)).send(
                "bob@example.com\nBcc: eve@example.com", "Hello", LINK
            )
            assert not await Mailer(server(1, user="u", password="planted-password")).send(
                "b@c.d", "Hello", LINK
            )
    assert len(logs) == 3
    assert "No mail today" in logs[0]["error"]
    assert not box.mails
    assert "planted" not in str(logs)


async def test_a_server_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for the answer to an invitation waits for a bounded time."""
    monkeypatch.setattr(mail, "_STEP_SECONDS", 0.2)
    held: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        assert not await Mailer(server(port, host="127.0.0.1")).send("bob@example.com", "Hello", "text")
        held[0].close()
