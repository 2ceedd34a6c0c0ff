"""The SQL of leases (which process does a job that only one may do) and of cleanup runs. The time is the database's."""

from laconic.errors import Unavailable
from laconic.storage.database import Row, Statements

_LONG_AGO = 0


async def take_lease(statements: Statements, name: str, holder: str, duration: int) -> int | None:
    """The token of the new holder, or None while another holds it.

    Should it wait here for another taker, it judges by a time that has passed: it is too careful, never too bold.
    """
    moment = await _moment(statements)
    row = await statements.fetch_one(
        "INSERT INTO job_lease (name, holder, token, expires_at) VALUES ($1, $2, 1, $3)"
        " ON CONFLICT (name) DO UPDATE"
        " SET holder = excluded.holder, token = job_lease.token + 1, expires_at = excluded.expires_at"
        " WHERE job_lease.expires_at <= $4 RETURNING token",
        name,
        holder,
        moment + duration,
        moment,
    )
    return None if row is None else int(row[0])


async def extend_lease(statements: Statements, name: str, token: int, duration: int) -> bool:
    """False when another has taken it. The row stays locked until the transaction ends: nobody takes it meanwhile."""
    moment = await _moment(statements)
    extended = await statements.execute(
        "UPDATE job_lease SET expires_at = $3 WHERE name = $1 AND token = $2", name, token, moment + duration
    )
    return extended == 1


async def end_lease(statements: Statements, name: str, token: int) -> None:
    """The next one need not wait, not even where the clock is set back. The row stays: its token must go on growing."""
    await statements.execute(
        "UPDATE job_lease SET expires_at = $3 WHERE name = $1 AND token = $2", name, token, _LONG_AGO
    )


async def _moment(statements: Statements) -> int:
    row = await statements.fetch_one("SELECT clock_timestamp()")
    if row is None:
        raise Unavailable("The database does not tell the time.")
    return int(row[0])


async def database_moment(statements: Statements) -> int:
    """What several machines must agree on is judged by this clock."""
    return await _moment(statements)


# Runs of the reaper.


async def insert_run(statements: Statements, run_id: int, moment: int) -> None:
    """A run that never ended, because its process died, has failed: only one runs at a time."""
    await statements.execute(
        "UPDATE cleanup_run SET finished_at = $1, error = $2 WHERE finished_at IS NULL",
        moment,
        "The process ended before the run did.",
    )
    await statements.execute("INSERT INTO cleanup_run (id, started_at) VALUES ($1, $2)", run_id, moment)


async def add_to_run(statements: Statements, run_id: int, *, retired: int = 0, blanked: int = 0) -> None:
    """In the transaction of the step, so that the figures are those of what was done."""
    await statements.execute(
        "UPDATE cleanup_run SET retired = retired + $2, blanked = blanked + $3, last_batch = $4 WHERE id = $1",
        run_id,
        retired,
        blanked,
        retired + blanked,
    )


async def end_run(statements: Statements, run_id: int, removed: int, error: str | None) -> None:
    await statements.execute(
        "UPDATE cleanup_run SET finished_at = $2, removed = $3, error = $4 WHERE id = $1 AND finished_at IS NULL",
        run_id,
        await _moment(statements),
        removed,
        error,
    )


async def last_start(statements: Statements) -> int | None:
    """When the last run began, whichever process did it."""
    row = await statements.fetch_one("SELECT max(started_at) FROM cleanup_run")
    return None if row is None or row[0] is None else int(row[0])


async def read_runs(statements: Statements, limit: int | None = None) -> list[Row]:
    """One row a run: started_at, finished_at, retired, blanked, removed, last_batch, error; the newest first."""
    return await statements.fetch_all(
        "SELECT started_at, finished_at, retired, blanked, removed, last_batch, error FROM cleanup_run"
        f" ORDER BY started_at DESC, id DESC{'' if limit is None else f' LIMIT {limit:d}'}"
    )


async def is_leased(statements: Statements, name: str) -> bool:
    row = await statements.fetch_one(
        "SELECT 1 FROM job_lease WHERE name = $1 AND expires_at > $2", name, await _moment(statements)
    )
    return row is not None
