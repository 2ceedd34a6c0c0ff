"""Each process writes its numbers where the one that is asked for /metrics finds them."""

import asyncio
from collections.abc import Callable
from functools import partial

from laconic.storage.database import Database
from laconic.web.metrics.board import Page
from laconic.web.metrics.gather import tell_links, tell_process, tell_storage
from laconic.wiring import Services

# What a process that is killed has counted since is lost. It takes some 100 us of a second (measured).
_EVERY_SECONDS = 1.0


async def tell_always(tell: Callable[[], None]) -> None:
    """For ever."""
    while True:
        tell()
        await asyncio.sleep(_EVERY_SECONDS)


def telling_of(page: Page, database: Database, services: Services | None = None) -> Callable[[], None]:
    """What a process besides the web workers tells. With `services` it makes links."""
    page.go_on()
    return partial(_tell, page, database, services)


def _tell(page: Page, database: Database, services: Services | None) -> None:
    tell_process(page)
    tell_storage(page, database, services.shared_store if services else None)
    if services is not None:
        tell_links(page, services)
