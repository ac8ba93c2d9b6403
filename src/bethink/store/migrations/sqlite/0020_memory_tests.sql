-- Memory tests: questions with what must and must not come back, kept in their space.
-- Questions with what must and must not come back. about: the fact or document that a test was made from.
CREATE TABLE memory_tests (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    question TEXT NOT NULL,
    must TEXT NOT NULL CHECK (json_valid(must)),
    must_not TEXT NOT NULL CHECK (json_valid(must_not)),
    as_of INTEGER,
    first_items INTEGER NOT NULL,
    kinds TEXT NOT NULL CHECK (json_valid(kinds)),
    tags TEXT NOT NULL CHECK (json_valid(tags)),
    note TEXT NOT NULL,
    about_kind TEXT,
    about_id TEXT,
    about_version INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX memory_tests_about ON memory_tests (space_id, about_kind, about_id) WHERE about_id IS NOT NULL;

-- A test is removed with the text that it was made from. A version that is thinned out has a reason: it is not forgotten.
CREATE TRIGGER facts_tests_ad AFTER DELETE ON facts BEGIN
    DELETE FROM memory_tests WHERE space_id = old.space_id AND about_kind = 'fact' AND about_id = old.id;
END;
CREATE TRIGGER documents_tests_au AFTER UPDATE OF redacted ON documents
WHEN old.redacted = 0 AND new.redacted = 1 AND new.reason = '' BEGIN
    DELETE FROM memory_tests WHERE space_id = old.space_id AND about_kind = 'document' AND about_id = old.id
      AND about_version IN (old.version, old.version + 1);
END;
