-- Makes workspaces, users, domains, API keys and sessions. Previous release beside it: there is none.

CREATE TYPE user_role AS ENUM ('admin', 'member', 'viewer');

-- A statement that sets updated_at itself is left alone (the triggers' WHEN): it passes the program's clock,
-- and what it then answers is what is stored. The trigger serves whoever edits with a tool of their own.
CREATE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION touch_updated_at() IS 'Sets updated_at on rows changed by a statement that did not set it.';


CREATE TABLE workspace (
    id          bigint PRIMARY KEY,
    name        text NOT NULL,
    slug        text COLLATE "C" NOT NULL,
    settings    jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    is_deleted  boolean NOT NULL DEFAULT false,
    -- Deleted workspaces keep theirs: an old subdomain must never come to belong to somebody else.
    CONSTRAINT workspace_slug_key UNIQUE (slug),
    -- 63: a slug is a DNS label (<slug>.base).
    CONSTRAINT workspace_slug_check CHECK (slug ~ '^[a-z0-9][a-z0-9-]*[a-z0-9]$' AND length(slug) <= 63)
);
CREATE TRIGGER workspace_touch BEFORE UPDATE ON workspace
    FOR EACH ROW WHEN (NEW.updated_at = OLD.updated_at) EXECUTE FUNCTION touch_updated_at();

COMMENT ON TABLE workspace IS 'A tenant. Soft-deleted.';
COMMENT ON COLUMN workspace.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN workspace.name IS 'What people call it.';
COMMENT ON COLUMN workspace.slug IS 'Name in URLs and subdomains; never given twice.';
COMMENT ON COLUMN workspace.settings IS 'Choices of the workspace, such as deterministic.';
COMMENT ON COLUMN workspace.created_at IS 'When it was made.';
COMMENT ON COLUMN workspace.updated_at IS 'When it was last changed.';
COMMENT ON COLUMN workspace.is_deleted IS 'Deleted by its owner; the row stays.';


CREATE TABLE users (
    id             bigint PRIMARY KEY,
    workspace_id   bigint NOT NULL CONSTRAINT users_workspace_fkey REFERENCES workspace (id),
    email          text NOT NULL,
    password_hash  text,
    full_name      text,
    role           user_role NOT NULL DEFAULT 'member',
    is_operator    boolean NOT NULL DEFAULT false,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    last_login_at  timestamptz,
    is_deleted     boolean NOT NULL DEFAULT false,
    CONSTRAINT users_email_check CHECK (email ~ '^[^@\s]+@[^@\s]+$' AND length(email) <= 254)
);
CREATE UNIQUE INDEX users_email_key ON users (workspace_id, lower(email));
-- Sign-in knows the e-mail before it knows the workspace.
CREATE INDEX users_email_idx ON users (lower(email));
CREATE TRIGGER users_touch BEFORE UPDATE ON users
    FOR EACH ROW WHEN (NEW.updated_at = OLD.updated_at) EXECUTE FUNCTION touch_updated_at();

COMMENT ON TABLE users IS 'A person in a workspace. The same e-mail may exist in several. Soft-deleted.';
COMMENT ON COLUMN users.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN users.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN users.email IS 'As given; compared without regard to case.';
COMMENT ON COLUMN users.password_hash IS 'argon2id; null for people who sign in through OIDC.';
COMMENT ON COLUMN users.full_name IS 'What to call the person.';
COMMENT ON COLUMN users.role IS 'admin: everything in the workspace; member: links and analytics; viewer: reads.';
COMMENT ON COLUMN users.is_operator IS 'Runs the installation; apart from any role in a workspace.';
COMMENT ON COLUMN users.created_at IS 'When it was made.';
COMMENT ON COLUMN users.updated_at IS 'When it was last changed.';
COMMENT ON COLUMN users.last_login_at IS 'When the person last signed in.';
COMMENT ON COLUMN users.is_deleted IS 'No longer allowed in; the row stays, because links name it.';


CREATE TABLE domain (
    id                bigint PRIMARY KEY,
    workspace_id      bigint CONSTRAINT domain_workspace_fkey REFERENCES workspace (id),
    host              text COLLATE "C" NOT NULL,
    is_default        boolean NOT NULL DEFAULT false,
    verified_at       timestamptz,
    root_target       text,
    not_found_target  text,
    created_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT domain_host_key UNIQUE (host),
    CONSTRAINT domain_host_check CHECK (host <> '' AND host = lower(host))
);
CREATE INDEX domain_workspace_idx ON domain (workspace_id);
-- One default among the shared domains, and at most one in each workspace.
CREATE UNIQUE INDEX domain_default_key ON domain (coalesce(workspace_id, 0)) WHERE is_default;

COMMENT ON TABLE domain IS 'A host that answers redirects, with its own namespace of codes.';
COMMENT ON COLUMN domain.id IS 'Made by the program; 1 is the shared domain of the base URL.';
COMMENT ON COLUMN domain.workspace_id IS 'The tenant it belongs to; null: shared by all.';
COMMENT ON COLUMN domain.host IS 'Lower case, as in the Host header.';
COMMENT ON COLUMN domain.is_default IS 'New links go here unless another domain is named; among the shared ones, also unknown hosts.';
COMMENT ON COLUMN domain.verified_at IS 'When ownership was proved; null: not yet, and not served.';
COMMENT ON COLUMN domain.root_target IS 'Where the bare host sends visitors.';
COMMENT ON COLUMN domain.not_found_target IS 'Where unknown codes send visitors instead of a 404.';
COMMENT ON COLUMN domain.created_at IS 'When it was added.';


CREATE TABLE api_key (
    id            bigint PRIMARY KEY,
    workspace_id  bigint NOT NULL CONSTRAINT api_key_workspace_fkey REFERENCES workspace (id),
    key_hash      bytea NOT NULL,
    key_prefix    text NOT NULL,
    name          text NOT NULL,
    created_by    bigint CONSTRAINT api_key_created_by_fkey REFERENCES users (id),
    created_at    timestamptz NOT NULL DEFAULT now(),
    last_used_at  timestamptz,
    expires_at    timestamptz,
    is_active     boolean NOT NULL DEFAULT true,
    scopes        jsonb NOT NULL DEFAULT '["links:read","links:write"]',
    CONSTRAINT api_key_hash_key UNIQUE (key_hash),
    CONSTRAINT api_key_prefix_key UNIQUE (workspace_id, key_prefix),
    CONSTRAINT api_key_hash_check CHECK (octet_length(key_hash) = 32),
    CONSTRAINT api_key_scopes_check CHECK (jsonb_typeof(scopes) = 'array')
);
CREATE INDEX api_key_workspace_idx ON api_key (workspace_id, is_active);
CREATE INDEX api_key_expires_idx ON api_key (expires_at) WHERE expires_at IS NOT NULL;

COMMENT ON TABLE api_key IS 'A program''s secret. The secret itself is shown once and not kept.';
COMMENT ON COLUMN api_key.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN api_key.workspace_id IS 'The tenant it acts for.';
COMMENT ON COLUMN api_key.key_hash IS 'SHA-256 of the whole key.';
COMMENT ON COLUMN api_key.key_prefix IS 'The visible beginning, to tell keys apart.';
COMMENT ON COLUMN api_key.name IS 'What its owner calls it.';
COMMENT ON COLUMN api_key.created_by IS 'Who made it; null in open mode and from the command line.';
COMMENT ON COLUMN api_key.created_at IS 'When it was made.';
COMMENT ON COLUMN api_key.last_used_at IS 'When it last opened a door; may lag.';
COMMENT ON COLUMN api_key.expires_at IS 'Refused from here on; null: never.';
COMMENT ON COLUMN api_key.is_active IS 'False once revoked.';
COMMENT ON COLUMN api_key.scopes IS 'Array of what it may do, such as links:read.';


CREATE TABLE session (
    id            bigint PRIMARY KEY,
    user_id       bigint NOT NULL CONSTRAINT session_user_fkey REFERENCES users (id),
    workspace_id  bigint NOT NULL CONSTRAINT session_workspace_fkey REFERENCES workspace (id),
    token_hash    bytea NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL,
    last_seen_at  timestamptz,
    user_agent    text,
    CONSTRAINT session_token_key UNIQUE (token_hash)
);
CREATE INDEX session_user_idx ON session (user_id);
CREATE INDEX session_expires_idx ON session (expires_at);

COMMENT ON TABLE session IS 'A signed-in browser.';
COMMENT ON COLUMN session.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN session.user_id IS 'Who signed in.';
COMMENT ON COLUMN session.workspace_id IS 'The tenant it looks at.';
COMMENT ON COLUMN session.token_hash IS 'Hash of the cookie''s token.';
COMMENT ON COLUMN session.created_at IS 'When the person signed in.';
COMMENT ON COLUMN session.expires_at IS 'Refused from here on.';
COMMENT ON COLUMN session.last_seen_at IS 'When it was last used; may lag.';
COMMENT ON COLUMN session.user_agent IS 'The browser, so that its owner recognises it in a list.';


-- The first minute needs no set-up: whoever calls in open mode acts in this workspace, on this domain. The
-- server writes the base URL's host over 'localhost' when it starts.
INSERT INTO workspace (id, name, slug) VALUES (1, 'Default', 'default');
INSERT INTO domain (id, workspace_id, host, is_default, verified_at) VALUES (1, NULL, 'localhost', true, now());
