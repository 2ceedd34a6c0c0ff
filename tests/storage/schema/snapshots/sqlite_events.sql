CREATE TABLE click_event (
    id             INTEGER PRIMARY KEY,
    short_link_id  INTEGER NOT NULL,
    workspace_id   INTEGER NOT NULL,
    -- Microseconds since 1970 UTC.
    clicked_at     INTEGER NOT NULL,
    -- The visitor's network; cut before it is stored (setting LACONIC_PRIVACY).
    ip_address     TEXT,
    -- Tells visitors of one day apart; its salt is then forgotten.
    visitor_hash   BLOB,
    user_agent     TEXT,
    referer        TEXT,
    -- ISO 3166-1 alpha-2, from the address.
    country        TEXT,
    city           TEXT,
    device_type    TEXT NOT NULL DEFAULT 'unknown'
        CHECK (device_type IN ('desktop', 'mobile', 'tablet', 'bot', 'unknown')),
    browser        TEXT,
    os             TEXT,
    language       TEXT
) STRICT;
CREATE INDEX click_event_link_idx ON click_event (short_link_id, clicked_at DESC);
CREATE INDEX click_event_time_idx ON click_event (clicked_at);

CREATE TABLE journal_position (
    -- How far each click journal has been applied to this file: SQLite commits each file by itself, so the file
    -- must know on its own what it already has.
    journal_id  TEXT PRIMARY KEY,
    segment     INTEGER NOT NULL,
    -- Bytes of the segment that are applied.
    position    INTEGER NOT NULL,
    -- The last record applied.
    sequence    INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
