-- A fact says what its evidence is, whose word it was, where it applies and when it happened, and keeps its quotes.
-- What was not believed is kept for a person to decide.
ALTER TABLE facts ADD COLUMN evidence text;
ALTER TABLE facts ADD COLUMN speaker text;
ALTER TABLE facts ADD COLUMN scope text;
ALTER TABLE facts ADD COLUMN happened_from bigint;
ALTER TABLE facts ADD COLUMN happened_to bigint;
ALTER TABLE facts ADD COLUMN flags json NOT NULL DEFAULT '[]';
ALTER TABLE facts ADD COLUMN ended_by text COLLATE "C";

-- The exact words a learnt fact rests on. support: each time it was said, with what was said then and the number of
-- quotes it needs; a fact that loses one of them loses that support.
CREATE TABLE fact_quotes (
    space_id text COLLATE "C" NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    support text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    text text NOT NULL,
    context bigint NOT NULL,
    statement text NOT NULL,
    parts bigint NOT NULL,
    PRIMARY KEY (space_id, fact_id, support, place),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
);

CREATE INDEX fact_quotes_message ON fact_quotes (space_id, session_id, number);

-- Claims that were not believed, with the reason: held until a person decides, or refused. claim: the claim as JSON.
CREATE TABLE reviews (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    claim json NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    decided_at bigint,
    decided_by text,
    note text,
    fact_id text COLLATE "C",
    effect text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, effect)
);

CREATE INDEX reviews_listed ON reviews (space_id, status, created_at);

-- The messages that a claim under review quotes; it goes with the first of them that is forgotten.
CREATE TABLE review_sources (
    space_id text COLLATE "C" NOT NULL,
    review_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (space_id, review_id, session_id, number),
    FOREIGN KEY (space_id, review_id) REFERENCES reviews (space_id, id) ON DELETE CASCADE
);

CREATE INDEX review_sources_message ON review_sources (space_id, session_id, number);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['fact_quotes', 'reviews', 'review_sources'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;
