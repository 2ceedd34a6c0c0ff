"""A small real mail server that keeps what it is given."""

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class MailBox:
    """`refuses` is what the server says instead of taking a mail."""

    port: int = 0
    refuses: str = ""
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.refuses:
            return self.refuses
        content = envelope.content
        assert isinstance(content, bytes)
        mail = message_from_bytes(content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        self.recipients += envelope.rcpt_tos
        return "250 OK"

    def let_in(self, server: SMTP, session: Session, envelope: Envelope, how: str, who: Any) -> AuthResult:
        assert isinstance(who, LoginPassword)
        self.users.append(who.login.decode())
        return AuthResult(success=who.password == b"a secret of the server")


@asynccontextmanager
async def serving_mail(
    context: ssl.SSLContext | None = None, *, from_the_first_byte: bool = False, needs_login: bool = False
) -> AsyncIterator[MailBox]:
    """With `context` over TLS: after STARTTLS, or from the first byte."""
    box = MailBox()
    loop = asyncio.get_running_loop()

    def conversation() -> SMTP:
        with warnings.catch_warnings():
            # Of a sign-in without STARTTLS: it cannot know that the connection is safe from the first byte.
            warnings.simplefilter("ignore", UserWarning)
            return SMTP(
                box,
                hostname="mail.test",
                tls_context=None if from_the_first_byte else context,
                require_starttls=context is not None and not from_the_first_byte,
                auth_required=needs_login,
                auth_require_tls=not from_the_first_byte,
                authenticator=box.let_in,
                loop=loop,
            )

    server = await loop.create_server(
        conversation, "127.0.0.1", 0, ssl=context if from_the_first_byte else None
    )
    box.port = server.sockets[0].getsockname()[1]
    async with server:
        yield box
