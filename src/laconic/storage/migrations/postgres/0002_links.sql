-- Makes links, their change feed and idempotency keys. Previous release beside it: there is none.

CREATE TYPE gone_reason AS ENUM ('expired', 'deleted', 'disabled', 'taken_down');

CREATE TABLE short_link (
    id                 bigint PRIMARY KEY,
    workspace_id       bigint NOT NULL CONSTRAINT short_link_workspace_fkey REFERENCES workspace (id),
    domain_id          bigint NOT NULL CONSTRAINT short_link_domain_fkey REFERENCES domain (id),
    -- "C": codes are compared byte by byte, in every locale and faster.
    short_code         varchar(20) COLLATE "C" NOT NULL,
    original_url       text,
    target_url         text,
    normalized_url     text,
    normalized_digest  bytea,
    title              varchar(500),
    description        text,
    created_by         bigint CONSTRAINT short_link_created_by_fkey REFERENCES users (id),
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    expires_at         timestamptz,
    is_active          boolean NOT NULL DEFAULT true,
    is_deleted         boolean NOT NULL DEFAULT false,
    gone_reason        gone_reason,
    metadata           jsonb NOT NULL DEFAULT '{}',
    redirect_status    smallint NOT NULL DEFAULT 302,
    version            bigint NOT NULL DEFAULT 1,
    -- Over all codes ever used, gone links included: this index is what keeps a code from being given twice.
    CONSTRAINT short_link_code_key UNIQUE (domain_id, short_code),
    CONSTRAINT short_link_code_check CHECK (short_code ~ '^[a-zA-Z0-9_-]+$'),
    CONSTRAINT short_link_url_check CHECK (original_url IS NOT NULL OR is_deleted OR NOT is_active),
    CONSTRAINT short_link_normalized_check CHECK (normalized_digest IS NULL OR normalized_url IS NOT NULL),
    CONSTRAINT short_link_gone_check CHECK (gone_reason IS NULL OR is_deleted OR NOT is_active),
    CONSTRAINT short_link_status_check CHECK (redirect_status IN (301, 302, 307, 308)),
    CONSTRAINT short_link_version_check CHECK (version >= 1)
);

-- A digest, because a URL may be longer than an index entry can be.
CREATE UNIQUE INDEX short_link_reuse_key ON short_link (workspace_id, normalized_digest)
    WHERE normalized_digest IS NOT NULL AND is_active AND NOT is_deleted;
CREATE INDEX short_link_list_idx ON short_link (workspace_id, created_at DESC, id DESC);
CREATE INDEX short_link_live_idx ON short_link (workspace_id, created_at DESC, id DESC)
    WHERE is_active AND NOT is_deleted;
CREATE INDEX short_link_created_by_idx ON short_link (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX short_link_expires_idx ON short_link (expires_at)
    WHERE expires_at IS NOT NULL AND is_active AND NOT is_deleted;
-- 'simple' knows no language: it stems nothing and drops no words, so every tenant finds what it wrote. Rows with
-- neither text stay out of the index (a fifth of the cost of inserting them, measured), so a search has to say
-- "title IS NOT NULL OR description IS NOT NULL" too, or the index is not used.
CREATE INDEX short_link_text_idx ON short_link
    USING gin (to_tsvector('simple', coalesce(title, '') || ' ' || coalesce(description, '')))
    WHERE title IS NOT NULL OR description IS NOT NULL;

-- Not for the columns that serve finding a URL again: giving up its place there is no change that anybody sees.
CREATE TRIGGER short_link_touch
    BEFORE UPDATE OF original_url, target_url, title, description, expires_at, is_active, is_deleted, gone_reason,
        metadata, redirect_status ON short_link
    FOR EACH ROW WHEN (NEW.updated_at = OLD.updated_at) EXECUTE FUNCTION touch_updated_at();

CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are never removed: the code could be given out again. Blank them instead.',
        TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
COMMENT ON FUNCTION refuse_removal() IS 'Refuses DELETE and TRUNCATE.';

CREATE TRIGGER short_link_keep BEFORE DELETE OR TRUNCATE ON short_link
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();

COMMENT ON TABLE short_link IS 'A link: code to URL. Rows are never removed, only blanked, so that no code is given twice.';
COMMENT ON COLUMN short_link.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN short_link.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN short_link.domain_id IS 'The host whose namespace the code lives in.';
COMMENT ON COLUMN short_link.short_code IS 'The path part of the short URL.';
COMMENT ON COLUMN short_link.original_url IS 'The URL as given, outer white space stripped; null once blanked.';
COMMENT ON COLUMN short_link.target_url IS 'What the Location header says; null when the same as original_url.';
COMMENT ON COLUMN short_link.normalized_url IS 'For finding the same URL again; only on links made for reuse.';
COMMENT ON COLUMN short_link.normalized_digest IS 'Digest of normalized_url, while the link is the one to reuse; null otherwise.';
COMMENT ON COLUMN short_link.title IS 'What its owner calls it.';
COMMENT ON COLUMN short_link.description IS 'What its owner says about it.';
COMMENT ON COLUMN short_link.created_by IS 'Who made it; null in open mode.';
COMMENT ON COLUMN short_link.created_at IS 'When it was made.';
COMMENT ON COLUMN short_link.updated_at IS 'When it was last changed.';
COMMENT ON COLUMN short_link.expires_at IS 'From here on it answers 410, whether or not the reaper has run; null: never.';
COMMENT ON COLUMN short_link.is_active IS 'False once disabled, taken down or retired by the reaper.';
COMMENT ON COLUMN short_link.is_deleted IS 'Deleted by its owner; the code stays taken.';
COMMENT ON COLUMN short_link.gone_reason IS 'Why it answers 410; null while it is live.';
COMMENT ON COLUMN short_link.metadata IS 'Whatever its owner keeps with it.';
COMMENT ON COLUMN short_link.redirect_status IS 'The HTTP status of the redirect: 301, 302, 307 or 308.';
COMMENT ON COLUMN short_link.version IS 'Grows with every change; caches keep the highest.';


CREATE TABLE link_change (
    seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id   bigint NOT NULL,
    short_code  varchar(20) COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE link_change IS 'What caches must look at again. Written in the transaction of the change; old rows are removed.';
COMMENT ON COLUMN link_change.seq IS 'Order of writing; commits may come in another order.';
COMMENT ON COLUMN link_change.domain_id IS 'The changed link''s domain.';
COMMENT ON COLUMN link_change.short_code IS 'The changed link''s code.';
COMMENT ON COLUMN link_change.version IS 'The version the change made.';
COMMENT ON COLUMN link_change.changed_at IS 'When it was changed.';

-- One message for each statement, however many links it changes: NOTIFY serialises commits. A payload ends at
-- 8,000 bytes, so a long list is told as the range of its rows; who listens reads them by seq. The range may
-- take in rows of other transactions: looking at a link once too often does no harm.
CREATE FUNCTION notify_link_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    payload text;
    bytes bigint;
BEGIN
    SELECT '#' || min(seq) || '-' || max(seq), sum(octet_length(concat_ws(' ', domain_id, short_code, version)) + 1)
    INTO payload, bytes
    FROM added;
    IF bytes <= 7500 THEN
        SELECT string_agg(concat_ws(' ', domain_id, short_code, version), E'\n' ORDER BY seq) INTO payload FROM added;
    END IF;
    -- Null when the statement added no row.
    IF payload IS NOT NULL THEN
        PERFORM pg_notify('laconic_change', payload);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION notify_link_change() IS
    'Sends the new rows on channel laconic_change: lines "domain_id short_code version", or "#first_seq-last_seq".';

CREATE TRIGGER link_change_notify AFTER INSERT ON link_change
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notify_link_change();


CREATE TABLE idempotency_key (
    workspace_id  bigint NOT NULL CONSTRAINT idempotency_key_workspace_fkey REFERENCES workspace (id),
    key           text COLLATE "C" NOT NULL,
    fingerprint   bytea NOT NULL,
    status        integer,
    body          text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_key_pkey PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_key_created_idx ON idempotency_key (created_at);

COMMENT ON TABLE idempotency_key IS 'What was answered to a write that may be sent again. Old rows are removed.';
COMMENT ON COLUMN idempotency_key.workspace_id IS 'The tenant that sent it.';
COMMENT ON COLUMN idempotency_key.key IS 'The Idempotency-Key header.';
COMMENT ON COLUMN idempotency_key.fingerprint IS 'Digest of the request: the same key with another request is refused.';
COMMENT ON COLUMN idempotency_key.status IS 'HTTP status of the answer; null while the first request is under way.';
COMMENT ON COLUMN idempotency_key.body IS 'Body of the answer.';
COMMENT ON COLUMN idempotency_key.created_at IS 'When it first came.';
