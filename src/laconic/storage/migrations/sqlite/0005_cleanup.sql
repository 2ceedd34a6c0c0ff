-- Lets the reaper find what is to be blanked, and keep its figures. Previous release beside it: yes.

CREATE INDEX short_link_blank_idx ON short_link (updated_at)
    WHERE original_url IS NOT NULL AND gone_reason IN ('expired', 'deleted');

-- Expired API keys and sessions, old idempotency keys and change rows that a run removed.
ALTER TABLE cleanup_run ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
-- Links in its last step that had any.
ALTER TABLE cleanup_run ADD COLUMN last_batch INTEGER NOT NULL DEFAULT 0;
CREATE INDEX cleanup_run_started_idx ON cleanup_run (started_at);
