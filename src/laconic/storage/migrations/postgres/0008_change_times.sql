-- Tells with each change when it was made. Previous release beside it: yes; it takes such a message for a lost connection.

CREATE OR REPLACE FUNCTION notify_link_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    payload text;
    bytes bigint;
BEGIN
    -- Sixteen digits of microseconds and a space.
    SELECT '#' || min(seq) || '-' || max(seq), sum(octet_length(concat_ws(' ', domain_id, short_code, version)) + 18)
    INTO payload, bytes
    FROM added;
    IF bytes <= 7500 THEN
        SELECT string_agg(
            concat_ws(' ', domain_id, short_code, version, (extract(epoch FROM changed_at) * 1000000)::bigint),
            E'\n' ORDER BY seq
        ) INTO payload FROM added;
    END IF;
    -- Null when the statement added no row.
    IF payload IS NOT NULL THEN
        PERFORM pg_notify('laconic_change', payload);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION notify_link_change() IS
    'Sends the new rows on channel laconic_change: lines "domain_id short_code version changed_at (microseconds)", or "#first_seq-last_seq".';
