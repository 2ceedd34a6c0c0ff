"""What a database must do for Laconic, and hold while doing it.

Two engines implement it, `sqlite` and `postgres`; no other room knows which one it talks to. SQL is
written once, in the `store.py` of the noun it changes, with `$1` placeholders that number the arguments.

Values are plain on both engines: moments are `int` microseconds (see `clock`), JSON is text, truth is
`bool` or 0/1, digests are `bytes`, addresses are text. A row is read by position.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

Row = Sequence[Any]
T = TypeVar("T")


class Statements(Protocol):
    """The verbs that a database and an open transaction share."""

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        """The first row, or None."""
        ...

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...

    async def execute(self, sql: str, *args: Any) -> int:
        """Runs one statement and says how many rows it changed."""
        ...

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Runs one statement for each row of arguments; all or none."""
        ...

    async def insert_many(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        """Inserts the rows in one statement, skipping those that any unique index refuses.

        True when every row went in. When it is False the caller asks which ones did, by the ids it made.
        """
        ...


class Tenant(Statements, Protocol):
    """The statements of one workspace."""

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        """As `Database.transaction`."""
        ...


class Database(Statements, Protocol):
    """A database that answers from several tasks at once.

    Whatever an implementation raises is an error of `laconic.errors`: `Unavailable` when the
    statement certainly did nothing, `OutcomeUnknown` when a commit may or may not have happened,
    `Conflict` when a unique index refused a row. Nobody above has heard of a driver.
    """

    answers_at_once: bool
    """Does `fetch_hot` never suspend? Then a redirect's look-up need not leave the lane."""

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        """Runs `work` in one transaction: committed durably before this returns, undone if it raises.

        `work` may await nothing but the statements it is given: SQLite drives it in the writer's thread,
        where transactions that wait at the same time share one commit, each in a savepoint of its own.
        """
        ...

    def for_workspace(self, workspace_id: int) -> Tenant:
        """What is done for one tenant goes through this.

        An engine that can (PostgreSQL, with a role that does not own the tables) then lets a statement see the rows
        of this workspace only. The statements say `workspace_id` all the same: it is the second lock, not the first.
        """
        ...

    async def fetch_hot(self, sql: str, *args: Any) -> Row | None:
        """The redirect's look-up, one row by an index, from the primary.

        It has a connection (SQLite) or a pool (PostgreSQL) of its own that no other work can exhaust. On
        SQLite it runs in the loop's thread without a single suspension: about 7 us, less than a thread hop.
        """
        ...

    async def copy_in(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """The fastest way in for many rows that cannot conflict; all or none, durable on return."""
        ...

    async def follow_changes(self, changed: "ChangeListener") -> None:
        """Tells `changed` of every committed row of `link_change`, by any process, until cancelled.

        Within 1 s of the commit while the database is reachable. `changed.following()` says that from now on
        every change is told, `changed.lost()` that none is: in both cases what was remembered before must be
        checked before use, for changes may have been missed.
        """
        ...

    def text_search(self, words: Sequence[str], argument: int) -> tuple[str, str]:
        """A condition on `short_link` for "title or description has words that begin so", and its one argument.

        `argument` is the number of the placeholder to use: `text_search(["spring"], 3)` may give
        `("... MATCH $3", '"spring"*')`.
        """
        ...

    async def sizes(self) -> dict[str, int]:
        """Bytes on disk by name: at least `database`; `wal` where there is one."""
        ...

    async def tidy(self) -> None:
        """The engine's own small housekeeping (SQLite: checkpoint). Called about once a second by one process."""
        ...

    async def close(self) -> None: ...


class ChangeListener(Protocol):
    """Who wants to know that links have changed."""

    def changed(self, domain_id: int, short_code: str, version: int) -> None: ...

    def following(self) -> None:
        """From now on every change is told; some may have been missed before."""
        ...

    def lost(self) -> None:
        """From now on no change is told, until `following` is called again."""
        ...
