"""An export that was cut off and gone on with is the one that nobody disturbed."""

import io
import json
from pathlib import Path

from laconic.moving.export import Choice, Exporter
from laconic.moving.resume import Written, read_beginning
from laconic.settings import Settings
from laconic.wiring import open_services
from tests.moving.shorteners import clicked_yourls
from tests.moving.travel import imported


async def test_wherever_it_is_cut(migrated_url: str, tmp_path: Path) -> None:
    """At the end of any line and within it; lines that were lost with the power are as good as missing."""
    async with open_services(Settings(database_url=migrated_url), pooled=False) as services:
        await imported(services, clicked_yourls(tmp_path / "clicked.db", 5, 12))
        workspace = await services.workspaces.find_slug("default")
        assert workspace is not None
        exporter = Exporter(services.database, services.directory, source="here", version="0")
        lines = [text async for text in exporter.lines(workspace, Choice(), Written())]
        whole = "".join(lines).encode()
        ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
        assert len(ends) > 5 + 12 + 8
        for size, lost in ((end + more, b"\0" * 99 * (not more)) for end in ends for more in (0, 25)):
            beginning = read_beginning(io.BytesIO(whole[:size] + lost))
            assert beginning is not None
            so_far = beginning.written
            rest = [text async for text in exporter.lines(workspace, Choice(), so_far, beginning)]
            assert whole[: beginning.size] + "".join(rest).encode() == whole, size
            assert json.loads(whole[ends[-2] :])["clicks"] == so_far.clicks == 12


def test_without_a_first_line_there_is_nothing_to_go_on_with() -> None:
    """An empty file, half a line, another file."""
    for content in (b"", b'{"record":"export"', b'{"record":"link"}\n', b"\x80\n", b"[]\n"):
        assert read_beginning(io.BytesIO(content)) is None
