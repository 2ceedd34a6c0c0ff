"""The SQL of leases: which process does a job that only one may do. The time is the database's."""

from laconic.errors import Unavailable
from laconic.storage.database import Statements


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
    """The next one need not wait. The row stays: its token must go on growing."""
    await statements.execute(
        "UPDATE job_lease SET expires_at = $3 WHERE name = $1 AND token = $2",
        name,
        token,
        await _moment(statements),
    )


async def _moment(statements: Statements) -> int:
    row = await statements.fetch_one("SELECT clock_timestamp()")
    if row is None:
        raise Unavailable("The database does not tell the time.")
    return int(row[0])
