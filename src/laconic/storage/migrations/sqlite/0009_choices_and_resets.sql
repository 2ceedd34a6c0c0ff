-- What workspaces have chosen about clicks, links for a new password, domains whose proof has lapsed. Previous release beside it: yes.

-- Few workspaces choose; ingest asks for them once a second.
CREATE INDEX workspace_clicks_idx ON workspace (id)
    WHERE (settings ->> 'privacy') IS NOT NULL OR (settings ->> 'click_retention_days') IS NOT NULL;


CREATE TABLE click_retention (
    -- Workspaces that keep raw clicks for a shorter time than the installation: how far that is done.
    workspace_id  INTEGER PRIMARY KEY,
    -- Its raw clicks from before this moment are removed.
    kept_since    INTEGER NOT NULL
) STRICT;


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
CREATE UNIQUE INDEX password_reset_token_key ON password_reset (token_hash);
CREATE INDEX password_reset_user_idx ON password_reset (workspace_id, user_id);
CREATE INDEX password_reset_expires_idx ON password_reset (expires_at);


-- Whether the operator has vouched for it: then no proof is looked for again.
ALTER TABLE domain ADD COLUMN is_trusted INTEGER NOT NULL DEFAULT 0 CHECK (is_trusted IN (0, 1));
-- When its proof was last looked for; null: not since it was proved.
ALTER TABLE domain ADD COLUMN checked_at INTEGER;
-- Since when its proof is missing; null: it is there.
ALTER TABLE domain ADD COLUMN lapsed_at INTEGER;
