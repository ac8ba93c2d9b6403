-- A fact says what its evidence is, whose word it was, where it applies and when it happened, and keeps its quotes.
-- What was not believed is kept for a person to decide.
ALTER TABLE facts ADD COLUMN evidence TEXT;
ALTER TABLE facts ADD COLUMN speaker TEXT;
ALTER TABLE facts ADD COLUMN scope TEXT;
ALTER TABLE facts ADD COLUMN happened_from INTEGER;
ALTER TABLE facts ADD COLUMN happened_to INTEGER;
ALTER TABLE facts ADD COLUMN flags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags));
ALTER TABLE facts ADD COLUMN ended_by TEXT;

-- The exact words a learnt fact rests on. support: each time it was said, with what was said then and the number of
-- quotes it needs; a fact that loses one of them loses that support.
CREATE TABLE fact_quotes (
    space_id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    support TEXT NOT NULL,
    place INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    context INTEGER NOT NULL,
    statement TEXT NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (space_id, fact_id, support, place),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX fact_quotes_message ON fact_quotes (space_id, session_id, number);

-- Claims that were not believed, with the reason: held until a person decides, or refused. claim: the claim as JSON.
CREATE TABLE reviews (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    claim TEXT NOT NULL CHECK (json_valid(claim)),
    session_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    decided_by TEXT,
    note TEXT,
    fact_id TEXT,
    effect TEXT NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, effect)
) STRICT;

CREATE INDEX reviews_listed ON reviews (space_id, status, created_at);

-- The messages that a claim under review quotes; it goes with the first of them that is forgotten.
CREATE TABLE review_sources (
    space_id TEXT NOT NULL,
    review_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space_id, review_id, session_id, number),
    FOREIGN KEY (space_id, review_id) REFERENCES reviews (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX review_sources_message ON review_sources (space_id, session_id, number);
