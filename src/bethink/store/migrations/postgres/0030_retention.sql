-- How long a space keeps what: a kind, or what of it came from an origin; empty is any. older_than: in days.
CREATE TABLE retention_rules (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    older_than bigint NOT NULL CHECK (older_than > 0),
    set_by text NOT NULL,
    set_at bigint NOT NULL,
    PRIMARY KEY (space_id, kind, origin)
);

-- Legal holds: as long as one stands, nothing of its space is erased. They stay when they were lifted, and when the
-- space is gone, hence no reference to spaces. They are read across spaces.
CREATE TABLE legal_holds (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    placed_by text NOT NULL,
    placed_at bigint NOT NULL,
    lifted_by text NOT NULL DEFAULT '',
    lifted_at bigint,
    lifted_because text NOT NULL DEFAULT '',
    PRIMARY KEY (space_id, id)
);

CREATE INDEX legal_holds_standing ON legal_holds (space_id) WHERE lifted_at IS NULL;

CREATE INDEX facts_expiring ON facts (space_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE POLICY own_space ON retention_rules USING (space_id = current_setting('bethink.space', true));
ALTER TABLE retention_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE retention_rules FORCE ROW LEVEL SECURITY;
