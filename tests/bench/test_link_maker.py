"""Links by the million, put into the tables past the program: what is measured with them must be real links."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

from bench import link_maker
from bench.stores import SqliteStore
from laconic.redirect.lookup import Lookup
from laconic.storage.database import Database
from laconic.storage.engines import open_database

LINKS = 3_000


class AnyStore:
    """As much of a store as the maker needs."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder


async def test_made_links_are_found_by_the_redirect(database_url: str, tmp_path: Path) -> None:
    """All of them, each with a code of its own, by turns in the workspaces."""
    store: Any = AnyStore(database_url, tmp_path / "data")
    made = await link_maker.make(store, LINKS, workspaces=3)
    assert made.bytes > LINKS * 50
    database: Database = await open_database(database_url)
    try:
        look_up = Lookup(database)
        for code in link_maker.sample(LINKS, 50):
            row = await look_up(1, code)
            assert row is not None
            assert row.location.startswith("https://example.com/articles/")
        rows = await database.fetch_all("SELECT workspace_id, short_code FROM short_link")
    finally:
        await database.close()
    assert len({code for _, code in rows}) == LINKS
    assert Counter(owner for owner, _ in rows) == dict.fromkeys(link_maker.workspace_ids(3), LINKS // 3)


@pytest.mark.parametrize("lean", [False, True])
async def test_indexes_are_there_again(lean: bool, tmp_path: Path) -> None:
    """All of the schema's, or in a lean one those that redirects and creates need."""
    store = SqliteStore(tmp_path / "data")
    await link_maker.make(store, 100, lean=lean)
    connection = apsw.Connection(str(store.folder / "laconic.db"))
    names = {
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'short_link'"
        )
    }
    connection.close()
    assert "short_link_code_key" in names
    assert ("short_link_list_idx" in names) is not lean


def test_codes_do_not_repeat() -> None:
    """Nor come in order, which would be kind to an index."""
    some = link_maker.codes(0, 200_000)
    assert len(set(some)) == 200_000
    assert some[:1000] != sorted(some[:1000])
    assert json.dumps(some[0]).isascii()
