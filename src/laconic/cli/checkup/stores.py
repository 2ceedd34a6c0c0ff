"""What Laconic keeps its data in: database, Redis, backups."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from laconic.backups.notes import read_notes
from laconic.clock import DAY, now, to_rfc3339
from laconic.errors import LaconicError
from laconic.settings import Settings
from laconic.storage.engines import examine, open_shared_store, schema_status
from laconic.storage.examine import Finding

_EVICTS_WHAT_ENDS = "volatile-"


async def look_at_database(settings: Settings) -> list[Finding]:
    try:
        schema = await schema_status(settings.owner_database_url)
        if not schema.applied:
            text = "there is no database yet"
            return [Finding("database", "warning", text, "`laconic serve` or `laconic db migrate` makes it.")]
        findings = [_schema(schema.applied, schema.known)]
        tenant_url = settings.effective_database_url if settings.database_owner_url else ""
        return findings + await examine(settings.owner_database_url, tenant_url)
    except LaconicError as error:
        remedy = "Is the server started, and LACONIC_DATABASE_URL right?"
        return [Finding("database", "problem", str(error), remedy)]


def _schema(applied: int, known: int) -> Finding:
    text = f"schema version {applied} of {known}"
    if applied < known:
        return Finding("schema", "warning", text, "`laconic db migrate`, or start the server, which does it.")
    if applied > known:
        return Finding("schema", "problem", text, "Start the release that made it, or a later one.")
    return Finding("schema", "ok", text)


async def look_at_redis(settings: Settings) -> list[Finding]:
    store = open_shared_store(settings.redis_url)
    if store is None:
        return []
    try:
        return list(_redis_memory(await store.memory()))
    except LaconicError as error:
        remedy = "Everything goes on without it, more slowly. Start it, or correct LACONIC_REDIS_URL."
        return [Finding("redis", "problem", f"Redis does not answer: {error}", remedy)]
    finally:
        await store.close()


def _redis_memory(said: dict[str, Any]) -> Iterator[Finding]:
    policy, limit = str(said.get("maxmemory_policy", "")), int(said.get("maxmemory", 0))
    if not limit:
        remedy = "Set maxmemory in redis.conf, so that Redis never takes what the machine needs."
        yield Finding("redis_memory", "warning", "Redis has no limit of memory", remedy)
    if policy.startswith(_EVICTS_WHAT_ENDS):
        yield Finding("redis_policy", "ok", f"maxmemory-policy {policy}")
    elif policy == "noeviction":
        remedy = "Set maxmemory-policy volatile-lru: otherwise a full Redis takes no new links."
        yield Finding("redis_policy", "warning", "maxmemory-policy noeviction", remedy)
    else:
        remedy = "Set maxmemory-policy volatile-lru: this one may throw the pool of codes away, which is then refilled."
        yield Finding("redis_policy", "warning", f"maxmemory-policy {policy}", remedy)


def look_at_backups(settings: Settings) -> Iterator[Finding]:
    notes = read_notes(settings.data_folder)
    if notes.problems:
        remedy = "Stop the server, keep a copy of the data, and restore the last backup (`laconic restore`)."
        yield Finding("last_check", "problem", "; ".join(notes.problems), remedy)
    elif notes.checked_at:
        yield Finding("last_check", "ok", f"the check of {to_rfc3339(notes.checked_at)} found nothing wrong")
    if not settings.backup_dir:
        remedy = "Name a folder in LACONIC_BACKUP_DIR, or run `laconic backup` by a timer of your own."
        yield Finding("backups", "warning", "no backups are made by the clock", remedy)
    elif notes.backup_error:
        remedy = (
            f"Look at {Path(settings.backup_dir).resolve()}: room, owner, mode. `laconic backup` tells more."
        )
        yield Finding("backups", "problem", f"the last backup failed: {notes.backup_error}", remedy)
    elif now() - notes.backed_up_at > settings.backup_interval + DAY:
        when = to_rfc3339(notes.backed_up_at) if notes.backed_up_at else "never"
        remedy = "Does the background process run (--role all or background), on this machine?"
        yield Finding("backups", "warning", f"the last backup: {when}", remedy)
    else:
        yield Finding("backups", "ok", f"the last backup: {notes.backup}")
