-- A fact may expire and be pinned, and people say what it was worth to them.
ALTER TABLE facts ADD COLUMN expires_at INTEGER;
ALTER TABLE facts ADD COLUMN pinned_at INTEGER;
ALTER TABLE facts ADD COLUMN unpinned_at INTEGER;

CREATE INDEX facts_pinned ON facts (space_id) WHERE pinned_at IS NOT NULL;

-- What people said about facts, with who and when. review_id: the claim under review that it made of the fact.
CREATE TABLE feedback (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    note TEXT,
    given_by TEXT NOT NULL,
    given_at INTEGER NOT NULL,
    review_id TEXT,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX feedback_fact ON feedback (space_id, fact_id, given_at);
