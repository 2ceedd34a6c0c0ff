-- Makes the audit trail, leases and cleanup runs. Previous release beside it: there is none.

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
) STRICT;
CREATE INDEX audit_event_list_idx ON audit_event (workspace_id, created_at DESC, id DESC);


CREATE TABLE job_lease (
    -- Which process does a job that only one may do.
    name        TEXT PRIMARY KEY,
    holder      TEXT NOT NULL,
    -- Grows with every holder: a late one is known by its lower number.
    token       INTEGER NOT NULL CONSTRAINT job_lease_token_check CHECK (token >= 1),
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;


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
) STRICT;
