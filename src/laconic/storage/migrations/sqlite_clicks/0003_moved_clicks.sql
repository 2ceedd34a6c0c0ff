-- Remembers which clicks of other installations have been added, so that none is added twice. Previous release beside it: yes.

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
