"""reap: cleaning by hand."""

import asyncio

from laconic import clock
from laconic.clock import HOUR
from laconic.storage.engines import open_database
from tests.cli.conftest import Laconic


async def _expire_all(url: str) -> None:
    database = await open_database(url)
    await database.execute("UPDATE short_link SET expires_at = $1", clock.now() - 2 * HOUR)
    await database.close()


def test_a_dry_run_counts_and_a_run_does_it(laconic: Laconic, migrated_url: str) -> None:
    laconic("shorten", "https://example.com/")
    asyncio.run(_expire_all(migrated_url))
    for _ in range(2):
        assert laconic("reap", "--dry-run", "--json").json() == {"retired": 1, "blanked": 0, "removed": 0}
    assert laconic("reap", "--dry-run").out.splitlines()[0] == "1 expired links would be retired."
    done = laconic("reap", "--json").json()
    assert (done["retired"], done["blanked"], done["removed"], done["is_complete"]) == (1, 0, 0, True)
    assert laconic("reap").out.splitlines()[0] == "0 expired links retired."
