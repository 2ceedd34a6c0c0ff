"""Writes down a schema as text that people can read and a test can compare."""

import re
from itertools import groupby

import apsw
import asyncpg

# Monthly partitions depend on the day the migrations run, so they are left out.
_RELATIONS = """
SELECT c.oid, c.relname, obj_description(c.oid, 'pg_class') AS comment, c.relrowsecurity,
    CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END AS kind,
    CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid, true) END AS view,
    array_to_string(c.reloptions, ', ') AS options,
    CASE c.relkind WHEN 'p' THEN 'PARTITION BY ' || pg_get_partkeydef(c.oid) END AS partitioned,
    CASE WHEN c.relispartition THEN 'PARTITION ' || pg_get_expr(c.relpartbound, c.oid) END AS partition
FROM pg_class AS c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
    AND NOT (c.relispartition AND c.relname ~ '_[0-9]{4}_[0-9]{2}$')
ORDER BY kind, c.relname
"""

_COLUMNS = """
SELECT concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
    'COLLATE ' || quote_ident(nullif(l.collname, 'default')),
    CASE WHEN a.attnotnull THEN 'NOT NULL' END,
    CASE a.attidentity WHEN 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END,
    'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
    '-- ' || col_description(a.attrelid, a.attnum))
FROM pg_attribute AS a
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""

# NOT NULL is said with the columns; PostgreSQL 18 lists it among the constraints too.
_CONSTRAINTS = """
SELECT 'CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE conrelid = $1 AND contype IN ('c', 'f', 'p', 'u', 'x') ORDER BY conname
"""

_INDEXES = """
SELECT pg_get_indexdef(i.indexrelid)
FROM pg_index AS i
WHERE i.indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)
ORDER BY 1
"""

_TRIGGERS = """
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal ORDER BY tgname
"""

_POLICIES = """
SELECT concat_ws(' ', 'POLICY', polname, 'FOR',
    CASE polcmd WHEN '*' THEN 'ALL' WHEN 'r' THEN 'SELECT' ELSE polcmd::text END,
    CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
    'USING (' || pg_get_expr(polqual, polrelid) || ')',
    'WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')')
FROM pg_policy WHERE polrelid = $1 ORDER BY polname
"""

_TYPES = """
SELECT t.typname, string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) AS labels
FROM pg_type AS t JOIN pg_enum AS e ON e.enumtypid = t.oid
WHERE t.typnamespace = 'public'::regnamespace GROUP BY t.typname ORDER BY t.typname
"""

# Those of an extension are not ours, and differ from one PostgreSQL to the next.
_FUNCTIONS = """
SELECT pg_get_functiondef(oid) AS definition, obj_description(oid, 'pg_proc') AS comment
FROM pg_proc WHERE pronamespace = 'public'::regnamespace
AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') ORDER BY proname
"""


async def describe_postgres(connection: asyncpg.Connection) -> str:
    """Everything the migrations make, from the catalog."""
    types = [f"type {row['typname']} ({row['labels']})" for row in await connection.fetch(_TYPES)]
    relations = [
        "\n".join(await _describe_relation(connection, row)) for row in await connection.fetch(_RELATIONS)
    ]
    functions = [
        f"-- {row['comment']}\n{row['definition'].rstrip()}" for row in await connection.fetch(_FUNCTIONS)
    ]
    return "\n\n".join(types + relations + functions) + "\n"


async def _describe_relation(connection: asyncpg.Connection, relation: asyncpg.Record) -> list[str]:
    lines = [f"{relation['kind']} {relation['relname']} -- {relation['comment']}"]
    lines += [relation[extra] for extra in ("partitioned", "partition", "options") if relation[extra]]
    if relation["relrowsecurity"]:
        lines.append("ROW LEVEL SECURITY")
    for query in (_COLUMNS, _CONSTRAINTS, _INDEXES, _TRIGGERS, _POLICIES):
        lines += [f"    {row[0]}" for row in await connection.fetch(query, relation["oid"])]
    return lines + ([_unqualified(relation["view"])] if relation["view"] else [])


def _unqualified(view: str) -> str:
    """PostgreSQL 16 and later leave out the table's name where there is only one table."""
    tables = set(re.findall(r"\b(\w+)\.\w", view))
    return view if len(tables) > 1 else re.sub(r"\b\w+\.(?=\w)", "", view)


def describe_sqlite(connection: apsw.Connection) -> str:
    """The statements as SQLite keeps them, each table followed by what hangs on it."""
    rows = connection.execute(
        "SELECT tbl_name, sql FROM sqlite_schema"
        # What FTS5 makes for itself depends on its release.
        " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
        " AND NOT (type = 'table' AND name LIKE 'short~_link~_text~_%' ESCAPE '~')"
        " ORDER BY tbl_name, type = 'table' DESC, type, name"
    ).fetchall()
    tables = groupby(rows, key=lambda row: row[0])
    return "\n\n".join("\n".join(f"{row[1]};" for row in statements) for _, statements in tables) + "\n"
