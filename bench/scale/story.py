"""What is done to a deployment under load, and what is to be said of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.scale.deployment import Deployment, whole_deployment
from bench.scale.ledger import Phase, Watch
from bench.scale.load import Load
from bench.scale.postgres_pair import PostgresPair
from bench.scale.verdict import Verdict, judge

Say = Callable[[str], None]
_REST = 200


@dataclass
class Outcome:
    verdict: Verdict
    statuses: list[int]
    phases: dict[str, Phase] = field(default_factory=dict)


def restart_all(deployment: Deployment, load: Load) -> list[int]:
    """One node after the other, each back before the next. Their exit statuses."""
    statuses = []
    for node in (*deployment.web, deployment.background):
        statuses.append(node.restart())
        load.wait_for(_REST)
    return statuses


def kill_one(deployment: Deployment, load: Load) -> None:
    victim = deployment.web[0]
    victim.kill()
    load.wait_for(5 * _REST)
    victim.start()
    load.wait_for(_REST)


def fail_over(postgres: PostgresPair, load: Load, notice_seconds: float) -> None:
    """`notice_seconds`: what a failover manager takes to be sure."""
    postgres.lose_primary()
    time.sleep(notice_seconds)
    postgres.promote()
    for kind in ("create", "edit"):
        load.wait_for(20, kind)
    load.wait_for(_REST)


def tell(
    folder: Path,
    say: Say,
    *,
    web_nodes: int = 3,
    rounds: int = 1,
    visitors: int = 8,
    notice_seconds: float = 2.0,
) -> Outcome:
    """The whole story, from a start to an orderly end."""
    with whole_deployment(folder, web_nodes=web_nodes) as (deployment, postgres):
        say(
            f"{web_nodes} web nodes, one for upkeep, PostgreSQL with a synchronous standby, Redis Cluster of 3, nginx"
        )
        phases = {}
        with Load(deployment.proxy.port, deployment.key, visitors=visitors) as load:
            watch = Watch(load.ledger)

            def end(name: str) -> None:
                phases[name] = watch.end_phase(name)
                say(str(phases[name]))

            load.wait_for(10 * _REST)
            end("nothing happens")
            statuses = []
            for number in range(1, rounds + 1):
                statuses += restart_all(deployment, load)
                end(f"rolling restart {number}")
            kill_one(deployment, load)
            end("a node killed with -9 and started again")
            fail_over(postgres, load, notice_seconds)
            end(f"the primary killed, the standby promoted {notice_seconds:.1f} s later")
        statuses += deployment.stop_nodes()
        verdict = judge(load.ledger, deployment.proxy.repeated(), postgres.surviving_url())
        return Outcome(verdict, statuses, phases)
