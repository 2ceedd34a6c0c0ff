"""secrets rotate: a new secret for forms and sign-in, the same one behind the codes."""

import asyncio

from laconic.codes.store import CodeStore
from laconic.storage.engines import open_database
from tests.cli.conftest import Laconic


async def _read(url: str) -> tuple[bytes, bytes]:
    database = await open_database(url)
    try:
        store = CodeStore(database)
        return await store.permutation_secret(), await store.signing_secret()
    finally:
        await database.close()


def test_only_what_may_change_changes(laconic: Laconic, migrated_url: str) -> None:
    """With another permutation a forgotten code could be given again."""
    laconic("shorten", "https://example.com/")
    codes, forms = asyncio.run(_read(migrated_url))
    done = laconic("secrets", "rotate", "--sessions", "--visitors", "--json").json()
    assert done == {"rotated": ["signing"], "workspaces_signed_out": 1, "salts_forgotten": 0}
    codes_after, forms_after = asyncio.run(_read(migrated_url))
    assert codes_after == codes
    assert forms_after != forms
    assert codes != forms
