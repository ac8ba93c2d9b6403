-- A fact may expire and be pinned, and people say what it was worth to them.
ALTER TABLE facts ADD COLUMN expires_at bigint;
ALTER TABLE facts ADD COLUMN pinned_at bigint;
ALTER TABLE facts ADD COLUMN unpinned_at bigint;

CREATE INDEX facts_pinned ON facts (space_id) WHERE pinned_at IS NOT NULL;

-- What people said about facts, with who and when. review_id: the claim under review that it made of the fact.
CREATE TABLE feedback (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    verdict text COLLATE "C" NOT NULL,
    note text,
    given_by text COLLATE "C" NOT NULL,
    given_at bigint NOT NULL,
    review_id text COLLATE "C",
    PRIMARY KEY (space_id, id)
);

CREATE INDEX feedback_fact ON feedback (space_id, fact_id, given_at);

CREATE POLICY own_space ON feedback USING (space_id = current_setting('bethink.space', true));
ALTER TABLE feedback ENABLE ROW LEVEL SECURITY;
ALTER TABLE feedback FORCE ROW LEVEL SECURITY;
