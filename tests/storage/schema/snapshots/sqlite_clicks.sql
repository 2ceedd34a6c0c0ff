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

CREATE TABLE click_quarter (
    -- Clicks by link and quarter of an hour, so that every time zone's hours and days add up.
    link_id       INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL,
    -- The moment the 15 minutes begin, UTC.
    quarter       INTEGER NOT NULL,
    -- Bots included.
    clicks        INTEGER NOT NULL DEFAULT 0,
    bot_clicks    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (link_id, quarter)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE journal_position (
    -- How far each click journal has been applied. Written in the transaction that applies a batch, so nothing
    -- is counted twice.
    journal_id  TEXT PRIMARY KEY,
    segment     INTEGER NOT NULL,
    -- Bytes of the segment that are applied.
    position    INTEGER NOT NULL,
    -- The last record applied.
    sequence    INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE link_total (
    -- Clicks of a link since it was made; no row before the first.
    link_id          INTEGER PRIMARY KEY,
    workspace_id     INTEGER NOT NULL,
    -- Every redirect answered to a GET, bots included.
    clicks           INTEGER NOT NULL DEFAULT 0 CONSTRAINT link_total_clicks_check CHECK (clicks >= 0),
    bot_clicks       INTEGER NOT NULL DEFAULT 0 CONSTRAINT link_total_bot_clicks_check CHECK (bot_clicks >= 0),
    last_clicked_at  INTEGER
) STRICT;
CREATE INDEX link_total_top_idx ON link_total (workspace_id, clicks DESC, link_id DESC);

CREATE TABLE moved_link (
    -- What a source has added to a link so far. Written in the transaction that adds it.
    source_id     INTEGER NOT NULL CONSTRAINT moved_link_source_fkey REFERENCES moved_source (id),
    link_id       INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL,
    -- The last of the source's portions or clicks that was added; they come in growing order.
    position      INTEGER NOT NULL,
    -- That portion as it was added: it may have grown when it comes again. JSON.
    portion       TEXT CHECK (json_valid(portion)),
    -- Clicks that came with a time.
    dated         INTEGER NOT NULL,
    dated_bots    INTEGER NOT NULL,
    -- What the source says that it has counted; the larger of the two is in link_total.
    claimed       INTEGER NOT NULL,
    claimed_bots  INTEGER NOT NULL,
    PRIMARY KEY (source_id, link_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE moved_source (
    -- Another installation, or another shortener, from which clicks were imported.
    id            INTEGER PRIMARY KEY,
    workspace_id  INTEGER NOT NULL,
    -- What it calls itself, or what --source says.
    name          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX moved_source_name_key ON moved_source (workspace_id, name);

CREATE TABLE visitor_salt (
    -- What makes the visitor hashes of one UTC day; removed soon after, so that nobody can tell who was who.
    day   INTEGER PRIMARY KEY,
    salt  BLOB NOT NULL
) STRICT;

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

CREATE TABLE workspace_quarter (
    -- The same as click_quarter, of all links of a workspace.
    workspace_id  INTEGER NOT NULL,
    quarter       INTEGER NOT NULL,
    clicks        INTEGER NOT NULL DEFAULT 0,
    bot_clicks    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, quarter)
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace_top (
    -- Sketches of the most followed links of a workspace and a day: which ones, within bounds. How often, the
    -- rollups of those links say.
    workspace_id  INTEGER NOT NULL,
    day           INTEGER NOT NULL,
    sketch        BLOB NOT NULL,
    PRIMARY KEY (workspace_id, day)
) STRICT;

CREATE TABLE workspace_total (
    -- The same as link_total, of all links of a workspace.
    workspace_id     INTEGER PRIMARY KEY,
    clicks           INTEGER NOT NULL DEFAULT 0,
    bot_clicks       INTEGER NOT NULL DEFAULT 0,
    last_clicked_at  INTEGER
) STRICT;
