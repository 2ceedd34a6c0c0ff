-- An index over parts of URLs, so that a million links are searched at once. Previous release beside it: yes.

-- Needs the extension pg_trgm, which comes with PostgreSQL and which a database's owner may create. Where it is missing
-- or not allowed, searching goes on without: it is right, and slow in a large workspace.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX short_link_url_idx ON short_link USING gin (lower(original_url) gin_trgm_ops);
EXCEPTION
    WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
        RAISE NOTICE 'pg_trgm cannot be used here: searching URLs stays slow in large workspaces';
END
$$;
