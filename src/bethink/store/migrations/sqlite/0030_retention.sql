-- How long a space keeps what: a kind, or what of it came from an origin; empty is any. older_than: in days.
CREATE TABLE retention_rules (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    older_than INTEGER NOT NULL CHECK (older_than > 0),
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, origin)
) STRICT;

-- Legal holds: as long as one stands, nothing of its space is erased. They stay when they were lifted, and when the
-- space is gone, hence no reference to spaces. They are read across spaces.
CREATE TABLE legal_holds (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    placed_by TEXT NOT NULL,
    placed_at INTEGER NOT NULL,
    lifted_by TEXT NOT NULL DEFAULT '',
    lifted_at INTEGER,
    lifted_because TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX legal_holds_standing ON legal_holds (space_id) WHERE lifted_at IS NULL;

CREATE INDEX facts_expiring ON facts (space_id, expires_at) WHERE expires_at IS NOT NULL;
