CREATE TABLE api_key (
    -- A program's secret. The secret itself is shown once and not kept.
    id            INTEGER PRIMARY KEY,
    workspace_id  INTEGER NOT NULL CONSTRAINT api_key_workspace_fkey REFERENCES workspace (id),
    -- SHA-256 of the whole key.
    key_hash      BLOB NOT NULL CONSTRAINT api_key_hash_check CHECK (length(key_hash) = 32),
    -- The visible beginning, to tell keys apart.
    key_prefix    TEXT NOT NULL,
    name          TEXT NOT NULL,
    created_by    INTEGER CONSTRAINT api_key_created_by_fkey REFERENCES users (id),
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    expires_at    INTEGER,
    -- 0 once revoked.
    is_active     INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
    scopes        TEXT NOT NULL DEFAULT '["links:read","links:write"]'
        CONSTRAINT api_key_scopes_check CHECK (json_valid(scopes) AND json_type(scopes) = 'array')
, replaced_by INTEGER) STRICT;
CREATE INDEX api_key_expires_idx ON api_key (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX api_key_hash_key ON api_key (key_hash);
CREATE UNIQUE INDEX api_key_prefix_key ON api_key (workspace_id, key_prefix);
CREATE INDEX api_key_workspace_idx ON api_key (workspace_id, is_active);

CREATE TABLE audit_event (
    -- Who changed what. Only ever added to.
    id            INTEGER PRIMARY KEY,
    -- Null: the installation as a whole.
    workspace_id  INTEGER CONSTRAINT audit_event_workspace_fkey REFERENCES workspace (id),
    -- The user or API key; null when there is none. It may be gone by now.
    actor_id      INTEGER,
    -- user, api_key, open (open mode), command, system.
    actor_kind    TEXT NOT NULL,
    -- Such as link.delete.
    action        TEXT NOT NULL,
    subject_kind  TEXT NOT NULL,
    subject_id    INTEGER,
    -- The changed fields.
    before        TEXT CHECK (json_valid(before)),
    after         TEXT CHECK (json_valid(after)),
    -- Where the request came from.
    address       TEXT,
    created_at    INTEGER NOT NULL
, subject TEXT) STRICT;
CREATE INDEX audit_event_list_idx ON audit_event (workspace_id, created_at DESC, id DESC);
CREATE INDEX audit_event_subject_idx ON audit_event (workspace_id, subject_kind, subject_id, created_at DESC);

CREATE TABLE blocked_host (
    -- Hosts that no link may lead to, by the operator's word. In ASCII, as browsers look them up (xn--…).
    host                 TEXT PRIMARY KEY CONSTRAINT blocked_host_host_check CHECK (
        host <> '' AND host = lower(host) AND length(host) <= 255
    ),
    includes_subdomains  INTEGER NOT NULL DEFAULT 1 CHECK (includes_subdomains IN (0, 1)),
    -- Why; for the operator.
    reason               TEXT,
    created_by           INTEGER CONSTRAINT blocked_host_created_by_fkey REFERENCES users (id),
    created_at           INTEGER NOT NULL,
    -- No longer blocked; the row stays, so that every process hears of it.
    is_removed           INTEGER NOT NULL DEFAULT 0 CHECK (is_removed IN (0, 1)),
    revision             INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX blocked_host_revision_idx ON blocked_host (revision);
CREATE TRIGGER blocked_host_revision_insert AFTER INSERT ON blocked_host
BEGIN
    UPDATE directory_revision SET revision = revision + 1;
    UPDATE blocked_host SET revision = (SELECT revision FROM directory_revision) WHERE host = NEW.host;
END;
CREATE TRIGGER blocked_host_revision_update AFTER UPDATE OF includes_subdomains, is_removed ON blocked_host
BEGIN
    UPDATE directory_revision SET revision = revision + 1;
    UPDATE blocked_host SET revision = (SELECT revision FROM directory_revision) WHERE host = NEW.host;
END;

CREATE TABLE cleanup_run (
    -- Runs of the reaper.
    id           INTEGER PRIMARY KEY,
    started_at   INTEGER NOT NULL,
    -- Null: under way, or its process died.
    finished_at  INTEGER,
    -- Expired links it retired, and rows of gone links it blanked.
    retired      INTEGER NOT NULL DEFAULT 0,
    blanked      INTEGER NOT NULL DEFAULT 0,
    -- Why it failed; null: it did not.
    error        TEXT
, removed INTEGER NOT NULL DEFAULT 0, last_batch INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX cleanup_run_started_idx ON cleanup_run (started_at);

CREATE TABLE click_retention (
    -- Workspaces that keep raw clicks for a shorter time than the installation: how far that is done.
    workspace_id  INTEGER PRIMARY KEY,
    -- Its raw clicks from before this moment are removed.
    kept_since    INTEGER NOT NULL
) STRICT;

CREATE TABLE directory_revision (
    -- One row: how often domains and blocked hosts, which every process knows by heart, have changed. A process
    -- asks for the number, and for the rows past the one it has seen.
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    revision  INTEGER NOT NULL
) STRICT;

CREATE TABLE domain (
    -- A host that answers redirects, with its own namespace of codes. 1 is the shared domain of the base URL.
    id                INTEGER PRIMARY KEY,
    -- Null: shared by all.
    workspace_id      INTEGER CONSTRAINT domain_workspace_fkey REFERENCES workspace (id),
    -- Lower case, as in the Host header.
    host              TEXT NOT NULL CONSTRAINT domain_host_check CHECK (host <> '' AND host = lower(host)),
    -- New links go here unless another domain is named; among the shared ones, also unknown hosts.
    is_default        INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
    -- When ownership was proved; null: not yet, and not served.
    verified_at       INTEGER,
    -- Where the bare host, and unknown codes, send visitors.
    root_target       TEXT,
    not_found_target  TEXT,
    created_at        INTEGER NOT NULL
, proof TEXT, is_subdomain INTEGER NOT NULL DEFAULT 0 CHECK (is_subdomain IN (0, 1)), is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1)), revision INTEGER NOT NULL DEFAULT 1, is_trusted INTEGER NOT NULL DEFAULT 0 CHECK (is_trusted IN (0, 1)), checked_at INTEGER, lapsed_at INTEGER) STRICT;
CREATE UNIQUE INDEX domain_claim_key ON domain (workspace_id, host);
CREATE UNIQUE INDEX domain_default_key ON domain (coalesce(workspace_id, 0)) WHERE is_default;
CREATE UNIQUE INDEX domain_host_key ON domain (host) WHERE verified_at IS NOT NULL AND NOT is_deleted;
CREATE INDEX domain_revision_idx ON domain (revision);
CREATE INDEX domain_workspace_idx ON domain (workspace_id);
CREATE TRIGGER domain_revision_insert AFTER INSERT ON domain
BEGIN
    UPDATE directory_revision SET revision = revision + 1;
    UPDATE domain SET revision = (SELECT revision FROM directory_revision) WHERE id = NEW.id;
END;
CREATE TRIGGER domain_revision_update
AFTER UPDATE OF workspace_id, host, is_default, verified_at, root_target, not_found_target, is_deleted ON domain
BEGIN
    UPDATE directory_revision SET revision = revision + 1;
    UPDATE domain SET revision = (SELECT revision FROM directory_revision) WHERE id = NEW.id;
END;

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

CREATE TABLE invitation (
    -- A link that makes whoever opens it a user. Works once.
    id            INTEGER PRIMARY KEY,
    workspace_id  INTEGER NOT NULL CONSTRAINT invitation_workspace_fkey REFERENCES workspace (id),
    -- Hash of the link's token.
    token_hash    BLOB NOT NULL,
    -- For whom; null: whoever has the link.
    email         TEXT,
    role          TEXT NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
    -- The set-up link of the installation: makes its first user, who is its operator.
    is_setup      INTEGER NOT NULL DEFAULT 0 CHECK (is_setup IN (0, 1)),
    created_by    INTEGER CONSTRAINT invitation_created_by_fkey REFERENCES users (id),
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    -- When it was used or taken back; null: not yet.
    used_at       INTEGER
) STRICT;
CREATE INDEX invitation_expires_idx ON invitation (expires_at);
CREATE UNIQUE INDEX invitation_token_key ON invitation (token_hash);
CREATE INDEX invitation_workspace_idx ON invitation (workspace_id);

CREATE TABLE job_lease (
    -- Which process does a job that only one may do.
    name        TEXT PRIMARY KEY,
    holder      TEXT NOT NULL,
    -- Grows with every holder: a late one is known by its lower number.
    token       INTEGER NOT NULL CONSTRAINT job_lease_token_check CHECK (token >= 1),
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE kgs_keys (
    -- Codes made ahead of need. Used and burnt ones are removed: short_link alone says what is taken. Nothing
    -- here refers to it: a key is marked before its link exists, and its row goes while the link stays.
    short_code            TEXT PRIMARY KEY CONSTRAINT kgs_keys_code_check CHECK (
        short_code NOT GLOB '*[^a-zA-Z0-9_-]*' AND length(short_code) BETWEEN 1 AND 20
    ),
    -- The region that may give it out.
    region                TEXT NOT NULL,
    status                TEXT NOT NULL DEFAULT 'unused' CHECK (status IN ('unused', 'reserved', 'used')),
    created_at            INTEGER NOT NULL,
    allocated_at          INTEGER,
    -- Who holds it: a worker or an API key.
    allocated_to_service  TEXT,
    allocated_to_url_id   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX kgs_keys_held_idx ON kgs_keys (allocated_to_service, allocated_at) WHERE status <> 'unused';
CREATE INDEX kgs_keys_unused_idx ON kgs_keys (region, short_code) WHERE status = 'unused';

CREATE TABLE kgs_range (
    -- How far the counter behind the codes has come. It never goes back.
    region       TEXT NOT NULL,
    code_length  INTEGER NOT NULL CONSTRAINT kgs_range_length_check CHECK (code_length BETWEEN 1 AND 20),
    -- The first counter that nobody has leased.
    next         INTEGER NOT NULL DEFAULT 0 CONSTRAINT kgs_range_next_check CHECK (next >= 0), prefix TEXT NOT NULL DEFAULT '', pooled INTEGER NOT NULL DEFAULT 0, taken INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0, lineage TEXT, pool_lineage TEXT,
    PRIMARY KEY (region, code_length)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE link_report (
    -- What visitors say about links, for the operator to look at.
    id            INTEGER PRIMARY KEY,
    link_id       INTEGER NOT NULL,
    workspace_id  INTEGER NOT NULL CONSTRAINT link_report_workspace_fkey REFERENCES workspace (id),
    reason        TEXT NOT NULL CONSTRAINT link_report_reason_check CHECK (
        reason IN ('phishing', 'malware', 'spam', 'illegal', 'other')
    ),
    message       TEXT CONSTRAINT link_report_message_check CHECK (length(message) <= 2000),
    -- Where the visitor wants an answer.
    contact       TEXT CONSTRAINT link_report_contact_check CHECK (length(contact) <= 254),
    -- Where the link led when it was reported: its owner may change it.
    target        TEXT NOT NULL,
    -- Where the report came from, cut to its network.
    address       TEXT,
    -- upheld: the link was taken down.
    state         TEXT NOT NULL DEFAULT 'open' CONSTRAINT link_report_state_check CHECK (
        state IN ('open', 'dismissed', 'upheld')
    ),
    created_at    INTEGER NOT NULL,
    reviewed_by   INTEGER CONSTRAINT link_report_reviewed_by_fkey REFERENCES users (id),
    reviewed_at   INTEGER
) STRICT;
CREATE INDEX link_report_list_idx ON link_report (state, id);
CREATE INDEX link_report_open_idx ON link_report (link_id) WHERE state = 'open';

CREATE TABLE password_reset (
    -- A link by which a user chooses a new password. Works once.
    id            INTEGER PRIMARY KEY,
    workspace_id  INTEGER NOT NULL CONSTRAINT password_reset_workspace_fkey REFERENCES workspace (id),
    user_id       INTEGER NOT NULL CONSTRAINT password_reset_user_fkey REFERENCES users (id),
    -- Hash of the link's token.
    token_hash    BLOB NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    -- When it was used, or another took its place; null: not yet.
    used_at       INTEGER
) STRICT;
CREATE INDEX password_reset_expires_idx ON password_reset (expires_at);
CREATE UNIQUE INDEX password_reset_token_key ON password_reset (token_hash);
CREATE INDEX password_reset_user_idx ON password_reset (workspace_id, user_id);

CREATE TABLE search_position (
    -- One row: links up to this id are in short_link_url. The rest follows some seconds behind the writers.
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    past  INTEGER NOT NULL
) STRICT;

CREATE TABLE secret (
    -- Random keys that all processes share, such as the one that scatters the codes. Made at first start.
    name        TEXT PRIMARY KEY,
    value       BLOB NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    -- A signed-in browser.
    id            INTEGER PRIMARY KEY,
    user_id       INTEGER NOT NULL CONSTRAINT session_user_fkey REFERENCES users (id),
    workspace_id  INTEGER NOT NULL CONSTRAINT session_workspace_fkey REFERENCES workspace (id),
    -- Hash of the cookie's token.
    token_hash    BLOB NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    last_seen_at  INTEGER,
    user_agent    TEXT
, previous_hash BLOB, rotated_at INTEGER NOT NULL DEFAULT 0, address TEXT) STRICT;
CREATE INDEX session_expires_idx ON session (expires_at);
CREATE UNIQUE INDEX session_previous_key ON session (previous_hash) WHERE previous_hash IS NOT NULL;
CREATE UNIQUE INDEX session_token_key ON session (token_hash);
CREATE INDEX session_user_idx ON session (user_id);

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
CREATE INDEX short_link_blank_idx ON short_link (updated_at)
    WHERE original_url IS NOT NULL AND gone_reason IN ('expired', 'deleted');
CREATE INDEX short_link_changed_idx ON short_link (workspace_id, updated_at DESC, id DESC)
    WHERE updated_at <> created_at AND NOT is_deleted AND original_url IS NOT NULL;
CREATE UNIQUE INDEX short_link_code_key ON short_link (domain_id, short_code);
CREATE INDEX short_link_created_by_idx ON short_link (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX short_link_dated_idx ON short_link (workspace_id, created_at DESC, id DESC, expires_at, gone_reason)
    WHERE (gone_reason = 'expired' OR expires_at IS NOT NULL) AND NOT is_deleted AND original_url IS NOT NULL;
CREATE INDEX short_link_expires_idx ON short_link (expires_at)
    WHERE expires_at IS NOT NULL AND is_active AND NOT is_deleted;
CREATE INDEX short_link_list_idx ON short_link (workspace_id, created_at DESC, id DESC);
CREATE INDEX short_link_live_idx ON short_link (workspace_id, created_at DESC, id DESC)
    WHERE is_active AND NOT is_deleted;
CREATE INDEX short_link_off_idx ON short_link (workspace_id, created_at DESC, id DESC)
    WHERE NOT is_active AND (gone_reason IS NULL OR gone_reason <> 'expired') AND NOT is_deleted
    AND original_url IS NOT NULL;
CREATE UNIQUE INDEX short_link_reuse_key ON short_link (workspace_id, normalized_digest)
    WHERE normalized_digest IS NOT NULL AND is_active AND NOT is_deleted;
CREATE TRIGGER short_link_keep BEFORE DELETE ON short_link
BEGIN
    SELECT RAISE(ABORT, 'Rows of short_link are never removed: the code could be given out again. Blank them instead.');
END;
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
CREATE TRIGGER short_link_url_update AFTER UPDATE OF original_url ON short_link
WHEN NEW.original_url IS NOT OLD.original_url AND OLD.id <= (SELECT past FROM search_position)
BEGIN
    DELETE FROM short_link_url WHERE rowid = OLD.id;
    INSERT INTO short_link_url (rowid, url)
    SELECT NEW.id, NEW.original_url WHERE NEW.original_url IS NOT NULL;
END;

CREATE VIRTUAL TABLE short_link_text USING fts5 (
    title, description, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

CREATE VIRTUAL TABLE short_link_url USING fts5 (
    url, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
);

CREATE TABLE 'short_link_url_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'short_link_url_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'short_link_url_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);

CREATE TABLE 'short_link_url_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE sign_in_failure (
    -- Wrong sign-ins in a row, by account, by address and by both. Old rows are removed.
    -- Keyed hash of what is counted: no address and no e-mail can be read out of it.
    key_hash       BLOB PRIMARY KEY,
    failures       INTEGER NOT NULL,
    -- The next attempt is looked at from here on.
    blocked_until  INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_failure_updated_idx ON sign_in_failure (updated_at);

CREATE TABLE takedown (
    -- Links that the operator has taken down. Undoing it removes the row.
    link_id          INTEGER PRIMARY KEY,
    workspace_id     INTEGER NOT NULL CONSTRAINT takedown_workspace_fkey REFERENCES workspace (id),
    -- Why, in words that visitors read.
    reason           TEXT NOT NULL CONSTRAINT takedown_reason_check CHECK (reason <> '' AND length(reason) <= 500),
    -- Why it was gone before; null: it was live, and undoing makes it so again.
    previous_reason  TEXT CHECK (previous_reason IN ('expired', 'deleted', 'disabled', 'taken_down')),
    created_by       INTEGER CONSTRAINT takedown_created_by_fkey REFERENCES users (id),
    created_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX takedown_list_idx ON takedown (created_at DESC, link_id DESC);

CREATE TABLE users (
    -- A person in a workspace. The same e-mail may exist in several. Soft-deleted.
    id             INTEGER PRIMARY KEY,
    workspace_id   INTEGER NOT NULL CONSTRAINT users_workspace_fkey REFERENCES workspace (id),
    -- As given; compared without regard to case.
    email          TEXT NOT NULL CONSTRAINT users_email_check CHECK (
        email GLOB '?*@?*' AND email NOT GLOB '*@*@*' AND email NOT GLOB ('*[ ' || char(9, 10, 11, 12, 13) || ']*')
        AND length(email) <= 254
    ),
    -- argon2id; null for people who sign in through OIDC.
    password_hash  TEXT,
    full_name      TEXT,
    role           TEXT NOT NULL DEFAULT 'member' CHECK (role IN ('admin', 'member', 'viewer')),
    -- Runs the installation; apart from any role in a workspace.
    is_operator    INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1)),
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    last_login_at  INTEGER,
    is_deleted     INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1))
, oidc_subject TEXT) STRICT;
CREATE INDEX users_email_idx ON users (lower(email));
CREATE UNIQUE INDEX users_email_key ON users (workspace_id, lower(email));
CREATE INDEX users_oidc_idx ON users (oidc_subject) WHERE oidc_subject IS NOT NULL;
CREATE UNIQUE INDEX users_oidc_key ON users (workspace_id, oidc_subject) WHERE oidc_subject IS NOT NULL;

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

CREATE TABLE workspace (
    -- A tenant. Soft-deleted.
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    -- Deleted workspaces keep theirs: an old subdomain must never come to belong to somebody else.
    -- 63: a slug is a DNS label (<slug>.base).
    slug        TEXT NOT NULL CONSTRAINT workspace_slug_check CHECK (
        slug GLOB '[a-z0-9]*[a-z0-9]' AND slug NOT GLOB '*[^a-z0-9-]*' AND octet_length(slug) <= 63
    ),
    settings    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    is_deleted  INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1))
) STRICT;
CREATE INDEX workspace_clicks_idx ON workspace (id)
    WHERE (settings ->> 'privacy') IS NOT NULL OR (settings ->> 'click_retention_days') IS NOT NULL;
CREATE UNIQUE INDEX workspace_slug_key ON workspace (slug);
