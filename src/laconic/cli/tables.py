"""Rows for people: a table on a terminal, tab-separated lines for other programs."""

import sys
from collections.abc import Sequence
from typing import Literal, NamedTuple

import click

from laconic.cli.failures import visible

_GAP = 2
_LEAST_TEXT = 8


class Column(NamedTuple):
    """On a terminal `text` gives way where it is narrow, and a `moment` is cut to its day."""

    heading: str
    kind: Literal["word", "text", "number", "moment"] = "word"


def print_rows(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """A terminal shows no column that is empty from top to bottom; programs can count on all of them."""
    shown = [[visible(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in shown:
            click.echo("\t".join(row))
    elif shown:
        used = [index for index in range(len(columns)) if any(row[index] for row in shown)]
        cells = [[_short(row[index], columns[index].kind) for index in used] for row in shown]
        _print_table([columns[index] for index in used], cells)


def _print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    widths = _widths(columns, rows, Console().width)
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for column, width in zip(columns, widths, strict=True):
        justify: Literal["right", "left"] = "right" if column.kind == "number" else "left"
        table.add_column(column.heading, justify=justify, no_wrap=True, overflow="ellipsis", width=width)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A terminal too narrow even so wraps the lines itself; nothing is hidden.
    Console(width=sum(widths) + _GAP * (len(widths) - 1)).print(table, soft_wrap=True)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """As wide as the widest cell, but texts share what the other columns leave."""
    widths = [
        max(len(column.heading), *(len(row[index]) for row in rows)) for index, column in enumerate(columns)
    ]
    texts = [index for index, column in enumerate(columns) if column.kind == "text"]
    while sum(widths) + _GAP * (len(widths) - 1) > room:
        widest = max(texts, key=lambda index: widths[index], default=None)
        if widest is None or widths[widest] <= _LEAST_TEXT:
            break
        widths[widest] -= 1
    return widths


def _short(cell: str, kind: str) -> str:
    return cell[:10] if kind == "moment" else cell
