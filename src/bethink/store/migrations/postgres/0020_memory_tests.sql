-- Memory tests: questions with what must and must not come back, kept in their space.
-- Questions with what must and must not come back. about: the fact or document that a test was made from.
CREATE TABLE memory_tests (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    question text NOT NULL,
    must json NOT NULL,
    must_not json NOT NULL,
    as_of bigint,
    first_items bigint NOT NULL,
    kinds json NOT NULL,
    tags json NOT NULL,
    note text NOT NULL,
    about_kind text COLLATE "C",
    about_id text COLLATE "C",
    about_version bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, id)
);

CREATE INDEX memory_tests_about ON memory_tests (space_id, about_kind, about_id) WHERE about_id IS NOT NULL;

-- A test is removed with the text that it was made from. A version that is thinned out has a reason: it is not forgotten.
CREATE FUNCTION forget_tests_of_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_tests t USING gone g
    WHERE t.space_id = g.space_id AND t.about_kind = 'fact' AND t.about_id = g.id;
    RETURN NULL;
END
$$;

CREATE FUNCTION forget_tests_of_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_tests t WHERE t.space_id = OLD.space_id AND t.about_kind = 'document' AND t.about_id = OLD.id
      AND t.about_version IN (OLD.version, OLD.version + 1);
    RETURN NULL;
END
$$;

CREATE TRIGGER tests_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_tests_of_facts();
CREATE TRIGGER tests_forgotten AFTER UPDATE OF redacted ON documents FOR EACH ROW
WHEN (OLD.redacted = 0 AND NEW.redacted = 1 AND NEW.reason = '')
EXECUTE FUNCTION forget_tests_of_document();

CREATE POLICY own_space ON memory_tests USING (space_id = current_setting('bethink.space', true));
ALTER TABLE memory_tests ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_tests FORCE ROW LEVEL SECURITY;
