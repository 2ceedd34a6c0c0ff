-- An index over parts of URLs, so that a million links are searched at once. Previous release beside it: yes.

-- Every three characters of a URL, by short_link.id; it keeps no text of its own.
CREATE VIRTUAL TABLE short_link_url USING fts5 (
    url, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
);

CREATE TABLE search_position (
    -- One row: links up to this id are in short_link_url. The rest follows some seconds behind the writers.
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    past  INTEGER NOT NULL
) STRICT;
INSERT INTO search_position (id, past) VALUES (1, 0);

CREATE TRIGGER short_link_url_update AFTER UPDATE OF original_url ON short_link
WHEN NEW.original_url IS NOT OLD.original_url AND OLD.id <= (SELECT past FROM search_position)
BEGIN
    DELETE FROM short_link_url WHERE rowid = OLD.id;
    INSERT INTO short_link_url (rowid, url)
    SELECT NEW.id, NEW.original_url WHERE NEW.original_url IS NOT NULL;
END;
