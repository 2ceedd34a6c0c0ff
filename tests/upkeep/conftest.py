"""Links, and a database as ingest opens it, on every engine."""

from tests.clicks.conftest import clicks_database, links

__all__ = ["clicks_database", "links"]
