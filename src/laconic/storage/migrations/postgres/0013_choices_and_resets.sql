-- What workspaces have chosen about clicks, links for a new password, domains whose proof has lapsed. Previous release beside it: yes.

-- Few workspaces choose; ingest asks for them once a second.
CREATE INDEX workspace_clicks_idx ON workspace (id)
    WHERE (settings ->> 'privacy') IS NOT NULL OR (settings ->> 'click_retention_days') IS NOT NULL;


CREATE TABLE click_retention (
    workspace_id  bigint CONSTRAINT click_retention_pkey PRIMARY KEY,
    kept_since    timestamptz NOT NULL
);

COMMENT ON TABLE click_retention IS 'Workspaces that keep raw clicks for a shorter time than the installation: how far that is done.';
COMMENT ON COLUMN click_retention.workspace_id IS 'The tenant.';
COMMENT ON COLUMN click_retention.kept_since IS 'Its raw clicks from before this moment are removed.';

-- Upkeep's alone: a role that does not own the tables sees none.
ALTER TABLE click_retention ENABLE ROW LEVEL SECURITY;
CREATE POLICY click_retention_upkeep ON click_retention USING (false);


CREATE TABLE password_reset (
    id            bigint CONSTRAINT password_reset_pkey PRIMARY KEY,
    workspace_id  bigint NOT NULL CONSTRAINT password_reset_workspace_fkey REFERENCES workspace (id),
    user_id       bigint NOT NULL CONSTRAINT password_reset_user_fkey REFERENCES users (id),
    token_hash    bytea NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL,
    used_at       timestamptz,
    CONSTRAINT password_reset_token_key UNIQUE (token_hash)
);
CREATE INDEX password_reset_user_idx ON password_reset (workspace_id, user_id);
CREATE INDEX password_reset_expires_idx ON password_reset (expires_at);
ALTER TABLE password_reset ENABLE ROW LEVEL SECURITY;
CREATE POLICY password_reset_own ON password_reset
    USING (workspace_id = NULLIF(current_setting('app.current_workspace_id', true), '')::bigint)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.current_workspace_id', true), '')::bigint);

COMMENT ON TABLE password_reset IS 'A link by which a user chooses a new password. Works once.';
COMMENT ON COLUMN password_reset.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN password_reset.workspace_id IS 'The tenant.';
COMMENT ON COLUMN password_reset.user_id IS 'Whose password.';
COMMENT ON COLUMN password_reset.token_hash IS 'Hash of the link''s token.';
COMMENT ON COLUMN password_reset.created_at IS 'When it was made.';
COMMENT ON COLUMN password_reset.expires_at IS 'Refused from here on.';
COMMENT ON COLUMN password_reset.used_at IS 'When it was used, or another took its place; null: not yet.';


ALTER TABLE domain
    ADD COLUMN is_trusted boolean NOT NULL DEFAULT false,
    ADD COLUMN checked_at timestamptz,
    ADD COLUMN lapsed_at timestamptz;
COMMENT ON COLUMN domain.is_trusted IS 'Whether the operator has vouched for it: then no proof is looked for again.';
COMMENT ON COLUMN domain.checked_at IS 'When its proof was last looked for; null: not since it was proved.';
COMMENT ON COLUMN domain.lapsed_at IS 'Since when its proof is missing; null: it is there.';
