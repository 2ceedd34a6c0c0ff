"""Clicks that are already counted: rollups as ingest leaves them, without journals."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from datasketches import frequent_strings_sketch

from laconic.clicks.reports.periods import QUARTER
from laconic.clicks.reports.report import DIMENSIONS
from laconic.clock import DAY
from laconic.storage.database import Database, Statements


@dataclass(frozen=True)
class Counted:
    """One click, or several that differ in nothing."""

    link_id: int
    moment: int
    is_bot: bool = False
    visitor: str = "somebody"
    values: dict[str, str] = field(default_factory=dict)
    times: int = 1


async def count(database: Database, clicks: Sequence[Counted], workspace_id: int = 1) -> None:
    """Writes what ingest would write of these clicks. `database` was opened with writes="clicks"."""

    async def work(statements: Statements) -> None:
        for table, columns, rows in _tables(clicks, workspace_id):
            await statements.insert_many(table, columns, rows)

    await database.transaction(work)


def _tables(clicks: Sequence[Counted], workspace_id: int) -> list[tuple[str, tuple[str, ...], list[Any]]]:
    counts: dict[str, Counter[Any]] = defaultdict(Counter)
    bots: dict[str, Counter[Any]] = defaultdict(Counter)
    visitors: dict[Any, set[str]] = defaultdict(set)
    sketches: dict[int, Any] = defaultdict(lambda: frequent_strings_sketch(10))
    for click in clicks:
        day, quarter = click.moment // DAY, click.moment - click.moment % QUARTER
        keys: list[tuple[str, Any]] = [
            ("click_quarter", (click.link_id, quarter)),
            ("workspace_quarter", (quarter,)),
            ("link_total", (click.link_id,)),
        ]
        for dimension in DIMENSIONS:
            value = click.values.get(dimension, "")
            keys.append(("click_daily", (click.link_id, dimension, day, value)))
            keys.append(("workspace_daily", (dimension, day, value)))
        for table, key in keys:
            counts[table][key] += click.times
            bots[table][key] += click.times if click.is_bot else 0
        if not click.is_bot:
            visitors["link", click.link_id, day].add(click.visitor)
            visitors["workspace", workspace_id, day].add(click.visitor)
        sketches[day].update(str(click.link_id), click.times)
    names: dict[str, tuple[str, ...]] = {
        "click_quarter": ("link_id", "quarter"),
        "workspace_quarter": ("quarter",),
        "link_total": ("link_id",),
        "click_daily": ("link_id", "dimension", "day", "value"),
        "workspace_daily": ("dimension", "day", "value"),
    }
    tables: list[tuple[str, tuple[str, ...], list[Any]]] = [
        (
            table,
            ("workspace_id", *columns, "clicks", "bot_clicks"),
            [(workspace_id, *key, clicks, bots[table][key]) for key, clicks in counts[table].items()],
        )
        for table, columns in names.items()
    ]
    unique = [(*key[:2], workspace_id, key[2], b"", len(some)) for key, some in visitors.items()]
    tables.append(
        ("click_unique", ("scope", "scope_id", "workspace_id", "day", "sketch", "visitors"), unique)
    )
    top = [(workspace_id, day, sketch.serialize()) for day, sketch in sketches.items()]
    tables.append(("workspace_top", ("workspace_id", "day", "sketch"), top))
    return tables
