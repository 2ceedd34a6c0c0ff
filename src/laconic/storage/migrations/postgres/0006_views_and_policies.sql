-- Makes the views for people's own tools and row-level security. Previous release beside it: there is none.

CREATE VIEW v_active_short_links AS
SELECT
    short_link.id,
    short_link.workspace_id,
    workspace.name AS workspace_name,
    workspace.slug AS workspace_slug,
    short_link.short_code,
    short_link.original_url,
    short_link.title,
    short_link.description,
    short_link.created_at,
    short_link.expires_at,
    coalesce(link_total.clicks, 0) AS click_count,
    users.full_name AS created_by_name,
    users.email AS created_by_email
FROM short_link
JOIN workspace ON workspace.id = short_link.workspace_id
LEFT JOIN users ON users.id = short_link.created_by
LEFT JOIN link_total ON link_total.link_id = short_link.id
WHERE short_link.is_active
    AND NOT short_link.is_deleted
    AND (short_link.expires_at IS NULL OR short_link.expires_at > now());

COMMENT ON VIEW v_active_short_links IS 'Links that redirect now, with their workspace, their maker and their clicks.';
COMMENT ON COLUMN v_active_short_links.id IS 'The link.';
COMMENT ON COLUMN v_active_short_links.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN v_active_short_links.workspace_name IS 'The tenant''s name.';
COMMENT ON COLUMN v_active_short_links.workspace_slug IS 'The tenant''s name in URLs.';
COMMENT ON COLUMN v_active_short_links.short_code IS 'The path part of the short URL.';
COMMENT ON COLUMN v_active_short_links.original_url IS 'The URL as given.';
COMMENT ON COLUMN v_active_short_links.title IS 'What its owner calls it.';
COMMENT ON COLUMN v_active_short_links.description IS 'What its owner says about it.';
COMMENT ON COLUMN v_active_short_links.created_at IS 'When it was made.';
COMMENT ON COLUMN v_active_short_links.expires_at IS 'When it stops; null: never.';
COMMENT ON COLUMN v_active_short_links.click_count IS 'Clicks since it was made, bots included.';
COMMENT ON COLUMN v_active_short_links.created_by_name IS 'Who made it; null in open mode.';
COMMENT ON COLUMN v_active_short_links.created_by_email IS 'Who made it; null in open mode.';


CREATE VIEW v_daily_click_stats AS
SELECT
    short_link_id,
    (clicked_at AT TIME ZONE 'UTC')::date AS click_date,
    count(*) AS total_clicks,
    count(DISTINCT ip_address) AS unique_ips,
    count(*) FILTER (WHERE device_type = 'desktop') AS desktop_clicks,
    count(*) FILTER (WHERE device_type = 'mobile') AS mobile_clicks,
    count(*) FILTER (WHERE device_type = 'tablet') AS tablet_clicks,
    count(DISTINCT country) AS countries_count
FROM click_event
GROUP BY short_link_id, (clicked_at AT TIME ZONE 'UTC')::date;

COMMENT ON VIEW v_daily_click_stats IS 'Raw clicks by link and UTC day. Reads every click it is asked about; charts read click_daily.';
COMMENT ON COLUMN v_daily_click_stats.short_link_id IS 'The link.';
COMMENT ON COLUMN v_daily_click_stats.click_date IS 'The day, UTC.';
COMMENT ON COLUMN v_daily_click_stats.total_clicks IS 'All clicks, bots included.';
COMMENT ON COLUMN v_daily_click_stats.unique_ips IS 'Different addresses, as they are stored (cut by default).';
COMMENT ON COLUMN v_daily_click_stats.desktop_clicks IS 'Clicks from desktops.';
COMMENT ON COLUMN v_daily_click_stats.mobile_clicks IS 'Clicks from telephones.';
COMMENT ON COLUMN v_daily_click_stats.tablet_clicks IS 'Clicks from tablets.';
COMMENT ON COLUMN v_daily_click_stats.countries_count IS 'Different countries.';

-- A view reads with its owner's rights, past every policy, unless it is told otherwise; PostgreSQL 13 and 14
-- cannot be told: there, grant these views to nobody who may not see all tenants.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 150000 THEN
        EXECUTE 'ALTER VIEW v_active_short_links SET (security_invoker = true)';
        EXECUTE 'ALTER VIEW v_daily_click_stats SET (security_invoker = true)';
    END IF;
END
$$;


-- A second lock behind the stores' own: a role that does not own the tables sees the rows of the workspace that
-- its transaction has named, and none when it has named none. The owner is not held (no FORCE): look-ups, ingest
-- and upkeep work for all tenants. NULLIF: a setting that was set in the session once is '' afterwards.
DO $$
DECLARE
    current_workspace CONSTANT text := 'NULLIF(current_setting(''app.current_workspace_id'', true), '''')::bigint';
    owned text;
BEGIN
    FOREACH owned IN ARRAY ARRAY[
        'users', 'domain', 'api_key', 'session', 'short_link', 'idempotency_key', 'link_total', 'click_quarter',
        'click_daily', 'click_unique', 'click_event', 'audit_event'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', owned);
        EXECUTE format('CREATE POLICY %I ON %I USING (workspace_id = %s) WITH CHECK (workspace_id = %3$s)',
            owned || '_own', owned, current_workspace);
    END LOOP;

    ALTER TABLE workspace ENABLE ROW LEVEL SECURITY;
    EXECUTE format('CREATE POLICY workspace_own ON workspace USING (id = %s) WITH CHECK (id = %1$s)',
        current_workspace);
    -- Only to read: with one policy for everything, a tenant could make a shared domain its own.
    CREATE POLICY domain_shared ON domain FOR SELECT USING (workspace_id IS NULL);
END
$$;
