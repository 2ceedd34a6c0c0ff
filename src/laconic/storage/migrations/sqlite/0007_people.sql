-- Makes invitations, sign-in back-off and what sessions and users need. Previous release beside it: yes.

-- Who this is at the identity provider; null until the first sign-in through it.
ALTER TABLE users ADD COLUMN oidc_subject TEXT;
CREATE UNIQUE INDEX users_oidc_key ON users (workspace_id, oidc_subject) WHERE oidc_subject IS NOT NULL;
CREATE INDEX users_oidc_idx ON users (oidc_subject) WHERE oidc_subject IS NOT NULL;

-- Hash of the token before the last rotation, good for a minute more; when that was; where the person signed in from.
ALTER TABLE session ADD COLUMN previous_hash BLOB;
ALTER TABLE session ADD COLUMN rotated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN address TEXT;
CREATE UNIQUE INDEX session_previous_key ON session (previous_hash) WHERE previous_hash IS NOT NULL;

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
CREATE UNIQUE INDEX invitation_token_key ON invitation (token_hash);
CREATE INDEX invitation_workspace_idx ON invitation (workspace_id);
CREATE INDEX invitation_expires_idx ON invitation (expires_at);

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

-- The key that it was rotated to.
ALTER TABLE api_key ADD COLUMN replaced_by INTEGER;

-- The subject's name at that time: a code, an e-mail, a slug, the beginning of a key. Ids are random.
ALTER TABLE audit_event ADD COLUMN subject TEXT;
CREATE INDEX audit_event_subject_idx ON audit_event (workspace_id, subject_kind, subject_id, created_at DESC);
