-- Makes the audit trail, leases, cleanup runs and cleanup functions. Previous release beside it: there is none.

CREATE TABLE audit_event (
    id            bigint PRIMARY KEY,
    workspace_id  bigint CONSTRAINT audit_event_workspace_fkey REFERENCES workspace (id),
    actor_id      bigint,
    actor_kind    text NOT NULL,
    action        text NOT NULL,
    subject_kind  text NOT NULL,
    subject_id    bigint,
    before        jsonb,
    after         jsonb,
    address       inet,
    created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_event_list_idx ON audit_event (workspace_id, created_at DESC, id DESC);

COMMENT ON TABLE audit_event IS 'Who changed what. Only ever added to.';
COMMENT ON COLUMN audit_event.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN audit_event.workspace_id IS 'The tenant it concerns; null: the installation as a whole.';
COMMENT ON COLUMN audit_event.actor_id IS 'The user or API key; null when there is none. It may be gone by now.';
COMMENT ON COLUMN audit_event.actor_kind IS 'What actor_id is: user, api_key, open (open mode), command, system.';
COMMENT ON COLUMN audit_event.action IS 'What was done, such as link.delete.';
COMMENT ON COLUMN audit_event.subject_kind IS 'What it was done to, such as link.';
COMMENT ON COLUMN audit_event.subject_id IS 'Which one.';
COMMENT ON COLUMN audit_event.before IS 'The changed fields before.';
COMMENT ON COLUMN audit_event.after IS 'The changed fields after.';
COMMENT ON COLUMN audit_event.address IS 'Where the request came from.';
COMMENT ON COLUMN audit_event.created_at IS 'When it was done.';


CREATE TABLE job_lease (
    name        text COLLATE "C" PRIMARY KEY,
    holder      text NOT NULL,
    token       bigint NOT NULL,
    expires_at  timestamptz NOT NULL,
    CONSTRAINT job_lease_token_check CHECK (token >= 1)
);

COMMENT ON TABLE job_lease IS 'Which process does a job that only one may do.';
COMMENT ON COLUMN job_lease.name IS 'The job.';
COMMENT ON COLUMN job_lease.holder IS 'The process that has it.';
COMMENT ON COLUMN job_lease.token IS 'Grows with every holder: a late one is known by its lower number.';
COMMENT ON COLUMN job_lease.expires_at IS 'Until when, by the database''s clock.';


CREATE TABLE cleanup_run (
    id           bigint PRIMARY KEY,
    started_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    retired      bigint NOT NULL DEFAULT 0,
    blanked      bigint NOT NULL DEFAULT 0,
    error        text
);

COMMENT ON TABLE cleanup_run IS 'Runs of the reaper.';
COMMENT ON COLUMN cleanup_run.id IS 'Made by the program: ordered by time.';
COMMENT ON COLUMN cleanup_run.started_at IS 'When it began.';
COMMENT ON COLUMN cleanup_run.finished_at IS 'When it ended; null: under way, or its process died.';
COMMENT ON COLUMN cleanup_run.retired IS 'Expired links it retired.';
COMMENT ON COLUMN cleanup_run.blanked IS 'Rows of gone links it blanked.';
COMMENT ON COLUMN cleanup_run.error IS 'Why it failed; null: it did not.';


-- For whoever has no reaper running: all at once and by the database's clock. The reaper works in small batches.
CREATE FUNCTION cleanup_expired_links(OUT deactivated_count bigint) LANGUAGE plpgsql AS $$
BEGIN
    WITH retired AS (
        UPDATE short_link
        SET is_active = false, gone_reason = 'expired', version = version + 1
        WHERE expires_at <= now() AND is_active AND NOT is_deleted
        RETURNING domain_id, short_code, version
    ), told AS (
        INSERT INTO link_change (domain_id, short_code, version)
        SELECT domain_id, short_code, version FROM retired
    )
    SELECT count(*) INTO deactivated_count FROM retired;
END
$$;
COMMENT ON FUNCTION cleanup_expired_links() IS
    'Retires links whose time is over and tells the caches. Redirects refuse them before that, too.';

-- Tells no cache: a remembered key carries its expires_at, which is judged at every use.
CREATE FUNCTION cleanup_expired_api_keys(OUT deleted_count bigint) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM api_key WHERE expires_at <= now();
    GET DIAGNOSTICS deleted_count = ROW_COUNT;
END
$$;
COMMENT ON FUNCTION cleanup_expired_api_keys() IS 'Removes API keys whose time is over.';
