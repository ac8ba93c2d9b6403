-- The full text, with words that can be read, gives way to an index of keyed hashes, which is filled by the code.
ALTER TABLE messages DROP COLUMN words;
ALTER TABLE facts DROP COLUMN words;
ALTER TABLE session_memories DROP COLUMN words;
ALTER TABLE documents DROP COLUMN words;
DROP FUNCTION words_of;
DROP FUNCTION folded;

-- Each space gets a place and a key.
ALTER TABLE spaces ADD COLUMN place bigint GENERATED ALWAYS AS IDENTITY;
ALTER TABLE spaces ADD COLUMN key bytea NOT NULL DEFAULT decode(replace(gen_random_uuid()::text, '-', ''), 'hex');

-- The words of every text that can be found, as hashes with the key of its space, and how often each occurs, one byte
-- each. Under row-level security an index of words could not be used. This table needs none: it holds ids, times and
-- hashes that only the key of their space gives a meaning, and that key is behind row-level security.
-- doc: the place of its space, a number that grows within the space, and the kind, in one.
-- at: when it was said, recorded or made. asks: whether it ends with a question mark.
CREATE TABLE terms (
    doc bigint NOT NULL,
    space_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    length integer NOT NULL,
    asks integer NOT NULL,
    terms bigint[] NOT NULL,
    hits bytea NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
);

CREATE INDEX terms_doc ON terms (doc);
-- A search reads the list of pending entries once for every word, so it is kept short.
CREATE INDEX terms_terms ON terms USING gin (terms) WITH (gin_pending_list_limit = 64);

-- Roughly how many texts of a space have each of its frequent hashes; blocks: how many blocks of texts were counted.
CREATE TABLE term_counts (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    blocks bigint NOT NULL,
    terms bytea NOT NULL,
    counts bytea NOT NULL,
    missed bytea NOT NULL
);

-- Terms are deleted with their text.
CREATE FUNCTION forget_terms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'DELETE FROM terms t USING gone g WHERE t.space_id = g.space_id AND t.kind = %L AND t.id = g.%I AND t.number = %s',
        TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]
    );
    RETURN NULL;
END
$$;

-- The same for a text that was changed. The change itself adds the terms of the new text.
CREATE FUNCTION outdate_terms() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whose text;
    which bigint := 0;
BEGIN
    IF TG_ARGV[0] IN ('message', 'session_memory') THEN
        whose := OLD.session_id;
    ELSE
        whose := OLD.id;
        which := OLD.version;
    END IF;
    IF TG_ARGV[0] = 'message' THEN
        which := OLD.number;
    END IF;
    DELETE FROM terms t
    WHERE t.space_id = OLD.space_id AND t.kind = TG_ARGV[0] AND t.id = whose AND t.number = which;
    RETURN NULL;
END
$$;

CREATE TRIGGER terms_forgotten AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('message', 'session_id', 'g.number');
CREATE TRIGGER terms_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('fact', 'id', 'g.version');
CREATE TRIGGER terms_forgotten AFTER DELETE ON session_memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('session_memory', 'session_id', '0');
CREATE TRIGGER terms_forgotten AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('document', 'id', 'g.version');
CREATE TRIGGER terms_outdated AFTER UPDATE OF name, content ON messages FOR EACH ROW
WHEN ((OLD.name, OLD.content) IS DISTINCT FROM (NEW.name, NEW.content))
EXECUTE FUNCTION outdate_terms('message');
CREATE TRIGGER terms_outdated AFTER UPDATE OF content ON facts FOR EACH ROW
WHEN (OLD.content IS DISTINCT FROM NEW.content)
EXECUTE FUNCTION outdate_terms('fact');
CREATE TRIGGER terms_outdated AFTER UPDATE OF summary, raw_memory ON session_memories FOR EACH ROW
WHEN ((OLD.summary, OLD.raw_memory) IS DISTINCT FROM (NEW.summary, NEW.raw_memory))
EXECUTE FUNCTION outdate_terms('session_memory');
CREATE TRIGGER terms_outdated AFTER UPDATE OF title, description, body ON documents FOR EACH ROW
WHEN ((OLD.title, OLD.description, OLD.body) IS DISTINCT FROM (NEW.title, NEW.description, NEW.body))
EXECUTE FUNCTION outdate_terms('document');

CREATE POLICY own_space ON term_counts USING (space_id = current_setting('bethink.space', true));
ALTER TABLE term_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE term_counts FORCE ROW LEVEL SECURITY;
