"""TXT records, from a real name server."""

import pytest

from laconic.errors import CannotFetch
from laconic.outside.names import Names
from tests.outside.name_server import serving_names


async def test_reads_every_record_and_puts_its_pieces_together() -> None:
    """A long record comes in pieces; a name may have several."""
    async with serving_names() as server:
        server.texts["_laconic.brand.example"] = ["v=spf1", "laconic-|verify=1"]
        names = Names(["127.0.0.1"], server.port)
        assert sorted(await names.texts("_laconic.brand.example")) == ["laconic-verify=1", "v=spf1"]


async def test_a_name_without_records_has_none() -> None:
    """Neither an unknown name nor an empty one is an error."""
    async with serving_names() as server:
        server.texts["empty.example"] = []
        names = Names(["127.0.0.1"], server.port)
        assert await names.texts("unknown.example") == []
        assert await names.texts("empty.example") == []


@pytest.mark.parametrize("name", ["a..b.example", "x" * 64 + ".example", "ä" * 300])
async def test_what_is_no_name_is_told_as_such(name: str) -> None:
    """No text from outside makes a stack trace."""
    async with serving_names() as server:
        with pytest.raises(CannotFetch):
            await Names(["127.0.0.1"], server.port).texts(name)
