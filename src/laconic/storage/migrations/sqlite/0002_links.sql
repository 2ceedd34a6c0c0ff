-- Makes links, their text index and change feed, and idempotency keys. Previous release beside it: there is none.

CREATE TABLE short_link (
    -- A link: code to URL. Rows are never removed, only blanked, so that no code is given twice.
    id                 INTEGER PRIMARY KEY,
    workspace_id       INTEGER NOT NULL CONSTRAINT short_link_workspace_fkey REFERENCES workspace (id),
    domain_id          INTEGER NOT NULL CONSTRAINT short_link_domain_fkey REFERENCES domain (id),
    -- octet_length: a U+0000 would hide what follows it from GLOB and length().
    short_code         TEXT NOT NULL CONSTRAINT short_link_code_check CHECK (
        short_code NOT GLOB '*[^a-zA-Z0-9_-]*' AND length(short_code) BETWEEN 1 AND 20
        AND octet_length(short_code) = length(short_code)
    ),
    -- As given, outer white space stripped; null once blanked.
    original_url       TEXT,
    -- What the Location header says; null when the same as original_url.
    target_url         TEXT,
    -- For finding the same URL again; only on links made for reuse.
    normalized_url     TEXT,
    -- Digest of normalized_url, while the link is the one to reuse; null otherwise.
    normalized_digest  BLOB,
    title              TEXT CONSTRAINT short_link_title_check CHECK (length(title) <= 500),
    description        TEXT,
    -- Null in open mode.
    created_by         INTEGER CONSTRAINT short_link_created_by_fkey REFERENCES users (id),
    created_at         INTEGER NOT NULL,
    -- Set by the statements themselves: a trigger would cost every write.
    updated_at         INTEGER NOT NULL,
    -- From here on it answers 410, whether or not the reaper has run; null: never.
    expires_at         INTEGER,
    -- 0 once disabled, taken down or retired by the reaper.
    is_active          INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
    is_deleted         INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1)),
    -- Why it answers 410; null while it is live.
    gone_reason        TEXT CHECK (gone_reason IN ('expired', 'deleted', 'disabled', 'taken_down')),
    metadata           TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    redirect_status    INTEGER NOT NULL DEFAULT 302
        CONSTRAINT short_link_status_check CHECK (redirect_status IN (301, 302, 307, 308)),
    -- Grows with every change; caches keep the highest.
    version            INTEGER NOT NULL DEFAULT 1 CONSTRAINT short_link_version_check CHECK (version >= 1),
    CONSTRAINT short_link_url_check CHECK (original_url IS NOT NULL OR is_deleted OR NOT is_active),
    CONSTRAINT short_link_normalized_check CHECK (normalized_digest IS NULL OR normalized_url IS NOT NULL),
    CONSTRAINT short_link_gone_check CHECK (gone_reason IS NULL OR is_deleted OR NOT is_active)
) STRICT;

-- Over all codes ever used, gone links included: this index is what keeps a code from being given twice.
CREATE UNIQUE INDEX short_link_code_key ON short_link (domain_id, short_code);
-- The conditions are worded as in the statements that use these indexes: SQLite compares them term by term.
CREATE UNIQUE INDEX short_link_reuse_key ON short_link (workspace_id, normalized_digest)
    WHERE normalized_digest IS NOT NULL AND is_active AND NOT is_deleted;
CREATE INDEX short_link_list_idx ON short_link (workspace_id, created_at DESC, id DESC);
CREATE INDEX short_link_live_idx ON short_link (workspace_id, created_at DESC, id DESC)
    WHERE is_active AND NOT is_deleted;
CREATE INDEX short_link_created_by_idx ON short_link (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX short_link_expires_idx ON short_link (expires_at)
    WHERE expires_at IS NOT NULL AND is_active AND NOT is_deleted;

CREATE TRIGGER short_link_keep BEFORE DELETE ON short_link
BEGIN
    SELECT RAISE(ABORT, 'Rows of short_link are never removed: the code could be given out again. Blank them instead.');
END;


-- Words of title and description by short_link.id; it keeps no text of its own. Diacritics count, as they do
-- on PostgreSQL.
CREATE VIRTUAL TABLE short_link_text USING fts5 (
    title, description, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
-- Links without title and description, which are most, cost no more than the WHEN.
CREATE TRIGGER short_link_text_insert AFTER INSERT ON short_link
WHEN NEW.title IS NOT NULL OR NEW.description IS NOT NULL
BEGIN
    INSERT INTO short_link_text (rowid, title, description) VALUES (NEW.id, NEW.title, NEW.description);
END;
CREATE TRIGGER short_link_text_update AFTER UPDATE OF title, description ON short_link
WHEN NEW.title IS NOT OLD.title OR NEW.description IS NOT OLD.description
BEGIN
    DELETE FROM short_link_text WHERE rowid = OLD.id;
    INSERT INTO short_link_text (rowid, title, description)
    SELECT NEW.id, NEW.title, NEW.description
    WHERE NEW.title IS NOT NULL OR NEW.description IS NOT NULL;
END;


-- Leaves out click_count: a view cannot look into another file, and totals lie in clicks.db.
CREATE VIEW v_active_short_links AS
SELECT
    short_link.id,
    short_link.workspace_id,
    workspace.name AS workspace_name,
    workspace.slug AS workspace_slug,
    short_link.short_code,
    short_link.original_url,
    short_link.title,
    short_link.description,
    short_link.created_at,
    short_link.expires_at,
    users.full_name AS created_by_name,
    users.email AS created_by_email
FROM short_link
JOIN workspace ON workspace.id = short_link.workspace_id
LEFT JOIN users ON users.id = short_link.created_by
WHERE short_link.is_active
    AND NOT short_link.is_deleted
    AND (short_link.expires_at IS NULL OR short_link.expires_at > unixepoch('subsec') * 1000000);


CREATE TABLE link_change (
    -- What caches must look at again. Written in the transaction of the change; old rows are removed.
    -- AUTOINCREMENT: numbers are not used again after that, or followers would skip changes.
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    domain_id   INTEGER NOT NULL,
    short_code  TEXT NOT NULL,
    -- The version the change made.
    version     INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL
) STRICT;


CREATE TABLE idempotency_key (
    -- What was answered to a write that may be sent again. Old rows are removed.
    workspace_id  INTEGER NOT NULL CONSTRAINT idempotency_key_workspace_fkey REFERENCES workspace (id),
    key           TEXT NOT NULL,
    -- Digest of the request: the same key with another request is refused.
    fingerprint   BLOB NOT NULL,
    -- HTTP status of the answer; null while the first request is under way.
    status        INTEGER,
    body          TEXT,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_created_idx ON idempotency_key (created_at);
