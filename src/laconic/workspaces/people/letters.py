"""What is written to people, where there is a mail server. The link in it is what counts; it works without the mail."""

from collections.abc import Awaitable, Callable

from laconic.workspaces.model import Invitation, User

# Recipient, subject, text; whether it went out.
Send = Callable[[str, str, str], Awaitable[bool]]


async def no_mail(recipient: str, subject: str, text: str) -> bool:
    """Where there is no mail server."""
    return False


class Letters:
    def __init__(self, send: Send, base_url: str) -> None:
        self._send = send
        self._base_url = base_url

    def invitation_url(self, token: str) -> str:
        return f"{self._base_url}/dashboard/invitation/{token}"

    def reset_url(self, token: str) -> str:
        return f"{self._base_url}/dashboard/reset/{token}"

    async def invite(self, invitation: Invitation, workspace: str, token: str) -> bool:
        """Whether a mail is on its way: not for an invitation that names nobody."""
        if invitation.email is None:
            return False
        text = (
            f"You are invited to the workspace {workspace} as {invitation.role}.\n\n"
            f"{self.invitation_url(token)}\n\n"
            "The link works once, for a week. If you do not know what this is about, do nothing.\n"
        )
        return await self._send(invitation.email, f"Your invitation to {_plain(workspace)}", text)

    async def reset(self, user: User, token: str) -> bool:
        text = (
            f"Choose a new password for {user.email}:\n\n"
            f"{self.reset_url(token)}\n\n"
            "The link works once, for a day. Until then your password stays as it is.\n"
        )
        return await self._send(user.email, "Choose a new password", text)


def _plain(name: str) -> str:
    """For a header: a workspace's name is its admin's to choose, and a long one is cut."""
    return name[:60]
