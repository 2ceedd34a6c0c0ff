"""Sending mail through the operator's own server. A mail that cannot be sent is logged, and loses nothing else."""

import asyncio
import ssl
from dataclasses import dataclass, field
from email.errors import MessageError

import structlog

log = structlog.get_logger(__name__)

# For each step of the conversation, and for all of it: whoever waits for the answer waits no longer.
_STEP_SECONDS = 10.0
_ALL_SECONDS = 20.0
# Mails on their way at once in a process: each takes a thread.
_MOST_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str
    port: int
    tls: str
    user: str
    sender: str
    password: str = field(default="", repr=False)


class Mailer:
    """`context` says whose certificates are believed; by default those that the machine believes."""

    def __init__(self, server: MailServer, *, context: ssl.SSLContext | None = None) -> None:
        self._server = server
        self._context = context
        self._turns = asyncio.Semaphore(_MOST_AT_ONCE)

    async def send(self, recipient: str, subject: str, text: str) -> bool:
        """Has the server taken it? What it says instead is logged, the text, which may hold a link, is not."""
        try:
            async with asyncio.timeout(_ALL_SECONDS), self._turns:
                await asyncio.to_thread(self._deliver, self._server, recipient, subject, text)
        except (OSError, ValueError, MessageError) as error:
            # smtplib's errors and a time-out are OSErrors; a recipient that cannot stand in a header is one of the rest.
            log.warning(
                "a mail could not be sent", subject=subject, server=self._server.host, error=str(error)
            )
            return False
        return True

    def _deliver(self, server: MailServer, recipient: str, subject: str, text: str) -> None:
        """In a thread of its own: it waits for the network."""
        import smtplib
        from email.headerregistry import Address
        from email.message import EmailMessage
        from email.utils import formatdate, make_msgid

        message = EmailMessage()
        message["From"] = server.sender
        message["To"] = Address(addr_spec=recipient)
        message["Subject"] = subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=server.sender.rpartition("@")[2] or "localhost")
        # No machine answers it, such as an out-of-office note (RFC 3834).
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        context = self._context or ssl.create_default_context()
        if server.tls == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=_STEP_SECONDS, context=context
            )
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=_STEP_SECONDS)
        with connection:
            if server.tls == "starttls":
                connection.starttls(context=context)
            if server.user:
                connection.login(server.user, server.password)
            connection.send_message(message)
