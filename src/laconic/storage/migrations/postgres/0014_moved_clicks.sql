-- Remembers which clicks of other installations have been added, so that none is added twice. Previous release beside it: yes.

CREATE TABLE moved_source (
    id            bigint CONSTRAINT moved_source_pkey PRIMARY KEY,
    workspace_id  bigint NOT NULL,
    name          text COLLATE "C" NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CONSTRAINT moved_source_name_key UNIQUE (workspace_id, name)
);

COMMENT ON TABLE moved_source IS 'Another installation, or another shortener, from which clicks were imported.';
COMMENT ON COLUMN moved_source.id IS 'Made by the program.';
COMMENT ON COLUMN moved_source.workspace_id IS 'The tenant that imported it.';
COMMENT ON COLUMN moved_source.name IS 'What it calls itself, or what --source says.';
COMMENT ON COLUMN moved_source.created_at IS 'When it was first imported.';
COMMENT ON COLUMN moved_source.updated_at IS 'When something was last added from it.';


CREATE TABLE moved_link (
    source_id     bigint NOT NULL CONSTRAINT moved_link_source_fkey REFERENCES moved_source (id),
    link_id       bigint NOT NULL,
    workspace_id  bigint NOT NULL,
    position      bigint NOT NULL,
    portion       text,
    dated         bigint NOT NULL,
    dated_bots    bigint NOT NULL,
    claimed       bigint NOT NULL,
    claimed_bots  bigint NOT NULL,
    CONSTRAINT moved_link_pkey PRIMARY KEY (source_id, link_id)
);

COMMENT ON TABLE moved_link IS 'What a source has added to a link so far. Written in the transaction that adds it.';
COMMENT ON COLUMN moved_link.source_id IS 'Where the clicks come from.';
COMMENT ON COLUMN moved_link.link_id IS 'The link.';
COMMENT ON COLUMN moved_link.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN moved_link.position IS 'The last of the source''s portions or clicks that was added; they come in growing order.';
COMMENT ON COLUMN moved_link.portion IS 'That portion as it was added, as JSON: it may have grown when it comes again.';
COMMENT ON COLUMN moved_link.dated IS 'Clicks that came with a time.';
COMMENT ON COLUMN moved_link.dated_bots IS 'Those of them that were bots.';
COMMENT ON COLUMN moved_link.claimed IS 'What the source says that it has counted; the larger of the two is in link_total.';
COMMENT ON COLUMN moved_link.claimed_bots IS 'The same of bots.';


DO $$
DECLARE
    current_workspace CONSTANT text := 'NULLIF(current_setting(''app.current_workspace_id'', true), '''')::bigint';
    owned text;
BEGIN
    FOREACH owned IN ARRAY ARRAY['moved_source', 'moved_link'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', owned);
        EXECUTE format('CREATE POLICY %I ON %I USING (workspace_id = %s) WITH CHECK (workspace_id = %3$s)',
            owned || '_own', owned, current_workspace);
    END LOOP;
END
$$;
