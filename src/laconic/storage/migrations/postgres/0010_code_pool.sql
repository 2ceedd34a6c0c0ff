-- Makes the durable pool of codes work: its counts, regions and recovery. Previous release beside it: yes.

-- Counts instead of count(*): a pool of ten million codes must not be counted every second.
ALTER TABLE kgs_range
    ADD COLUMN prefix        text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN pooled        bigint NOT NULL DEFAULT 0,
    ADD COLUMN taken         bigint NOT NULL DEFAULT 0,
    ADD COLUMN skipped       bigint NOT NULL DEFAULT 0,
    ADD COLUMN lineage       text,
    ADD COLUMN pool_lineage  text,
    ADD CONSTRAINT kgs_range_prefix_check CHECK (prefix ~ '^[a-zA-Z0-9]?$');

COMMENT ON COLUMN kgs_range.prefix IS 'First character of the codes; empty: the region has all codes of this length.';
COMMENT ON COLUMN kgs_range.pooled IS 'Codes ever put into the pool.';
COMMENT ON COLUMN kgs_range.taken IS 'Codes ever taken out of the pool: pooled - taken are unused.';
COMMENT ON COLUMN kgs_range.skipped IS 'Counters jumped over after a failover or a restore.';
COMMENT ON COLUMN kgs_range.lineage IS 'The database_lineage() that the cursor was last moved on.';
COMMENT ON COLUMN kgs_range.pool_lineage IS 'The database_lineage() that the pool belongs to; another one: it must be discarded.';

CREATE INDEX kgs_keys_held_idx ON kgs_keys (allocated_to_service, allocated_at) WHERE status <> 'unused';

-- Another server (system identifier), a promoted replica or a recovery to a point in time (timeline), a dump that was
-- read in again (database, table): in all these cases what was committed last may be missing.
CREATE FUNCTION database_lineage() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT concat_ws(
        '/',
        (SELECT system_identifier FROM pg_control_system()),
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        'kgs_range'::regclass::oid
    )
$$;
COMMENT ON FUNCTION database_lineage() IS
    'Names the history of this database. It changes with a failover and with a restore, when commits may be missing.';
