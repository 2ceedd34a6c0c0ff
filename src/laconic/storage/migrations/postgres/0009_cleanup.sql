-- Lets the reaper find what is to be blanked, and keep its figures. Previous release beside it: yes.

CREATE INDEX short_link_blank_idx ON short_link (updated_at)
    WHERE original_url IS NOT NULL AND gone_reason IN ('expired', 'deleted');

ALTER TABLE cleanup_run ADD COLUMN removed bigint NOT NULL DEFAULT 0;
ALTER TABLE cleanup_run ADD COLUMN last_batch bigint NOT NULL DEFAULT 0;
CREATE INDEX cleanup_run_started_idx ON cleanup_run (started_at);

COMMENT ON COLUMN cleanup_run.removed IS 'Expired API keys and sessions, old idempotency keys and change rows it removed.';
COMMENT ON COLUMN cleanup_run.last_batch IS 'Links in its last step that had any.';
