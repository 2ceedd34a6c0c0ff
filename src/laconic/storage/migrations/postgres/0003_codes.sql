-- Makes the pool of codes, the range cursor and the secrets. Previous release beside it: there is none.

CREATE TYPE key_status AS ENUM ('unused', 'reserved', 'used');

-- Nothing here refers to short_link: a key is marked before its link exists, and its row goes while the link stays.
CREATE TABLE kgs_keys (
    short_code            varchar(20) COLLATE "C" PRIMARY KEY,
    region                text COLLATE "C" NOT NULL,
    status                key_status NOT NULL DEFAULT 'unused',
    created_at            timestamptz NOT NULL DEFAULT now(),
    allocated_at          timestamptz,
    allocated_to_service  text,
    allocated_to_url_id   bigint,
    CONSTRAINT kgs_keys_code_check CHECK (short_code ~ '^[a-zA-Z0-9_-]+$')
);
CREATE INDEX kgs_keys_unused_idx ON kgs_keys (region, short_code) WHERE status = 'unused';

COMMENT ON TABLE kgs_keys IS 'Codes made ahead of need. Used and burnt ones are removed: short_link alone says what is taken.';
COMMENT ON COLUMN kgs_keys.short_code IS 'The code.';
COMMENT ON COLUMN kgs_keys.region IS 'The region that may give it out.';
COMMENT ON COLUMN kgs_keys.status IS 'unused, reserved by a service, or used by a link.';
COMMENT ON COLUMN kgs_keys.created_at IS 'When it was made.';
COMMENT ON COLUMN kgs_keys.allocated_at IS 'When it was given out.';
COMMENT ON COLUMN kgs_keys.allocated_to_service IS 'Who holds it: a worker or an API key.';
COMMENT ON COLUMN kgs_keys.allocated_to_url_id IS 'The link that uses it.';


CREATE TABLE kgs_range (
    region       text COLLATE "C" NOT NULL,
    code_length  integer NOT NULL,
    next         bigint NOT NULL DEFAULT 0,
    CONSTRAINT kgs_range_pkey PRIMARY KEY (region, code_length),
    CONSTRAINT kgs_range_length_check CHECK (code_length BETWEEN 1 AND 20),
    CONSTRAINT kgs_range_next_check CHECK (next >= 0)
);

COMMENT ON TABLE kgs_range IS 'How far the counter behind the codes has come. It never goes back.';
COMMENT ON COLUMN kgs_range.region IS 'The region that counts.';
COMMENT ON COLUMN kgs_range.code_length IS 'Length of the codes that are made of it.';
COMMENT ON COLUMN kgs_range.next IS 'The first counter that nobody has leased.';


CREATE TABLE secret (
    name        text COLLATE "C" PRIMARY KEY,
    value       bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE secret IS 'Random keys that all processes share, such as the one that scatters the codes. Made at first start.';
COMMENT ON COLUMN secret.name IS 'What it is for.';
COMMENT ON COLUMN secret.value IS 'The key. Keep it from everybody.';
COMMENT ON COLUMN secret.created_at IS 'When it was made.';
