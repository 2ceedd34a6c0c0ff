CREATE TABLE click_daily (
    -- Clicks by link, UTC day and one property of the click.
    link_id       INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL,
    day           TEXT NOT NULL,
    -- Such as country or browser.
    dimension     TEXT NOT NULL,
    -- Such as DE; empty when unknown.
    value         TEXT NOT NULL,
    clicks        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (link_id, day, dimension, value)
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
    -- Sketches that estimate the different visitors of a day, of a link or a whole workspace.
    scope         TEXT NOT NULL CHECK (scope IN ('link', 'workspace')),
    scope_id      INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL,
    day           TEXT NOT NULL,
    -- A mergeable sketch; no visitor can be read out of it.
    sketch        BLOB NOT NULL,
    -- With rowids: a busy sketch has kilobytes, too many for the inner pages of its own index.
    PRIMARY KEY (scope, scope_id, day)
) STRICT;

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
