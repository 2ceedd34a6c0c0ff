"""What a look at the whole pool finds."""

import pytest

from laconic.codes import verify
from laconic.codes.alphabet import decode
from laconic.codes.verify import verify_pool
from laconic.storage.database import Database
from tests.codes.works import Works

COUNT_IS_WRONG = "100 unused codes are counted, {} are there"


async def filled(database: Database, *, prefix: str = "") -> tuple[Works, list[str]]:
    """A pool of a hundred codes."""
    works = await Works.open(database, prefix=prefix)
    await works.filler().run_to_rest()
    codes = await works.store.unused_page("default", "", 10_000)
    await database.execute("DELETE FROM kgs_keys WHERE short_code > $1", codes[99])
    await database.execute("UPDATE kgs_range SET taken = pooled - 100")
    return works, codes[:100]


async def put(database: Database, *codes: str) -> None:
    await database.insert_many(
        "kgs_keys", ("short_code", "region", "created_at"), [(code, "default", 0) for code in codes]
    )


@pytest.mark.parametrize(("page", "prefix"), [(7, "e"), (100, "")])
async def test_a_sound_pool_is_read_whole(
    database: Database, monkeypatch: pytest.MonkeyPatch, page: int, prefix: str
) -> None:
    """Each code once, whatever the size of a page, and nothing is wrong with it."""
    monkeypatch.setattr(verify, "_PAGE", page)
    works, _ = await filled(database, prefix=prefix)
    findings = await verify_pool(works.store, works.maker)
    assert (findings.checked, findings.problems) == (100, [])


async def test_codes_that_this_region_does_not_make(database: Database) -> None:
    """Of another length, with another first character, or with a character that no code has."""
    works, _ = await filled(database, prefix="e")
    await put(database, "eabcdefg", "eabcde", "fabcdef", "eabc-ef")
    findings = await verify_pool(works.store, works.maker)
    assert findings.checked == 104
    assert findings.problems == [
        "4 codes in the pool have another length or first character than this region's",
        COUNT_IS_WRONG.format(104),
    ]


async def test_codes_that_nobody_wants(database: Database) -> None:
    """They would be given out, and read. Its counter is one that the cursor has come to."""
    works, _ = await filled(database)
    await database.execute("UPDATE kgs_range SET next = $1", 62**7)
    await put(database, "aFuckb3", "1abcdel")
    findings = await verify_pool(works.store, works.maker)
    assert findings.problems == [
        "2 codes in the pool are words or look-alikes that the filter leaves out",
        COUNT_IS_WRONG.format(102),
    ]


async def test_the_cursor_must_have_come_to_every_code(database: Database) -> None:
    """One that it will come to again would be given out twice."""
    works, codes = await filled(database)
    furthest = max(works.maker.permutation.invert(decode(code)) for code in codes)
    await database.execute("UPDATE kgs_range SET next = $1", furthest + 1)
    assert (await verify_pool(works.store, works.maker)).problems == []
    await database.execute("UPDATE kgs_range SET next = $1", furthest)
    assert (await verify_pool(works.store, works.maker)).problems == [
        "the cursor has not come to a code in the pool: was the database put back?"
    ]


async def test_an_empty_pool_is_sound(database: Database) -> None:
    """Before the first fill there is no code that the cursor could have missed."""
    works = await Works.open(database)
    findings = await verify_pool(works.store, works.maker)
    assert (findings.checked, findings.problems) == (0, [])
