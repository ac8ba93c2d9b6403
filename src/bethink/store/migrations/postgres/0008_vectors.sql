-- Which embedders have vectors here: shared by all spaces, so there is nothing of a space in it.
CREATE TABLE vector_indexes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    embedder text COLLATE "C" NOT NULL,
    dimension bigint NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
    status text NOT NULL CHECK (status IN ('filling', 'live', 'retired')),
    created_at bigint NOT NULL,
    live_at bigint,
    UNIQUE (embedder, dimension)
);

-- What has words that can be embedded, one row for each text.
CREATE VIEW embeddable WITH (security_invoker = true) AS
SELECT space_id, 'message' AS kind, session_id AS id, number, role, name, '' AS title, '' AS description,
       content AS body, said_at
FROM messages
WHERE role IN ('user', 'assistant', 'tool') AND origin <> 'memory' AND btrim(content, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'fact', id, version, NULL, NULL, '', '', content, created_at
FROM facts WHERE btrim(content, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'session_memory', session_id, 0, NULL, NULL, '', summary, raw_memory, source_updated_at
FROM session_memories WHERE btrim(summary || raw_memory, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'document', id, version, NULL, NULL, title, description, body, valid_from
FROM documents
WHERE redacted = 0 AND NOT (author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md'))
  AND btrim(title || description || body, E' \t\n\v\f\r') <> '';

-- A vector goes with its text: whatever is deleted takes its vectors along.
CREATE FUNCTION forget_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM vector_indexes) THEN
        RETURN NULL;
    END IF;
    -- One space at a time and planned for it: only then is one partition looked at, and not all.
    FOR place IN SELECT DISTINCT g.space_id FROM gone g LOOP
        EXECUTE format(
            'DELETE FROM vectors v USING gone g WHERE v.space_id = $1 AND g.space_id = $1 AND v.kind = $2 '
            'AND v.id = g.%I AND v.number = %s', TG_ARGV[1], TG_ARGV[2]
        ) USING place, TG_ARGV[0];
    END LOOP;
    RETURN NULL;
END
$$;

-- The same for a text that was changed; it is embedded again.
CREATE FUNCTION outdate_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
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
    DELETE FROM vectors v
    WHERE v.space_id = OLD.space_id AND v.kind = TG_ARGV[0] AND v.id = whose AND v.number = which;
    RETURN NULL;
END
$$;

-- Makes the table of vectors, now or later: false where the server has no pgvector, and everything else works.
CREATE FUNCTION make_vectors() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('vectors') IS NOT NULL THEN
        RETURN true;
    END IF;
    IF to_regtype('halfvec') IS NULL THEN
        BEGIN
            CREATE EXTENSION IF NOT EXISTS vector;
        EXCEPTION WHEN OTHERS THEN
            RETURN false;
        END;
    END IF;
    IF to_regtype('halfvec') IS NULL THEN -- pgvector before 0.7
        RETURN false;
    END IF;

    -- A partition for each index, by space below that: one query text, and an index is dropped like a table.
    CREATE TABLE vectors (
        space_id text COLLATE "C" NOT NULL,
        index_id bigint NOT NULL,
        kind text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        number bigint NOT NULL,
        part bigint NOT NULL,
        vector halfvec NOT NULL,
        PRIMARY KEY (space_id, kind, id, number, part, index_id)
    ) PARTITION BY LIST (index_id);
    CREATE POLICY own_space ON vectors USING (space_id = current_setting('bethink.space', true));
    ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
    ALTER TABLE vectors FORCE ROW LEVEL SECURITY;

    CREATE TRIGGER vectors_forgotten AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('message', 'session_id', 'g.number');
    CREATE TRIGGER vectors_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('fact', 'id', 'g.version');
    CREATE TRIGGER vectors_forgotten AFTER DELETE ON session_memories REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('session_memory', 'session_id', '0');
    CREATE TRIGGER vectors_forgotten AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('document', 'id', 'g.version');

    CREATE TRIGGER vectors_outdated AFTER UPDATE OF name, content ON messages FOR EACH ROW
    WHEN ((OLD.name, OLD.content) IS DISTINCT FROM (NEW.name, NEW.content))
    EXECUTE FUNCTION outdate_vectors('message');
    CREATE TRIGGER vectors_outdated AFTER UPDATE OF content ON facts FOR EACH ROW
    WHEN (OLD.content IS DISTINCT FROM NEW.content)
    EXECUTE FUNCTION outdate_vectors('fact');
    CREATE TRIGGER vectors_outdated AFTER UPDATE OF summary, raw_memory ON session_memories FOR EACH ROW
    WHEN ((OLD.summary, OLD.raw_memory) IS DISTINCT FROM (NEW.summary, NEW.raw_memory))
    EXECUTE FUNCTION outdate_vectors('session_memory');
    CREATE TRIGGER vectors_outdated AFTER UPDATE OF title, description, body ON documents FOR EACH ROW
    WHEN ((OLD.title, OLD.description, OLD.body) IS DISTINCT FROM (NEW.title, NEW.description, NEW.body))
    EXECUTE FUNCTION outdate_vectors('document');
    RETURN true;
END
$$;

-- Made beside its parent and then attached: nobody who searches or writes has to wait for it.
CREATE FUNCTION open_vector_index() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    name text := 'vectors_' || NEW.id;
    leaf text;
BEGIN
    EXECUTE format(
        'CREATE TABLE %I (LIKE vectors INCLUDING ALL, CHECK (vector_dims(vector) = %s)) PARTITION BY HASH (space_id)',
        name, NEW.dimension
    );
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    FOR part IN 0..63 LOOP
        leaf := name || '_' || lpad(part::text, 2, '0');
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 64, REMAINDER %s)', leaf, name, part
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', leaf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', leaf);
        IF NEW.dimension <= 3072 THEN -- in the row itself, where it fits: a scan need not look elsewhere for each
            EXECUTE format('ALTER TABLE %I ALTER COLUMN vector SET STORAGE PLAIN', leaf);
        END IF;
    END LOOP;
    EXECUTE format('ALTER TABLE vectors ATTACH PARTITION %I FOR VALUES IN (%s)', name, NEW.id);
    RETURN NULL;
END
$$;

CREATE FUNCTION drop_vector_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP TABLE %I', 'vectors_' || OLD.id);
    RETURN NULL;
END
$$;

CREATE TRIGGER vector_indexes_open AFTER INSERT ON vector_indexes
FOR EACH ROW EXECUTE FUNCTION open_vector_index();
CREATE TRIGGER vector_indexes_drop AFTER DELETE ON vector_indexes
FOR EACH ROW EXECUTE FUNCTION drop_vector_index();

-- The name of the HNSW index that a space gets when it outgrows the exact scan.
CREATE FUNCTION near_index(asked_index bigint, asked_space text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'vectors_' || asked_index || '_near_' || left(md5(asked_space), 20)
$$;

-- The text is made for each question: an HNSW index is found by its dimension and its space, and by nothing vaguer.
-- It is left alone where only some kinds are wanted: it would stop looking before it had enough of them.
CREATE FUNCTION nearest_vectors(
    asked_space text, asked_index bigint, question text, kinds text[], how_many bigint
) RETURNS TABLE (kind text, id text, number bigint, part bigint, similarity double precision)
LANGUAGE plpgsql AS $$
DECLARE
    compared text := 'vector';
BEGIN
    IF kinds IS NULL AND to_regclass(near_index(asked_index, asked_space)) IS NOT NULL THEN
        compared := format(
            'vector::halfvec(%s)', (SELECT i.dimension FROM vector_indexes i WHERE i.id = asked_index)
        );
        PERFORM set_config('hnsw.ef_search', least(1000, greatest(100, 2 * how_many))::text, true),
                set_config('hnsw.iterative_scan', 'strict_order', true);
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT kind, id, number, part, 1 - (%1$s <=> $3::halfvec) FROM vectors '
        'WHERE space_id = $1 AND index_id = $2 AND ($4 IS NULL OR kind = ANY($4)) '
        'ORDER BY %1$s <=> $3::halfvec LIMIT $5', compared
    ) USING asked_space, asked_index, question, kinds, how_many;
END
$$;

SELECT make_vectors();

-- Every space has something to embed; for that the owner sees all of them once.
ALTER TABLE spaces NO FORCE ROW LEVEL SECURITY;
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at)
SELECT s.id, 'index', 'space', s.created_at, 'queued', s.created_at FROM spaces s
ON CONFLICT (space_id, kind, key) DO NOTHING;
ALTER TABLE spaces FORCE ROW LEVEL SECURITY;
