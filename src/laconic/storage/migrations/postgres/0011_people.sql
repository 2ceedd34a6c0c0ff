-- Makes invitations, sign-in back-off and what sessions and users need. Previous release beside it: yes.

ALTER TABLE users ADD COLUMN oidc_subject text;
CREATE UNIQUE INDEX users_oidc_key ON users (workspace_id, oidc_subject) WHERE oidc_subject IS NOT NULL;
CREATE INDEX users_oidc_idx ON users (oidc_subject) WHERE oidc_subject IS NOT NULL;
COMMENT ON COLUMN users.oidc_subject IS 'Who this is at the identity provider; null until the first sign-in through it.';

ALTER TABLE session
    ADD COLUMN previous_hash bytea,
    ADD COLUMN rotated_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN address inet;
CREATE UNIQUE INDEX session_previous_key ON session (previous_hash) WHERE previous_hash IS NOT NULL;
COMMENT ON COLUMN session.previous_hash IS 'Hash of the token before the last rotation; good for a minute more.';
COMMENT ON COLUMN session.rotated_at IS 'When the token was last renewed.';
COMMENT ON COLUMN session.address IS 'Where the person signed in from.';

CREATE TABLE invitation (
    id            bigint PRIMARY KEY,
    workspace_id  bigint NOT NULL CONSTRAINT invitation_workspace_fkey REFERENCES workspace (id),
    token_hash    bytea NOT NULL,
    email         text,
    role          user_role NOT NULL,
    is_setup      boolean NOT NULL DEFAULT false,
    created_by    bigint CONSTRAINT invitation_created_by_fkey REFERENCES users (id),
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL,
    used_at       timestamptz,
    CONSTRAINT invitation_token_key UNIQUE (token_hash)
);
CREATE INDEX invitation_workspace_idx ON invitation (workspace_id);
CREATE INDEX invitation_expires_idx ON invitation (expires_at);
ALTER TABLE invitation ENABLE ROW LEVEL SECURITY;
CREATE POLICY invitation_own ON invitation
    USING (workspace_id = NULLIF(current_setting('app.current_workspace_id', true), '')::bigint)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.current_workspace_id', true), '')::bigint);

COMMENT ON TABLE invitation IS 'A link that makes whoever opens it a user. Works once.';
COMMENT ON COLUMN invitation.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN invitation.workspace_id IS 'The tenant it invites to.';
COMMENT ON COLUMN invitation.token_hash IS 'Hash of the link''s token.';
COMMENT ON COLUMN invitation.email IS 'For whom; null: whoever has the link.';
COMMENT ON COLUMN invitation.role IS 'What the user will be.';
COMMENT ON COLUMN invitation.is_setup IS 'The set-up link of the installation: makes its first user, who is its operator.';
COMMENT ON COLUMN invitation.created_by IS 'Who invites; null: the command line or the server.';
COMMENT ON COLUMN invitation.created_at IS 'When it was made.';
COMMENT ON COLUMN invitation.expires_at IS 'Refused from here on.';
COMMENT ON COLUMN invitation.used_at IS 'When it was used or taken back; null: not yet.';

CREATE TABLE sign_in_failure (
    key_hash       bytea PRIMARY KEY,
    failures       integer NOT NULL,
    blocked_until  timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL
);
CREATE INDEX sign_in_failure_updated_idx ON sign_in_failure (updated_at);

COMMENT ON TABLE sign_in_failure IS 'Wrong sign-ins in a row, by account, by address and by both. Old rows are removed.';
COMMENT ON COLUMN sign_in_failure.key_hash IS 'Keyed hash of what is counted: no address and no e-mail can be read out of it.';
COMMENT ON COLUMN sign_in_failure.failures IS 'How many in a row.';
COMMENT ON COLUMN sign_in_failure.blocked_until IS 'The next attempt is looked at from here on.';
COMMENT ON COLUMN sign_in_failure.updated_at IS 'When it was last counted.';

ALTER TABLE api_key ADD COLUMN replaced_by bigint;
COMMENT ON COLUMN api_key.replaced_by IS 'The key that it was rotated to; null: none.';

CREATE INDEX audit_event_subject_idx ON audit_event (workspace_id, subject_kind, subject_id, created_at DESC);
ALTER TABLE audit_event ADD COLUMN subject text;
COMMENT ON COLUMN audit_event.subject IS 'Its name at that time: a code, an e-mail, a slug, the beginning of a key.';
COMMENT ON COLUMN audit_event.id IS 'Made by the program: random.';
