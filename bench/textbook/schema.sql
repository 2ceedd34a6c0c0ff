CREATE TABLE IF NOT EXISTS links (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    short_code varchar(16) NOT NULL UNIQUE,
    original_url text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    click_count bigint NOT NULL DEFAULT 0,
    last_clicked_at timestamptz
);
CREATE TABLE IF NOT EXISTS clicks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    link_id bigint NOT NULL REFERENCES links (id),
    clicked_at timestamptz NOT NULL DEFAULT now(),
    ip_address inet,
    user_agent text,
    referer text
);
CREATE INDEX IF NOT EXISTS clicks_link ON clicks (link_id, clicked_at);
