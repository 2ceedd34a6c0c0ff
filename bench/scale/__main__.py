"""A deployment on one machine under mixed load: nodes restarted one by one, one killed, PostgreSQL failed over.

Prints what each step cost, and in the end what was lost of what had been answered.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench.scale.deployment import Deployment
from bench.scale.ledger import Watch
from bench.scale.load import Load
from bench.scale.verdict import judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--web-nodes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1, help="how often every node is restarted")
    parser.add_argument("--visitors", type=int, default=8)
    parser.add_argument("--notice-seconds", type=float, default=2.0, help="until the failover manager promotes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="laconic-scale-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        return run(folder, options)


def run(folder: Path, options: argparse.Namespace) -> int:
    deployment = Deployment(folder, web_nodes=options.web_nodes)
    with deployment.running():
        say(f"{options.web_nodes} web nodes and one for upkeep, PostgreSQL with a synchronous standby, Redis Cluster, nginx")
        with Load(deployment.proxy.port, deployment.key, visitors=options.visitors) as load:
            watch = Watch(load.ledger)
            load.wait_for(2_000)
            say(str(watch.end_phase("Nothing happens")))
            for _ in range(options.rounds):
                for node in (*deployment.web, deployment.background):
                    status = node.restart()
                    load.wait_for(200)
                    say(str(watch.end_phase(f"{node.name} restarted (status {status})")))
            victim = deployment.web[0]
            victim.kill()
            load.wait_for(1_000)
            victim.start()
            load.wait_for(200)
            say(str(watch.end_phase(f"{victim.name} killed with -9 and started again")))
            fail_over(deployment, load, watch, options.notice_seconds)
        statuses = deployment.stop_nodes()
        say(f"All nodes stopped, statuses {statuses}")
        verdict = judge(load.ledger, deployment.proxy.repeated(), deployment.postgres.surviving_url())
        for line in verdict.lines():
            say(line)
        return 0 if verdict.is_good and not any(statuses) else 1


def fail_over(deployment: Deployment, load: Load, watch: Watch, notice_seconds: float) -> None:
    deployment.postgres.lose_primary()
    time.sleep(notice_seconds)
    promoted = time.monotonic()
    deployment.postgres.promote()
    took = time.monotonic() - promoted
    load.wait_for(50, "create")
    load.wait_for(50, "edit")
    load.wait_for(200)
    say(f"PostgreSQL: the primary was killed, the standby promoted {notice_seconds:.1f} s later, which took {took:.2f} s")
    say(str(watch.end_phase("Failover")))


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
