-- Domains that are proved, and what the operator keeps: takedowns, blocked hosts, reports. Previous release beside it: yes.

CREATE TABLE directory_revision (
    -- One row: how often domains and blocked hosts, which every process knows by heart, have changed. A process
    -- asks for the number, and for the rows past the one it has seen.
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    revision  INTEGER NOT NULL
) STRICT;
INSERT INTO directory_revision (id, revision) VALUES (1, 1);

-- What a DNS record or a file on the host has to say; null where no proof is needed.
ALTER TABLE domain ADD COLUMN proof TEXT;
-- A subdomain of the base host, named by the workspace's slug; it follows both.
ALTER TABLE domain ADD COLUMN is_subdomain INTEGER NOT NULL DEFAULT 0 CHECK (is_subdomain IN (0, 1));
-- Given up; the row stays, because links name it.
ALTER TABLE domain ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1));
-- The directory's revision that its last change made.
ALTER TABLE domain ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;

-- Whoever proves a host has it. A claim that is not proved must not keep the owner from making one.
DROP INDEX domain_host_key;
CREATE UNIQUE INDEX domain_host_key ON domain (host) WHERE verified_at IS NOT NULL AND NOT is_deleted;
-- A host that is added again by the same workspace is the same domain, with the codes that it had (P2).
CREATE UNIQUE INDEX domain_claim_key ON domain (workspace_id, host);
CREATE INDEX domain_revision_idx ON domain (revision);
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
