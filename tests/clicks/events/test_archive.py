"""A month of raw clicks as one compressed file."""

import gzip
import json
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from laconic.clicks.events.archive import Archive
from laconic.clicks.events.model import ClickEvent, Place
from laconic.clicks.events.store import EventStore
from laconic.clock import DAY
from laconic.errors import Unavailable
from laconic.storage.database import Database
from laconic.storage.months import begin_of, month_from_name
from tests.clicks.raw_events import VISITOR, event

DECEMBER = month_from_name("2025-12")
Keep = Callable[..., Awaitable[None]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def archive(event_store: EventStore, folder: Path) -> Archive:
    """With pages so small that a month takes several."""
    return Archive(event_store, folder, page=7)


def clicks_of(link_ids: tuple[int, ...], month: int = DECEMBER, count: int = 40) -> list[dict[str, Any]]:
    """From the first moment of the month to the last; three of each moment."""
    last = begin_of(month + 1) - 1
    moments = [min(begin_of(month) + number // 3 * 3 * DAY, last) for number in range(count)]
    return [event(link_ids[number % len(link_ids)], moment) for number, moment in enumerate(moments)]


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def leave_half(folder: Path) -> None:
    """As a run that was killed does."""
    folder.mkdir()
    (folder / ".clicks-2025-12.ndjson.gz").write_bytes(b"half of a file" * 1_000)


def ids_in(path: Path) -> list[int]:
    return [int(json.loads(line)["id"]) for line in gzip.decompress(path.read_bytes()).splitlines()]


def in_order(clicks: list[dict[str, Any]]) -> list[int]:
    return [one["id"] for one in sorted(clicks, key=lambda one: (one["clicked_at"], one["id"]))]


async def test_holds_every_click_of_the_month_once_oldest_first(
    archive: Archive, keep: Keep, links: tuple[int, ...], folder: Path
) -> None:
    """Of all links, page by page, and none of the neighbouring months; nobody else may read the file."""
    clicks = clicks_of(links)
    await keep(*clicks, event(links[0], begin_of(DECEMBER) - 1), event(links[0], begin_of(DECEMBER + 1)))
    path = await archive.write(DECEMBER)
    assert path == folder / "clicks-2025-12.ndjson.gz"
    assert ids_in(path) == in_order(clicks)
    assert files_in(folder) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_line_tells_all_that_was_kept(archive: Archive, keep: Keep, links: tuple[int, ...]) -> None:
    """Also whose it was and under which code: an archive is read without the database."""
    one = event(links[1], begin_of(DECEMBER))
    await keep(one)
    path = await archive.write(DECEMBER)
    assert path is not None
    assert json.loads(gzip.decompress(path.read_bytes())) == {
        "workspace_id": "1",
        "short_link_id": str(links[1]),
        "id": str(one["id"]),
        "short_code": f"code{links[1]}",
        "clicked_at": "2025-12-01T00:00:00Z",
        "visitor": VISITOR.hex(),
        **{name: one[name] for name in ("ip_address", "user_agent", "referer", "country", "city")},
        **{name: one[name] for name in ("device_type", "browser", "os", "language")},
    }


async def test_a_month_without_clicks_makes_no_file(
    archive: Archive, folder: Path, database: Database
) -> None:
    """Whether or not it has room of its own."""
    await database.prepare_months(DECEMBER, 1)
    assert await archive.write(DECEMBER) is None
    assert files_in(folder) == []


async def test_what_comes_later_gets_a_file_of_its_own(
    archive: Archive, keep: Keep, links: tuple[int, ...], database: Database
) -> None:
    """An archive that is there is never written to again."""
    clicks, late = clicks_of(links), event(links[0], begin_of(DECEMBER))
    await keep(*clicks)
    first = await archive.write(DECEMBER)
    await database.drop_events(DECEMBER)
    await keep(late)
    second = await archive.write(DECEMBER)
    assert first is not None
    assert second is not None
    assert second.name == "clicks-2025-12-2.ndjson.gz"
    assert ids_in(first) == in_order(clicks)
    assert ids_in(second) == [late["id"]]


async def test_the_same_clicks_are_not_archived_twice(
    archive: Archive, keep: Keep, links: tuple[int, ...], folder: Path
) -> None:
    """A run that was killed before it dropped the month is repeated."""
    await keep(*clicks_of(links))
    leave_half(folder)
    first = await archive.write(DECEMBER)
    assert await archive.write(DECEMBER) == first
    assert files_in(folder) == [first]


async def test_a_click_that_comes_meanwhile_spoils_the_file(
    database: Database, keep: Keep, links: tuple[int, ...], folder: Path
) -> None:
    """Else it would be dropped without being archived. The next try has it."""

    class Store(EventStore):
        is_late = True

        async def page_of_all(
            self, month: int, behind: Place, limit: int
        ) -> list[tuple[int, str | None, ClickEvent]]:
            page = await super().page_of_all(month, behind, limit)
            if self.is_late and not page:
                self.is_late = False
                await keep(event(links[0], begin_of(DECEMBER)))
            return page

    await keep(*clicks_of(links))
    archive = Archive(Store(database), folder)
    with pytest.raises(Unavailable, match="while it was archived"):
        await archive.write(DECEMBER)
    assert files_in(folder) == []
    path = await archive.write(DECEMBER)
    assert path is not None
    assert len(ids_in(path)) == 41
