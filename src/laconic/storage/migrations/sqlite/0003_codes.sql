-- Makes the pool of codes, the range cursor and the secrets. Previous release beside it: there is none.

CREATE TABLE kgs_keys (
    -- Codes made ahead of need. Used and burnt ones are removed: short_link alone says what is taken. Nothing
    -- here refers to it: a key is marked before its link exists, and its row goes while the link stays.
    short_code            TEXT PRIMARY KEY CONSTRAINT kgs_keys_code_check CHECK (
        short_code NOT GLOB '*[^a-zA-Z0-9_-]*' AND length(short_code) BETWEEN 1 AND 20
    ),
    -- The region that may give it out.
    region                TEXT NOT NULL,
    status                TEXT NOT NULL DEFAULT 'unused' CHECK (status IN ('unused', 'reserved', 'used')),
    created_at            INTEGER NOT NULL,
    allocated_at          INTEGER,
    -- Who holds it: a worker or an API key.
    allocated_to_service  TEXT,
    allocated_to_url_id   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX kgs_keys_unused_idx ON kgs_keys (region, short_code) WHERE status = 'unused';


CREATE TABLE kgs_range (
    -- How far the counter behind the codes has come. It never goes back.
    region       TEXT NOT NULL,
    code_length  INTEGER NOT NULL CONSTRAINT kgs_range_length_check CHECK (code_length BETWEEN 1 AND 20),
    -- The first counter that nobody has leased.
    next         INTEGER NOT NULL DEFAULT 0 CONSTRAINT kgs_range_next_check CHECK (next >= 0),
    PRIMARY KEY (region, code_length)
) STRICT, WITHOUT ROWID;


CREATE TABLE secret (
    -- Random keys that all processes share, such as the one that scatters the codes. Made at first start.
    name        TEXT PRIMARY KEY,
    value       BLOB NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
