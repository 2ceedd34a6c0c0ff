"""What the driver raises, in our words: what was certainly not done, what may have been, what to try again."""

import asyncio
import contextlib
import random
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import asyncpg

from laconic.errors import Conflict, OutcomeUnknown, Unavailable

T = TypeVar("T")

_ATTEMPTS = 3
_PAUSE_SECONDS = (0.005, 0.05)
# The connection had ended, or was ending, before the statement could be sent. The driver has no class of its
# own for it, and raises the same ones for wrong use; the text tells.
_MAYBE_UNSENT = (asyncpg.InterfaceError, asyncpg.InternalClientError)
_UNSENT = re.compile("is clos|released back|not connected|cannot switch to state")
_LOST_A_RACE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    # A migration changed a table under a prepared statement; the driver forgets the statement and says so.
    asyncpg.InvalidCachedStatementError,
)
# Nothing was done, and another attempt may well succeed.
TRY_AGAIN = (*_LOST_A_RACE, *_MAYBE_UNSENT)
# The server said no, so it did nothing.
_REFUSED = (
    *_LOST_A_RACE,
    asyncpg.InsufficientResourcesError,  # too many connections, no memory, no disk space
    asyncpg.ReadOnlySQLTransactionError,  # a replica, or a primary that was demoted
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.CannotConnectNowError,
)
CONNECTION_LOST = (ConnectionError, asyncpg.PostgresConnectionError)
# Nobody knows what the server did with what it was sent last. (TimeoutError is an OSError.)
_LOST = (
    *CONNECTION_LOST,
    OSError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresSystemError,
    asyncpg.StatementCompletionUnknownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
OUTAGE = (*_LOST, asyncpg.CannotConnectNowError)
CANNOT_CONNECT = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
# No later attempt will go better until a person changes something.
HOPELESS = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
)


@contextlib.contextmanager
def translated(lost: type[Unavailable] = Unavailable) -> Iterator[None]:
    """Turns the driver's exceptions into ours; `lost` is what a connection lost on the way means here."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        raise Conflict(error.constraint_name or "") from error
    except _REFUSED as error:
        raise unavailable(Unavailable, error) from error
    except _LOST as error:
        raise unavailable(lost, error) from error
    except _MAYBE_UNSENT as error:
        if not _UNSENT.search(str(error)):
            raise
        raise unavailable(Unavailable, error) from error


def unavailable(kind: type[Unavailable], error: Exception) -> Unavailable:
    name = type(error).__name__
    if kind is OutcomeUnknown:
        return OutcomeUnknown(
            f"The database was lost while it saved this; it may have been saved or not ({name})."
        )
    return kind(f"The database cannot be used now; nothing was done ({name}).")


async def persistently(attempt: Callable[[], Awaitable[T]], *, reads: bool = False) -> T:
    """Tries again what lost against another transaction, or met a connection that had just ended."""
    worthwhile = (*TRY_AGAIN, *CONNECTION_LOST) if reads else TRY_AGAIN
    for _ in range(_ATTEMPTS - 1):
        try:
            return await attempt()
        except Unavailable as error:
            if not isinstance(error.__cause__, worthwhile):
                raise
        # The winner of a deadlock needs a moment, or the same two meet again.
        await asyncio.sleep(random.uniform(*_PAUSE_SECONDS))  # noqa: S311
    return await attempt()
