"""`laconic serve` whose web worker answers without recording clicks: what the journal costs is the difference.

The product has no switch for it. Here the journal is replaced by one that makes no record and writes nothing.
"""

from collections.abc import Callable, Sequence
from unittest import mock

from laconic.cli.main import main
from laconic.clicks.click import Followed
from laconic.clicks.journal import Journal
from laconic.serve import web_worker


class _Forgetting(Journal):
    def write(self, clicks: Sequence[Followed]) -> None:
        pass

    def sync_job(self) -> Callable[[], None] | None:
        return None


if __name__ == "__main__":
    with mock.patch.object(web_worker, "Journal", _Forgetting):
        main()
