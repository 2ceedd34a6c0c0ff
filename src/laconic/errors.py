"""Everything that can go wrong and has a name.

LaconicError
├── Refused                     the request cannot be carried out; what to change is in it
│   ├── TargetRefused           the URL may not be a link's target
│   ├── TargetTooLong           the URL has more characters than are allowed
│   ├── CodeRefused             the custom code breaks a rule
│   ├── CodeTaken               another link has, or had, this code
│   ├── ChoiceRefused           a field has a value outside what is allowed
│   ├── LinkUnknown             there is no such link for this caller
│   ├── LinkGone                the link was deleted
│   ├── DomainUnknown           this workspace has no such domain
│   ├── DomainTaken             another workspace has proved that the domain is its own
│   ├── DomainNotProved         neither DNS nor the host itself says what it should
│   ├── DomainInUse             links live on the domain
│   ├── CannotFetch             what lies outside cannot be fetched, or must not be
│   ├── EntryUnknown            the operator's list has no such entry
│   ├── IdempotencyKeyReused    the key came before with another request
│   ├── RecordUnknown           there is no such workspace, user, key … for this caller
│   ├── NameTaken               another one has this slug or e-mail
│   ├── LastAdmin               a workspace keeps at least one admin
│   ├── InvitationOver          the link was used, taken back, or is too old
│   ├── SignInFailed            no such user, or another password
│   ├── WorkspaceNeeded         the same person is known in several workspaces
│   ├── NotAuthenticated        no credentials, or bad ones
│   ├── ScopeMissing            good credentials that do not allow this
│   ├── CleanupRunning          a cleanup is under way already
│   └── TooManyRequests         slow down
├── Unavailable                 the database cannot be reached now; nothing was done
│   ├── OutcomeUnknown          a commit may or may not have happened; its code is burnt
│   ├── SharedAway              the shared store does not answer; the database has what it had
│   └── LeaseLost               another process has the job now; nothing was done
├── Conflict                    a unique index refused a row (stores turn it into a Refused)
└── CannotStart                 the process must not go on, and the message tells the operator why
    ├── SettingInvalid          a setting has a value that is not allowed, or an unknown name
    ├── DatabaseTooNew          the database was made by a later release
    ├── DataFolderInUse         another server works on this data folder, or it must not be used
    └── BackupUnusable          the backup is damaged, of another engine, or of a later release

No HTTP here: `web/api/problems.py` maps each leaf to a status, once.
"""


class LaconicError(Exception):
    """The root. Its text is fit to show to the person who caused it."""


class Refused(LaconicError):
    """The request cannot be carried out as it stands."""


class TargetRefused(Refused):
    """The URL may not be a link's target; `reason` is a stable word such as `private_address`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class TargetTooLong(Refused):
    """The URL has more characters than are allowed."""

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(f"The URL has {length} characters; at most {limit} are allowed.")
        self.length = length
        self.limit = limit


class CodeRefused(Refused):
    """The custom code breaks a rule; `reason` is `shape` or `reserved`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class CodeTaken(Refused):
    """Another link has, or had, this code. Codes are never given twice."""

    def __init__(self, code: str) -> None:
        super().__init__(f"The code {code!r} is taken.")
        self.code = code


class ChoiceRefused(Refused):
    """A field has a value outside what is allowed; `field` names it."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field


class LinkUnknown(Refused):
    """There is no such link for this caller; another tenant's link looks the same."""

    def __init__(self, code: str) -> None:
        super().__init__(f"There is no link with the code {code!r}.")
        self.code = code


class LinkGone(Refused):
    """The link was deleted. Its code stays taken."""

    def __init__(self, code: str) -> None:
        super().__init__(f"The link {code!r} was deleted.")
        self.code = code


class DomainUnknown(Refused):
    """This workspace has no such domain; another tenant's looks the same."""

    def __init__(self, host: str) -> None:
        super().__init__(f"This workspace has no domain {host[:255]!r}.")
        self.host = host


class DomainTaken(Refused):
    """Another workspace has proved that the domain is its own. It has to give it up first."""

    def __init__(self, host: str) -> None:
        super().__init__(f"The domain {host!r} is in use in another workspace.")
        self.host = host


class DomainNotProved(Refused):
    """Neither DNS nor the host itself says what it should; the text says what was found."""


class DomainInUse(Refused):
    """Links live on the domain: delete or disable them first."""

    def __init__(self, host: str) -> None:
        super().__init__(f"Links live on {host!r}. Delete or disable them first.")
        self.host = host


class CannotFetch(Refused):
    """What lies outside cannot be fetched, or must not be; `reason` is a stable word such as `not_public`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class EntryUnknown(Refused):
    """The operator's list (takedowns, blocked hosts, reports) has no such entry."""


class IdempotencyKeyReused(Refused):
    """The Idempotency-Key came before with another request."""

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used before with a different request.")


class RecordUnknown(Refused):
    """There is no such record for this caller; another tenant's looks the same. `kind` is a word such as `user`."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"There is no such {kind}.")
        self.kind = kind


class NameTaken(Refused):
    """Another record has this name; `field` says which."""

    def __init__(self, field: str, value: str) -> None:
        super().__init__(f"{value!r} is taken.")
        self.field = field


class LastAdmin(Refused):
    """A workspace keeps at least one admin, or nobody could ever change it again."""

    def __init__(self) -> None:
        super().__init__("This is the only admin of the workspace. Make somebody else an admin first.")


class InvitationOver(Refused):
    """The link was used, taken back, or is too old."""

    def __init__(self) -> None:
        super().__init__("This link was used before, was taken back, or is too old. Ask for a new one.")


class SignInFailed(Refused):
    """No such user, or another password: which of them is not told."""

    def __init__(self, detail: str = "E-mail and password do not match.") -> None:
        super().__init__(detail)


class WorkspaceNeeded(Refused):
    """The same person is known in several workspaces, so one has to be named."""

    def __init__(self) -> None:
        super().__init__("You are in several workspaces. Say which one, by its slug.")


class NotAuthenticated(Refused):
    """No credentials, or bad ones."""

    def __init__(self, detail: str = "An API key is needed: Authorization: Bearer lac_live_...") -> None:
        super().__init__(detail)


class ScopeMissing(Refused):
    """Good credentials that do not allow this."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"This needs the scope {scope!r}.")
        self.scope = scope


class CleanupRunning(Refused):
    """A cleanup is under way already; only one runs at a time."""

    def __init__(self) -> None:
        super().__init__("A cleanup is under way already.")


class TooManyRequests(Refused):
    """Slow down; `retry_after` says for how many seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("Too many requests.")
        self.retry_after = retry_after


class Unavailable(LaconicError):
    """The database cannot be reached now; nothing was done."""


class OutcomeUnknown(Unavailable):
    """A commit may or may not have happened. Its code is burnt; an Idempotency-Key settles a retry."""


class SharedAway(Unavailable):
    """The shared store (Redis) does not answer now. Whoever asks it goes on without: no request fails by this."""


class LeaseLost(Unavailable):
    """Another process has the job by now: whatever was begun under the old lease is undone."""

    def __init__(self, job: str) -> None:
        super().__init__(f"The lease of the job {job!r} was lost; nothing was done.")
        self.job = job


class Conflict(LaconicError):
    """A unique index refused a row; `constraint` names it where the engine tells."""

    def __init__(self, constraint: str = "") -> None:
        super().__init__(f"A unique index refused a row ({constraint}).")
        self.constraint = constraint


class CannotStart(LaconicError):
    """The process must not go on; the message tells the operator why and what to do."""


class SettingInvalid(CannotStart):
    """A setting has a value that is not allowed, or a name that does not exist."""


class DatabaseTooNew(CannotStart):
    """The database was made by a later release of Laconic."""


class DataFolderInUse(CannotStart):
    """Another server works on this data folder, or the folder is on a disk that must not be used."""


class BackupUnusable(CannotStart):
    """The backup is damaged, of another engine, or of a later release; nothing was changed."""
