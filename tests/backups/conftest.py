"""Commands on every engine, and a place to restore to."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Laconic, laconic, laconic_at
from tests.conftest import _postgres_database, _sqlite_url

__all__ = ["Laconic", "laconic", "laconic_at"]

_numbers = itertools.count(1)


@pytest.fixture
def elsewhere_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database that no migration has seen, of the same engine."""
    if engine == "sqlite":
        yield _sqlite_url(tmp_path / "elsewhere")
    else:
        yield from _postgres_database(request.getfixturevalue("postgres_server"), template="template0")
