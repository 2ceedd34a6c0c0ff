"""codes stats, codes fill, codes verify, codes jump: the pool of codes that are made ahead of need."""

from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.failures import REFUSED, CommandRefused
from laconic.cli.tables import Column, print_rows

if TYPE_CHECKING:
    from laconic.codes.verify import Findings
    from laconic.wiring import Services

_COLUMNS = (
    Column("Region"),
    Column("Length", "number"),
    Column("Prefix"),
    Column("In the table", "number"),
    Column("In Redis", "number"),
    Column("Counter", "number"),
    Column("Skipped", "number"),
)


@click.group()
@shared_options
def codes() -> None:
    """Look after the codes that are made ahead of need."""


@codes.command()
@shared_options
@pass_call
def stats(call: Call) -> None:
    """Show how many codes are ready, in each region and tier.

    \b
    Examples:
      laconic codes stats
      laconic codes stats --json
    """

    async def work(services: "Services") -> dict[str, Any]:
        return await services.pool.report()

    report = call.run(work)
    if call.json:
        call.show(report)
        return
    marks = report["thresholds"]
    click.echo(
        f"{report['pool_size']:,} codes are ready: {report['status']}"
        f" (kept at {marks['minimum']:,}, low below {marks['low']:,}, critical below {marks['critical']:,})."
    )
    names = ("region", "code_length", "prefix", "durable", "shared", "counter", "skipped")
    print_rows(_COLUMNS, [[_cell(row[name]) for name in names] for row in report["regions"]])


@codes.command()
@shared_options
@pass_call
def fill(call: Call) -> None:
    """Fill the pool up to LACONIC_KGS_POOL_MIN_SIZE now. Servers do it by themselves.

    \b
    Example:
      laconic codes fill
    """

    async def work(services: "Services") -> dict[str, Any]:
        from laconic.upkeep.lease import Lease
        from laconic.wiring import open_filler

        lease = Lease(services.database, services.works.maker.job)
        if not await lease.hold():
            raise CommandRefused("codes_filled_elsewhere", "A running server keeps the pool full.")
        filler = open_filler(services.settings, services.works, lease, services.shared_store)
        try:
            await filler.run_to_rest()
        finally:
            await lease.release()
        return {"made": filler.made, "pool_size": (await services.pool.report())["pool_size"]}

    done = call.run(work)
    call.show(done, f"Made {done['made']:,} codes; {done['pool_size']:,} are ready.")


@codes.command()
@shared_options
@pass_call
def verify(call: Call) -> int:
    """Check every code in the pool, changing nothing. Exit status 1 when something is wrong.

    \b
    Example:
      laconic codes verify
    """

    async def work(services: "Services") -> "Findings":
        from laconic.codes.verify import verify_pool

        return await verify_pool(services.works.store, services.works.maker)

    findings = call.run(work)
    call.show(
        {"checked": findings.checked, "problems": findings.problems},
        *findings.problems,
        f"Checked {findings.checked:,} codes: {'no' if not findings.problems else len(findings.problems)} problems.",
    )
    return REFUSED if findings.problems else 0


@codes.command()
@shared_options
@pass_call
def jump(call: Call) -> None:
    """After a restore that nothing can notice (a snapshot of the disk): go on with codes that nobody can have had.

    The pool is thrown away, and the counter behind the codes jumps by 10^9.

    \b
    Example:
      laconic codes jump
    """

    async def work(services: "Services") -> int:
        maker = services.works.maker
        return await services.works.store.jump(maker.region, maker.length)

    counter = call.run(work)
    call.show({"counter": counter}, f"Codes go on at counter {counter:,}; the pool is made anew.")


def _cell(value: str | int | None) -> str:
    return "" if value is None else str(value)
