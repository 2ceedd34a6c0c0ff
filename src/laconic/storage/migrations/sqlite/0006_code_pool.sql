-- Makes the durable pool of codes work: its counts, regions and recovery. Previous release beside it: yes.

-- First character of the codes; empty: the region has all codes of this length.
ALTER TABLE kgs_range ADD COLUMN prefix TEXT NOT NULL DEFAULT '';
-- Codes ever put into the pool, and ever taken out of it: the difference is unused.
ALTER TABLE kgs_range ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE kgs_range ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
-- Counters jumped over after a restore.
ALTER TABLE kgs_range ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
-- The database_lineage() that the cursor was last moved on, and the one that the pool belongs to.
ALTER TABLE kgs_range ADD COLUMN lineage TEXT;
ALTER TABLE kgs_range ADD COLUMN pool_lineage TEXT;

CREATE INDEX kgs_keys_held_idx ON kgs_keys (allocated_to_service, allocated_at) WHERE status <> 'unused';
