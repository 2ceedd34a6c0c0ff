-- Domains that are proved, and what the operator keeps: takedowns, blocked hosts, reports. Previous release beside it: yes.

-- What every process knows by heart (domains, blocked hosts) has one number that grows with each change. A process
-- asks for the number, and for the rows past the one it has seen. The row of this table is locked until the change
-- is committed, so numbers become visible in their order and none is missed.
CREATE TABLE directory_revision (
    id        bigint PRIMARY KEY,
    revision  bigint NOT NULL,
    CONSTRAINT directory_revision_only_check CHECK (id = 1)
);
INSERT INTO directory_revision (id, revision) VALUES (1, 1);

COMMENT ON TABLE directory_revision IS 'One row: how often domains and blocked hosts have changed.';
COMMENT ON COLUMN directory_revision.id IS 'Always 1: keeps it to one row.';
COMMENT ON COLUMN directory_revision.revision IS 'The revision of the last change.';

-- As its owner: a tenant's role may change its domain, and need not be let near the counter.
CREATE FUNCTION stamp_revision() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE directory_revision SET revision = revision + 1 RETURNING revision INTO NEW.revision;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION stamp_revision() IS 'Gives a new or changed row the next revision, so that every process reads it.';


ALTER TABLE domain
    ADD COLUMN proof text,
    ADD COLUMN is_subdomain boolean NOT NULL DEFAULT false,
    ADD COLUMN is_deleted boolean NOT NULL DEFAULT false,
    ADD COLUMN revision bigint NOT NULL DEFAULT 1;
-- Whoever proves a host has it. A claim that is not proved must not keep the owner from making one.
ALTER TABLE domain DROP CONSTRAINT domain_host_key;
CREATE UNIQUE INDEX domain_host_key ON domain (host) WHERE verified_at IS NOT NULL AND NOT is_deleted;
-- A host that is added again by the same workspace is the same domain, with the codes that it had (P2).
CREATE UNIQUE INDEX domain_claim_key ON domain (workspace_id, host);
CREATE INDEX domain_revision_idx ON domain (revision);
CREATE TRIGGER domain_revision BEFORE INSERT OR UPDATE ON domain
    FOR EACH ROW EXECUTE FUNCTION stamp_revision();

COMMENT ON COLUMN domain.proof IS 'What a DNS record or a file on the host has to say; null where no proof is needed.';
COMMENT ON COLUMN domain.is_subdomain IS 'A subdomain of the base host, named by the workspace''s slug; it follows both.';
COMMENT ON COLUMN domain.is_deleted IS 'Given up; the row stays, because links name it.';
COMMENT ON COLUMN domain.revision IS 'The directory''s revision that its last change made.';


CREATE TABLE blocked_host (
    host                 text COLLATE "C" PRIMARY KEY,
    includes_subdomains  boolean NOT NULL DEFAULT true,
    reason               text,
    created_by           bigint CONSTRAINT blocked_host_created_by_fkey REFERENCES users (id),
    created_at           timestamptz NOT NULL DEFAULT now(),
    is_removed           boolean NOT NULL DEFAULT false,
    revision             bigint NOT NULL DEFAULT 1,
    CONSTRAINT blocked_host_host_check CHECK (host <> '' AND host = lower(host) AND length(host) <= 255)
);
CREATE INDEX blocked_host_revision_idx ON blocked_host (revision);
CREATE TRIGGER blocked_host_revision BEFORE INSERT OR UPDATE ON blocked_host
    FOR EACH ROW EXECUTE FUNCTION stamp_revision();

COMMENT ON TABLE blocked_host IS 'Hosts that no link may lead to, by the operator''s word.';
COMMENT ON COLUMN blocked_host.host IS 'In ASCII and lower case, as browsers look it up (xn--…).';
COMMENT ON COLUMN blocked_host.includes_subdomains IS 'Whether every name below it is blocked, too.';
COMMENT ON COLUMN blocked_host.reason IS 'Why; for the operator.';
COMMENT ON COLUMN blocked_host.created_by IS 'Who blocked it; null: open mode or the command line.';
COMMENT ON COLUMN blocked_host.created_at IS 'When it was blocked.';
COMMENT ON COLUMN blocked_host.is_removed IS 'No longer blocked; the row stays, so that every process hears of it.';
COMMENT ON COLUMN blocked_host.revision IS 'The directory''s revision that its last change made.';


CREATE TABLE takedown (
    link_id          bigint PRIMARY KEY,
    workspace_id     bigint NOT NULL CONSTRAINT takedown_workspace_fkey REFERENCES workspace (id),
    reason           text NOT NULL,
    previous_reason  gone_reason,
    created_by       bigint CONSTRAINT takedown_created_by_fkey REFERENCES users (id),
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT takedown_reason_check CHECK (reason <> '' AND length(reason) <= 500)
);
CREATE INDEX takedown_list_idx ON takedown (created_at DESC, link_id DESC);

COMMENT ON TABLE takedown IS 'Links that the operator has taken down. Undoing it removes the row.';
COMMENT ON COLUMN takedown.link_id IS 'The link.';
COMMENT ON COLUMN takedown.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN takedown.reason IS 'Why, in words that visitors read.';
COMMENT ON COLUMN takedown.previous_reason IS 'Why it was gone before; null: it was live, and undoing makes it so again.';
COMMENT ON COLUMN takedown.created_by IS 'Who took it down; null: open mode or the command line.';
COMMENT ON COLUMN takedown.created_at IS 'When it was taken down.';


CREATE TABLE link_report (
    id            bigint PRIMARY KEY,
    link_id       bigint NOT NULL,
    workspace_id  bigint NOT NULL CONSTRAINT link_report_workspace_fkey REFERENCES workspace (id),
    reason        text NOT NULL,
    message       text,
    contact       text,
    target        text NOT NULL,
    address       inet,
    state         text NOT NULL DEFAULT 'open',
    created_at    timestamptz NOT NULL DEFAULT now(),
    reviewed_by   bigint CONSTRAINT link_report_reviewed_by_fkey REFERENCES users (id),
    reviewed_at   timestamptz,
    CONSTRAINT link_report_reason_check CHECK (reason IN ('phishing', 'malware', 'spam', 'illegal', 'other')),
    CONSTRAINT link_report_state_check CHECK (state IN ('open', 'dismissed', 'upheld')),
    CONSTRAINT link_report_message_check CHECK (length(message) <= 2000),
    CONSTRAINT link_report_contact_check CHECK (length(contact) <= 254)
);
CREATE INDEX link_report_list_idx ON link_report (state, id);
CREATE INDEX link_report_open_idx ON link_report (link_id) WHERE state = 'open';

COMMENT ON TABLE link_report IS 'What visitors say about links, for the operator to look at.';
COMMENT ON COLUMN link_report.id IS 'Made by the program: ordered by time, not countable.';
COMMENT ON COLUMN link_report.link_id IS 'The link.';
COMMENT ON COLUMN link_report.workspace_id IS 'The tenant it belongs to.';
COMMENT ON COLUMN link_report.reason IS 'phishing, malware, spam, illegal or other.';
COMMENT ON COLUMN link_report.message IS 'The visitor''s words.';
COMMENT ON COLUMN link_report.contact IS 'Where the visitor wants an answer.';
COMMENT ON COLUMN link_report.target IS 'Where the link led when it was reported: its owner may change it.';
COMMENT ON COLUMN link_report.address IS 'Where the report came from, cut to its network.';
COMMENT ON COLUMN link_report.state IS 'open, dismissed, or upheld: the link was taken down.';
COMMENT ON COLUMN link_report.created_at IS 'When it was sent.';
COMMENT ON COLUMN link_report.reviewed_by IS 'Who looked at it; null: nobody yet, open mode or the command line.';
COMMENT ON COLUMN link_report.reviewed_at IS 'When somebody looked at it.';


-- Reports and blocked hosts are the operator's: a role that does not own the tables sees none.
ALTER TABLE blocked_host ENABLE ROW LEVEL SECURITY;
ALTER TABLE link_report ENABLE ROW LEVEL SECURITY;
CREATE POLICY blocked_host_operator ON blocked_host USING (false);
CREATE POLICY link_report_operator ON link_report USING (false);
ALTER TABLE takedown ENABLE ROW LEVEL SECURITY;
-- A tenant may read why its link was taken down.
CREATE POLICY takedown_own ON takedown FOR SELECT
    USING (workspace_id = NULLIF(current_setting('app.current_workspace_id', true), '')::bigint);
