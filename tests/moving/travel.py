"""Exporting from, and importing into, open services."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from laconic.clicks.enrich import Enricher
from laconic.clicks.moved.add import MovedClicks
from laconic.links.adopted.adopt import LinkAdopter
from laconic.moving.bring import Importer, Plan
from laconic.moving.export import Choice, Exporter
from laconic.moving.report import Report
from laconic.moving.resume import Written
from laconic.moving.sources.opening import open_source
from laconic.storage.engines import open_database
from laconic.wiring import Services

WORKSPACE = 1


async def imported(services: Services, file: Path) -> Report:
    settings = services.settings
    source = await open_source(str(file))
    clicks_database = await open_database(settings.effective_database_url, writes="clicks")
    try:
        clicks = MovedClicks(
            clicks_database,
            WORKSPACE,
            source.name,
            lambda: Enricher.from_settings("truncate", ""),
            retention=settings.click_retention,
        )
        adopter = LinkAdopter(services.database, services.targets)
        return await Importer(adopter, clicks, services.directory, Plan(WORKSPACE), Report()).run(source)
    finally:
        await clicks_database.close()
        await source.close()


async def exported(services: Services) -> list[str]:
    workspace = await services.workspaces.find_slug("default")
    assert workspace is not None
    exporter = Exporter(services.database, services.directory, source="here", version="0")
    return [text async for text in exporter.lines(workspace, Choice(), Written())]


def less_ids(texts: Iterable[str]) -> list[Any]:
    """Lines without the head, and without the ids of clicks; the order of keys counts."""
    records = [json.loads(line) for text in texts for line in text.split("\n") if line]
    return [
        [(key, _plain(key, value)) for key, value in record.items() if key != "id"]
        for record in records
        if record["record"] != "export"
    ]


def _plain(key: str, value: Any) -> Any:
    """PostgreSQL orders the keys of metadata in its own way; a sketch lists its visitors in the order they came."""
    if key == "visitors" and value is not None:
        return sorted(base64.b64decode(value))
    return json.dumps(value, sort_keys=True)
