-- Makes rollups that reports can read at the same cost whatever the history. Previous release beside it: there is none.

-- Nothing wrote to these before.
DROP TABLE click_daily;
ALTER TABLE click_unique ADD COLUMN visitors bigint NOT NULL;
COMMENT ON TABLE click_unique IS 'Sketches that estimate the different people of a day, of a link or a whole workspace. Bots are not in them.';
COMMENT ON COLUMN click_unique.visitors IS 'What the sketch estimates, so that reports need not open it.';


CREATE TABLE click_daily (
    link_id       bigint NOT NULL,
    workspace_id  bigint NOT NULL,
    day           date NOT NULL,
    dimension     text COLLATE "C" NOT NULL,
    value         text COLLATE "C" NOT NULL,
    clicks        bigint NOT NULL DEFAULT 0,
    bot_clicks    bigint NOT NULL DEFAULT 0,
    -- A report reads one dimension over many days: they lie side by side.
    CONSTRAINT click_daily_pkey PRIMARY KEY (link_id, dimension, day, value)
) WITH (fillfactor = 80);

COMMENT ON TABLE click_daily IS 'Clicks by link, UTC day and one property of the click.';
COMMENT ON COLUMN click_daily.link_id IS 'The link.';
COMMENT ON COLUMN click_daily.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN click_daily.day IS 'The day, UTC.';
COMMENT ON COLUMN click_daily.dimension IS 'Which property: country, city, device_type, browser, os, referer or language.';
COMMENT ON COLUMN click_daily.value IS 'Its value, such as DE; empty when unknown.';
COMMENT ON COLUMN click_daily.clicks IS 'How many clicks had it, bots included.';
COMMENT ON COLUMN click_daily.bot_clicks IS 'Those of them that were bots.';


CREATE TABLE workspace_quarter (
    workspace_id  bigint NOT NULL,
    quarter       timestamptz NOT NULL,
    clicks        bigint NOT NULL DEFAULT 0,
    bot_clicks    bigint NOT NULL DEFAULT 0,
    CONSTRAINT workspace_quarter_pkey PRIMARY KEY (workspace_id, quarter)
) WITH (fillfactor = 80);

COMMENT ON TABLE workspace_quarter IS 'The same as click_quarter, of all links of a workspace.';
COMMENT ON COLUMN workspace_quarter.workspace_id IS 'The tenant.';
COMMENT ON COLUMN workspace_quarter.quarter IS 'Where the 15 minutes begin, UTC.';
COMMENT ON COLUMN workspace_quarter.clicks IS 'Bots included.';
COMMENT ON COLUMN workspace_quarter.bot_clicks IS 'Those of them that were bots.';


CREATE TABLE workspace_daily (
    workspace_id  bigint NOT NULL,
    day           date NOT NULL,
    dimension     text COLLATE "C" NOT NULL,
    value         text COLLATE "C" NOT NULL,
    clicks        bigint NOT NULL DEFAULT 0,
    bot_clicks    bigint NOT NULL DEFAULT 0,
    CONSTRAINT workspace_daily_pkey PRIMARY KEY (workspace_id, dimension, day, value)
) WITH (fillfactor = 80);

COMMENT ON TABLE workspace_daily IS 'The same as click_daily, of all links of a workspace.';
COMMENT ON COLUMN workspace_daily.workspace_id IS 'The tenant.';
COMMENT ON COLUMN workspace_daily.day IS 'The day, UTC.';
COMMENT ON COLUMN workspace_daily.dimension IS 'Which property, as in click_daily.';
COMMENT ON COLUMN workspace_daily.value IS 'Its value, such as DE; empty when unknown.';
COMMENT ON COLUMN workspace_daily.clicks IS 'How many clicks had it, bots included.';
COMMENT ON COLUMN workspace_daily.bot_clicks IS 'Those of them that were bots.';


CREATE TABLE workspace_top (
    workspace_id  bigint NOT NULL,
    day           date NOT NULL,
    sketch        bytea NOT NULL,
    CONSTRAINT workspace_top_pkey PRIMARY KEY (workspace_id, day)
);

COMMENT ON TABLE workspace_top IS 'Sketches of the most followed links of a workspace and a day: which ones, within bounds. How often, click_quarter says.';
COMMENT ON COLUMN workspace_top.workspace_id IS 'The tenant.';
COMMENT ON COLUMN workspace_top.day IS 'The day, UTC.';
COMMENT ON COLUMN workspace_top.sketch IS 'A mergeable sketch of frequent link ids.';


CREATE TABLE workspace_total (
    workspace_id     bigint CONSTRAINT workspace_total_pkey PRIMARY KEY,
    clicks           bigint NOT NULL DEFAULT 0,
    bot_clicks       bigint NOT NULL DEFAULT 0,
    last_clicked_at  timestamptz
) WITH (fillfactor = 50);

COMMENT ON TABLE workspace_total IS 'The same as link_total, of all links of a workspace.';
COMMENT ON COLUMN workspace_total.workspace_id IS 'The tenant.';
COMMENT ON COLUMN workspace_total.clicks IS 'Bots included.';
COMMENT ON COLUMN workspace_total.bot_clicks IS 'Those of them that were bots.';
COMMENT ON COLUMN workspace_total.last_clicked_at IS 'When any of its links was last followed.';


CREATE TABLE visitor_salt (
    day   date CONSTRAINT visitor_salt_pkey PRIMARY KEY,
    salt  bytea NOT NULL
);

COMMENT ON TABLE visitor_salt IS 'What makes the visitor hashes of one UTC day; removed soon after, so that nobody can tell who was who.';
COMMENT ON COLUMN visitor_salt.day IS 'The day, UTC.';
COMMENT ON COLUMN visitor_salt.salt IS 'Random bytes.';


DO $$
DECLARE
    current_workspace CONSTANT text := 'NULLIF(current_setting(''app.current_workspace_id'', true), '''')::bigint';
    owned text;
BEGIN
    FOREACH owned IN ARRAY ARRAY[
        'click_daily', 'workspace_quarter', 'workspace_daily', 'workspace_top', 'workspace_total'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', owned);
        EXECUTE format('CREATE POLICY %I ON %I USING (workspace_id = %s) WITH CHECK (workspace_id = %3$s)',
            owned || '_own', owned, current_workspace);
    END LOOP;
END
$$;
-- The owner's alone: no policy lets anybody else in.
ALTER TABLE visitor_salt ENABLE ROW LEVEL SECURITY;


-- Whoever reads the month holds it: giving up (lock_timeout) is better than queueing everybody behind this.
CREATE FUNCTION drop_click_partition(of_month date) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
    month_start CONSTANT timestamp := date_trunc('month', of_month::timestamp);
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I', 'click_event_' || to_char(month_start, 'YYYY_MM'));
    DELETE FROM click_event_default
    WHERE clicked_at >= month_start AT TIME ZONE 'UTC'
        AND clicked_at < (month_start + interval '1 month') AT TIME ZONE 'UTC';
END
$$;
COMMENT ON FUNCTION drop_click_partition(date) IS
    'Throws the raw clicks of a month away. Rollups and totals stay.';
