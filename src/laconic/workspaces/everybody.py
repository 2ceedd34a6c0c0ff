"""All that is done with users, in one hand."""

from dataclasses import dataclass

from laconic.workspaces.people.invitations import Invitations
from laconic.workspaces.people.letters import Letters
from laconic.workspaces.people.sessions import Sessions
from laconic.workspaces.people.sign_in import SignIn
from laconic.workspaces.people.users import Users
from laconic.workspaces.resets.reset import PasswordResets


@dataclass(frozen=True, slots=True)
class People:
    users: Users
    invitations: Invitations
    sessions: Sessions
    sign_in: SignIn
    resets: PasswordResets
    letters: Letters
