"""Reads the migrations and says which ones a database still needs. The engines run them.

A migration is a file `migrations/<folder>/NNNN_what_it_does.sql`. It is never edited after a release, and
it neither begins nor commits: the engine runs it and writes its row of `schema_version` in one transaction.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import starmap

from laconic.errors import DatabaseTooNew

_FILE_NAME = re.compile(r"(?P<number>[0-9]{4})_(?P<name>[a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str


def read_migrations(folder: str) -> list[Migration]:
    """All migrations of one folder of the package, in order."""
    sources = files("laconic.storage").joinpath("migrations", folder).iterdir()
    return parse_migrations({source.name: source.read_text(encoding="utf-8") for source in sources})


def parse_migrations(texts: Mapping[str, str]) -> list[Migration]:
    """From file names and their SQL. A gap or a stray file is a fault of the package, not of its user."""
    migrations = sorted(starmap(_parse, texts.items()), key=lambda migration: migration.number)
    numbers = [migration.number for migration in migrations]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"Migrations must be numbered 1, 2, 3 ...; these are {numbers}: {sorted(texts)}.")
    return migrations


def _parse(file_name: str, sql: str) -> Migration:
    match = _FILE_NAME.fullmatch(file_name)
    if match is None:
        raise ValueError(f"{file_name!r} is no migration: the name must look like 0001_what_it_does.sql.")
    return Migration(int(match["number"]), match["name"], sql)


def choose_pending(known: Sequence[Migration], applied: int) -> list[Migration]:
    """What has to be run on a database whose last migration is `applied` (0: an empty one)."""
    newest = known[-1].number if known else 0
    if applied > newest:
        raise DatabaseTooNew(
            f"The database has schema version {applied}, but this release of Laconic knows versions up to"
            f" {newest}. Start the newer release that made it, or restore a backup from before the upgrade."
        )
    return [migration for migration in known if migration.number > applied]
