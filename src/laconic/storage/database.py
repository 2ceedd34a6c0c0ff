"""What a database must do for Laconic, and hold while doing it.

Two engines implement it, `sqlite` and `postgres`; no other room knows which one it talks to. SQL is
written once, in the `store.py` of the noun it changes, with `$1` placeholders that number the arguments.

Values are plain on both engines: moments are `int` microseconds (see `clock`), JSON is text, truth is
`bool` or 0/1, digests are `bytes`, addresses are text. A row is read by position. `clock_timestamp()` in SQL is
the database's own clock, as a moment: what several machines must agree on is judged by it. `database_lineage()`
names the database's history: it changes when commits may be missing that were there before (failover, restore).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from laconic.storage.breaker import Breaker  # brings what commands do not need

Row = Sequence[Any]
Ids = Sequence[int] | Sequence[str]
Same = Mapping[str, Any]
NOTHING_SAME: Same = {}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Merge:
    """How the columns of a row join those of a row that is there, in the order in which a row has them."""

    keys: tuple[str, ...]
    # Written when the row is new, and never again.
    once: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    largest: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return self.keys + self.once + self.adds + self.largest + self.replaces

    def clause(self, table: str) -> str:
        """Both engines read it the same way."""
        changes = [f"{name} = {table}.{name} + excluded.{name}" for name in self.adds]
        changes += [
            f"{name} = CASE WHEN {table}.{name} > excluded.{name} THEN {table}.{name} ELSE excluded.{name} END"
            for name in self.largest
        ]
        changes += [f"{name} = excluded.{name}" for name in self.replaces]
        return f"ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {', '.join(changes)}"


# What is counted as slow.
SLOW_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class PoolNumbers:
    """How many connections there are, how many of them are at work, and how many there may be."""

    name: str
    open: int
    busy: int
    most: int


class Statements(Protocol):
    """The verbs that a database and an open transaction share."""

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        """The first row, or None."""
        ...

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...

    async def fetch_among(self, sql: str, ids: Ids, *args: Any) -> list[Row]:
        """Rows for many ids, numbers or text, in any order. The SQL says `IN ($ids)` where they go.

        Within a transaction it may be a statement that changes rows and gives them back (RETURNING).
        """
        ...

    async def execute(self, sql: str, *args: Any) -> int:
        """Runs one statement and says how many rows it changed."""
        ...

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Runs one statement for each row of arguments; all or none."""
        ...

    async def insert_many(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], same: Same = NOTHING_SAME
    ) -> bool:
        """Inserts the rows in one statement, skipping those that any unique index refuses.

        `same` are columns that have the same value in every row: it travels once.
        True when every row went in. When it is False the caller asks which ones did, by the ids it made.
        """
        ...

    async def merge(self, table: str, how: "Merge", columns: Sequence[Sequence[Any]]) -> None:
        """Adds each row to the one with the same keys, or makes it; no two rows have the same keys.

        They come column by column, in the order of `how.columns`. PostgreSQL locks the rows in the order they come: whoever sorts them by key never meets a deadlock.
        """
        ...

    async def append_events(
        self,
        month: int,
        journal_id: str,
        sequences: Sequence[int],
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
    ) -> None:
        """Adds rows to `click_event`, all of one month: each once, however often a journal's batch is repeated.

        `sequences` are the rows' numbers in the journal, in any order: all that the journal has of this month between
        the smallest and the largest. On PostgreSQL this is a part of the transaction; on SQLite the month's file
        commits first and by itself, and knows the next time what it already has.
        """
        ...

    async def keep_events(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Adds rows to `click_event`, all of one month, skipping those whose id is there.

        For clicks whose ids are made of what they are, so that a repetition makes the same ones. On SQLite the
        month's file commits first and by itself.
        """
        ...


class Tenant(Statements, Protocol):
    """The statements of one workspace."""

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        """As `Database.transaction`."""
        ...

    async def fetch_by_key(self, sql: str, *args: Any) -> Row | None:
        """One row by a unique index, for every request: SQLite reads it sooner than it would hand it to a thread."""
        ...

    async def fetch_events(self, month: int, sql: str, *args: Any) -> list[Row]:
        """Reads `click_event`. The SQL bounds `clicked_at` to the month: SQLite looks into that month's file alone."""
        ...

    async def change_events(self, month: int, sql: str, *args: Any) -> int:
        """Changes rows of `click_event`, bounded as above, and says how many."""
        ...


class Transact(Protocol):
    """Runs a verb's transaction. A caller who wants something more in the same one passes its own (`links/once`)."""

    async def __call__(self, place: Tenant, work: Callable[[Statements], Awaitable[T]]) -> T: ...


async def plainly(place: Tenant, work: Callable[[Statements], Awaitable[T]]) -> T:
    """The verb's transaction and nothing else."""
    return await place.transaction(work)


class Database(Tenant, Protocol):
    """A database that answers from several tasks at once.

    Whatever an implementation raises is an error of `laconic.errors`: `Unavailable` when the
    statement certainly did nothing, `OutcomeUnknown` when a commit may or may not have happened,
    `Conflict` when a unique index refused a row. Nobody above has heard of a driver.
    """

    engine: str
    """Its name, for whoever looks after it."""

    answers_at_once: bool
    """Does `fetch_hot` never suspend? Then a redirect's look-up need not leave the lane."""

    inserts_at_once: int
    """How many large inserts get on better side by side: one where there is one writer."""

    skip_locked: str
    """Ends a SELECT of rows that this transaction will change: those that another is changing are left out."""

    @property
    def parts_tenants(self) -> bool:
        """Does `for_workspace` show a tenant its own rows only? If not, rows of several may go into one statement."""
        ...

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

    async def prepare_months(self, first: int, count: int) -> None:
        """Makes room for raw clicks of these months ahead of need (see `months`). Safe to repeat, and never needed:
        a click of a month without room is kept all the same."""
        ...

    async def event_months(self) -> list[int]:
        """The months that may hold raw clicks, oldest first."""
        ...

    async def drop_events(self, month: int) -> None:
        """Throws a month's raw clicks away, all at once."""
        ...

    async def follow_changes(self, changed: "ChangeListener", history: int = 0) -> None:
        """Tells `changed` of every committed row of `link_change`, by any process, until cancelled.

        First, each time before it says `following`, of those of the last `history` microseconds.

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

    def by_index(self, name: str) -> str:
        """What follows a table's name in FROM where the planner cannot know which index leaves the fewest rows."""
        ...

    @property
    def slow_queries(self) -> int:
        """Statements that took more than SLOW_SECONDS; where commits are shared, a commit with all that is in it."""
        ...

    def pools(self) -> Sequence[PoolNumbers]:
        """As they are now; costs nothing."""
        ...

    @property
    def breakers(self) -> "Sequence[Breaker]":
        """Where calls fail over a network."""
        ...

    async def estimate_rows(self, name: str) -> int | None:
        """About how many rows a large table, or an index over a part of it, has, without reading them. None: count."""
        ...

    def part_search(self, text: str, argument: int) -> tuple[str, tuple[str, ...]] | None:
        """A condition on `short_link` for "the URL holds this text" that an index answers, and its arguments.

        Their placeholders begin with the number `argument`. None where no index helps with this text.
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

    def changed(self, domain_id: int, short_code: str, version: int, changed_at: int | None = None) -> None:
        """`changed_at` is when, by the clock of whoever changed it; None for what is told as history."""
        ...

    def following(self) -> None:
        """From now on every change is told; some may have been missed before."""
        ...

    def lost(self) -> None:
        """From now on no change is told, until `following` is called again."""
        ...
