-- Makes rollups that reports can read at the same cost whatever the history. Previous release beside it: there is none.

-- Nothing wrote to these before; days become whole numbers, as PostgreSQL's dates are for the program.
DROP TABLE click_daily;
DROP TABLE click_unique;


CREATE TABLE click_daily (
    -- Clicks by link, UTC day and one property of the click.
    link_id       INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL,
    -- Days since 1970-01-01, UTC.
    day           INTEGER NOT NULL,
    -- country, city, device_type, browser, os, referer or language.
    dimension     TEXT NOT NULL,
    -- Such as DE; empty when unknown.
    value         TEXT NOT NULL,
    -- Bots included.
    clicks        INTEGER NOT NULL DEFAULT 0,
    bot_clicks    INTEGER NOT NULL DEFAULT 0,
    -- A report reads one dimension over many days: they lie side by side.
    PRIMARY KEY (link_id, dimension, day, value)
) STRICT, WITHOUT ROWID;


CREATE TABLE workspace_quarter (
    -- The same as click_quarter, of all links of a workspace.
    workspace_id  INTEGER NOT NULL,
    quarter       INTEGER NOT NULL,
    clicks        INTEGER NOT NULL DEFAULT 0,
    bot_clicks    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, quarter)
) STRICT, WITHOUT ROWID;


CREATE TABLE workspace_daily (
    -- The same as click_daily, of all links of a workspace.
    workspace_id  INTEGER NOT NULL,
    day           INTEGER NOT NULL,
    dimension     TEXT NOT NULL,
    value         TEXT NOT NULL,
    clicks        INTEGER NOT NULL DEFAULT 0,
    bot_clicks    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, dimension, day, value)
) STRICT, WITHOUT ROWID;


CREATE TABLE workspace_top (
    -- Sketches of the most followed links of a workspace and a day: which ones, within bounds. How often, the
    -- rollups of those links say.
    workspace_id  INTEGER NOT NULL,
    day           INTEGER NOT NULL,
    sketch        BLOB NOT NULL,
    PRIMARY KEY (workspace_id, day)
) STRICT;


CREATE TABLE click_unique (
    -- Sketches that estimate the different people of a day, of a link or a whole workspace. Bots are not in them.
    scope         TEXT NOT NULL CHECK (scope IN ('link', 'workspace')),
    scope_id      INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL,
    day           INTEGER NOT NULL,
    -- A mergeable sketch; no visitor can be read out of it.
    sketch        BLOB NOT NULL,
    -- What it estimates, so that reports need not open it.
    visitors      INTEGER NOT NULL,
    PRIMARY KEY (scope, scope_id, day)
) STRICT, WITHOUT ROWID;


CREATE TABLE workspace_total (
    -- The same as link_total, of all links of a workspace.
    workspace_id     INTEGER PRIMARY KEY,
    clicks           INTEGER NOT NULL DEFAULT 0,
    bot_clicks       INTEGER NOT NULL DEFAULT 0,
    last_clicked_at  INTEGER
) STRICT;


CREATE TABLE visitor_salt (
    -- What makes the visitor hashes of one UTC day; removed soon after, so that nobody can tell who was who.
    day   INTEGER PRIMARY KEY,
    salt  BLOB NOT NULL
) STRICT;
