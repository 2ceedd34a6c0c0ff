-- Makes totals, rollups, raw clicks by month and journal positions. Previous release beside it: there is none.

-- No table here refers to short_link: after a restore a journal may hold clicks of links the backup does not
-- know, and one such click must not fail the batch it is in.

CREATE TYPE device_type AS ENUM ('desktop', 'mobile', 'tablet', 'bot', 'unknown');
CREATE TYPE click_scope AS ENUM ('link', 'workspace');

CREATE TABLE link_total (
    link_id          bigint PRIMARY KEY,
    workspace_id     bigint NOT NULL,
    clicks           bigint NOT NULL DEFAULT 0,
    bot_clicks       bigint NOT NULL DEFAULT 0,
    last_clicked_at  timestamptz,
    CONSTRAINT link_total_clicks_check CHECK (clicks >= 0),
    CONSTRAINT link_total_bot_clicks_check CHECK (bot_clicks >= 0)
);
CREATE INDEX link_total_top_idx ON link_total (workspace_id, clicks DESC, link_id DESC);

COMMENT ON TABLE link_total IS 'Clicks of a link since it was made; no row before the first. Apart from short_link, so that counting never rewrites what redirects read.';
COMMENT ON COLUMN link_total.link_id IS 'The link.';
COMMENT ON COLUMN link_total.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN link_total.clicks IS 'Every redirect answered to a GET, bots included.';
COMMENT ON COLUMN link_total.bot_clicks IS 'Those of them that were bots and link previews.';
COMMENT ON COLUMN link_total.last_clicked_at IS 'When it was last followed.';


CREATE TABLE click_quarter (
    link_id       bigint NOT NULL,
    workspace_id  bigint NOT NULL,
    quarter       timestamptz NOT NULL,
    clicks        bigint NOT NULL DEFAULT 0,
    bot_clicks    bigint NOT NULL DEFAULT 0,
    CONSTRAINT click_quarter_pkey PRIMARY KEY (link_id, quarter)
);

COMMENT ON TABLE click_quarter IS 'Clicks by link and quarter of an hour, so that every time zone''s hours and days add up.';
COMMENT ON COLUMN click_quarter.link_id IS 'The link.';
COMMENT ON COLUMN click_quarter.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN click_quarter.quarter IS 'Where the 15 minutes begin, UTC.';
COMMENT ON COLUMN click_quarter.clicks IS 'Bots included.';
COMMENT ON COLUMN click_quarter.bot_clicks IS 'Those of them that were bots.';


CREATE TABLE click_daily (
    link_id       bigint NOT NULL,
    workspace_id  bigint NOT NULL,
    day           date NOT NULL,
    dimension     text COLLATE "C" NOT NULL,
    value         text COLLATE "C" NOT NULL,
    clicks        bigint NOT NULL DEFAULT 0,
    CONSTRAINT click_daily_pkey PRIMARY KEY (link_id, day, dimension, value)
);

COMMENT ON TABLE click_daily IS 'Clicks by link, UTC day and one property of the click.';
COMMENT ON COLUMN click_daily.link_id IS 'The link.';
COMMENT ON COLUMN click_daily.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN click_daily.day IS 'The day, UTC.';
COMMENT ON COLUMN click_daily.dimension IS 'Which property, such as country or browser.';
COMMENT ON COLUMN click_daily.value IS 'Its value, such as DE; empty when unknown.';
COMMENT ON COLUMN click_daily.clicks IS 'How many clicks had it.';


CREATE TABLE click_unique (
    scope         click_scope NOT NULL,
    scope_id      bigint NOT NULL,
    workspace_id  bigint NOT NULL,
    day           date NOT NULL,
    sketch        bytea NOT NULL,
    CONSTRAINT click_unique_pkey PRIMARY KEY (scope, scope_id, day)
);

COMMENT ON TABLE click_unique IS 'Sketches that estimate the different visitors of a day, of a link or a whole workspace.';
COMMENT ON COLUMN click_unique.scope IS 'Whether scope_id is a link or a workspace.';
COMMENT ON COLUMN click_unique.scope_id IS 'The link or the workspace.';
COMMENT ON COLUMN click_unique.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN click_unique.day IS 'The day, UTC.';
COMMENT ON COLUMN click_unique.sketch IS 'A mergeable sketch; no visitor can be read out of it.';


CREATE TABLE click_event (
    id             bigint NOT NULL,
    short_link_id  bigint NOT NULL,
    workspace_id   bigint NOT NULL,
    clicked_at     timestamptz NOT NULL,
    ip_address     inet,
    visitor_hash   bytea,
    user_agent     text,
    referer        text,
    country        varchar(2),
    city           text,
    device_type    device_type NOT NULL DEFAULT 'unknown',
    browser        text,
    os             text,
    language       text,
    -- Serves "by time" as well: an index on clicked_at alone would be a second copy of it.
    CONSTRAINT click_event_pkey PRIMARY KEY (clicked_at, id)
) PARTITION BY RANGE (clicked_at);
CREATE INDEX click_event_link_idx ON click_event (short_link_id, clicked_at DESC);

COMMENT ON TABLE click_event IS 'Raw clicks, one partition a month (UTC), dropped whole when they are too old.';
COMMENT ON COLUMN click_event.id IS 'Made by the program.';
COMMENT ON COLUMN click_event.short_link_id IS 'The link that was followed.';
COMMENT ON COLUMN click_event.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN click_event.clicked_at IS 'When the redirect was answered.';
COMMENT ON COLUMN click_event.ip_address IS 'The visitor''s network; cut before it is stored (setting LACONIC_PRIVACY).';
COMMENT ON COLUMN click_event.visitor_hash IS 'Tells visitors of one day apart; its salt is then forgotten.';
COMMENT ON COLUMN click_event.user_agent IS 'The User-Agent header.';
COMMENT ON COLUMN click_event.referer IS 'The Referer header.';
COMMENT ON COLUMN click_event.country IS 'ISO 3166-1 alpha-2, from the address.';
COMMENT ON COLUMN click_event.city IS 'From the address.';
COMMENT ON COLUMN click_event.device_type IS 'From the user agent.';
COMMENT ON COLUMN click_event.browser IS 'From the user agent.';
COMMENT ON COLUMN click_event.os IS 'From the user agent.';
COMMENT ON COLUMN click_event.language IS 'The first of the Accept-Language header.';

-- Takes clicks of months that have no partition yet, so that no insert ever fails for the lack of one.
CREATE TABLE click_event_default PARTITION OF click_event DEFAULT;
-- Partitions have row-level security and no policy: whoever is not the owner reads through click_event.
ALTER TABLE click_event_default ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE click_event_default IS 'Clicks of months without a partition; ensure_click_partitions() moves them.';

-- Built aside and then attached, so that reads of click_event go on; CREATE TABLE ... PARTITION OF would lock them
-- out. What the default partition holds of the month is moved first, or attaching would fail. Writers wait for
-- these milliseconds: one that had chosen the default partition before would be refused by its new bounds after.
-- Callers take turns by the same lock. If a long report holds the default partition, giving up (lock_timeout) is
-- better than queueing everybody behind it: months are made well ahead.
CREATE FUNCTION ensure_click_partitions(from_month date, months integer) RETURNS integer
LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
    first_month CONSTANT timestamp := date_trunc('month', from_month::timestamp);
    month_start timestamp;
    -- With their offset, because the session's time zone must not move the bounds.
    lower_bound text;
    upper_bound text;
    partition_name text;
    made integer := 0;
BEGIN
    FOR step IN 0 .. months - 1 LOOP
        month_start := first_month + make_interval(months => step);
        partition_name := 'click_event_' || to_char(month_start, 'YYYY_MM');
        CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
        LOCK TABLE ONLY click_event IN SHARE ROW EXCLUSIVE MODE;
        CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
        LOCK TABLE click_event_default IN ACCESS EXCLUSIVE MODE;

        lower_bound := to_char(month_start, 'YYYY-MM-DD') || ' 00:00:00+00';
        upper_bound := to_char(month_start + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00';
        EXECUTE format('CREATE TABLE %I (LIKE click_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
            ' INCLUDING COMMENTS INCLUDING STORAGE)', partition_name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition_name);
        EXECUTE format('COMMENT ON TABLE %I IS %L', partition_name,
            'Clicks of ' || to_char(month_start, 'YYYY-MM') || ', UTC.');
        EXECUTE format('WITH moved AS (DELETE FROM click_event_default'
            ' WHERE clicked_at >= %L AND clicked_at < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
            lower_bound, upper_bound, partition_name);
        EXECUTE format('ALTER TABLE click_event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            partition_name, lower_bound, upper_bound);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;
COMMENT ON FUNCTION ensure_click_partitions(date, integer) IS
    'Makes the missing monthly partitions of click_event from a month on, and says how many it made. Safe to repeat and from several sessions.';

SELECT ensure_click_partitions((now() AT TIME ZONE 'UTC')::date, 3);


CREATE TABLE journal_position (
    journal_id  text COLLATE "C" PRIMARY KEY,
    segment     bigint NOT NULL,
    position    bigint NOT NULL,
    sequence    bigint NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE journal_position IS 'How far each click journal has been applied. Written in the transaction that applies a batch, so nothing is counted twice.';
COMMENT ON COLUMN journal_position.journal_id IS 'The journal; random for each start of a process.';
COMMENT ON COLUMN journal_position.segment IS 'Its segment.';
COMMENT ON COLUMN journal_position.position IS 'Bytes of the segment that are applied.';
COMMENT ON COLUMN journal_position.sequence IS 'The last record applied.';
COMMENT ON COLUMN journal_position.updated_at IS 'When the batch was applied.';
