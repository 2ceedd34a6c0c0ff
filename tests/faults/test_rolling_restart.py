"""All nodes of a deployment restarted one by one under load, behind the shipped nginx configuration.

The first is the short one; the second goes on to kill a node and to fail PostgreSQL over. Both start a dozen servers, so
both belong to `make faults`; what a stopping node owes its clients is in tests/serve, and in `make test`.
"""

from pathlib import Path

import pytest

from bench.scale.deployment import Deployment
from bench.scale.load import Load
from bench.scale.story import restart_all, tell
from bench.scale.verdict import judge


@pytest.mark.long
def test_rolling_restart_fails_no_request_and_loses_no_click(tmp_path: Path, fresh_postgres_url: str) -> None:
    """Redirects, creates and edits go on without a single failure, and every redirect that was answered is counted."""
    deployment = Deployment(tmp_path, fresh_postgres_url, web_nodes=2)
    with deployment.running():
        with Load(deployment.proxy.port, deployment.key, visitors=4, creators=1, pause_seconds=0.03) as load:
            load.wait_for(100)
            statuses = restart_all(deployment, load)
        statuses += deployment.stop_nodes()
        verdict = judge(load.ledger, deployment.proxy.repeated(), fresh_postgres_url)
    assert load.ledger.failures == []
    assert verdict.is_good, verdict.lines()
    assert not any(statuses)
    assert verdict.created
    assert verdict.edits


@pytest.mark.long
def test_a_deployment_survives_restarts_a_kill_and_a_failover(tmp_path: Path) -> None:
    """Rolling restarts fail nothing. A kill and a failover may refuse, and lose nothing that was answered: there is a
    synchronous standby."""
    outcome = tell(tmp_path, print, rounds=5)
    for name, phase in outcome.phases.items():
        if "restart" in name:
            assert phase.failures == [], name
    assert outcome.verdict.is_good, outcome.verdict.lines()
    assert not any(outcome.statuses)
