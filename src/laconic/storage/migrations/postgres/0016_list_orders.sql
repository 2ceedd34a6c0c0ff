-- Indexes for lists of what was changed, expires or is off, so that none walks a whole workspace. Previous release beside it: yes.

-- Partial, all of them: a link that is made without an expiry, which most are, is in none. The conditions are worded as
-- in links/browse.py and links/store.py.
CREATE INDEX short_link_changed_idx ON short_link (workspace_id, updated_at DESC, id DESC)
    WHERE updated_at <> created_at AND NOT is_deleted AND original_url IS NOT NULL;
CREATE INDEX short_link_dated_idx ON short_link (workspace_id, created_at DESC, id DESC, expires_at, gone_reason)
    WHERE (gone_reason = 'expired' OR expires_at IS NOT NULL) AND NOT is_deleted AND original_url IS NOT NULL;
CREATE INDEX short_link_off_idx ON short_link (workspace_id, created_at DESC, id DESC)
    WHERE NOT is_active AND (gone_reason IS NULL OR gone_reason <> 'expired') AND NOT is_deleted
    AND original_url IS NOT NULL;
