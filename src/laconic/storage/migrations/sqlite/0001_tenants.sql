-- Makes workspaces, users, domains, API keys and sessions. Previous release beside it: there is none.

-- In all files: ids are made by the program; moments are microseconds since 1970 UTC; truth is 0 or 1. Comments
-- stand inside the statements, so that SQLite keeps them with the schema.

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
CREATE UNIQUE INDEX workspace_slug_key ON workspace (slug);


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
) STRICT;
CREATE UNIQUE INDEX users_email_key ON users (workspace_id, lower(email));
-- Sign-in knows the e-mail before it knows the workspace.
CREATE INDEX users_email_idx ON users (lower(email));


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
) STRICT;
CREATE UNIQUE INDEX domain_host_key ON domain (host);
CREATE INDEX domain_workspace_idx ON domain (workspace_id);
-- One default among the shared domains, and at most one in each workspace.
CREATE UNIQUE INDEX domain_default_key ON domain (coalesce(workspace_id, 0)) WHERE is_default;


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
) STRICT;
CREATE UNIQUE INDEX api_key_hash_key ON api_key (key_hash);
CREATE UNIQUE INDEX api_key_prefix_key ON api_key (workspace_id, key_prefix);
CREATE INDEX api_key_workspace_idx ON api_key (workspace_id, is_active);
CREATE INDEX api_key_expires_idx ON api_key (expires_at) WHERE expires_at IS NOT NULL;


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
) STRICT;
CREATE UNIQUE INDEX session_token_key ON session (token_hash);
CREATE INDEX session_user_idx ON session (user_id);
CREATE INDEX session_expires_idx ON session (expires_at);


-- The first minute needs no set-up: whoever calls in open mode acts in this workspace, on this domain. The
-- server writes the base URL's host over 'localhost' when it starts.
INSERT INTO workspace (id, name, slug, created_at, updated_at)
SELECT 1, 'Default', 'default', moment, moment
FROM (SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS moment);
INSERT INTO domain (id, workspace_id, host, is_default, verified_at, created_at)
SELECT 1, NULL, 'localhost', 1, created_at, created_at FROM workspace;
