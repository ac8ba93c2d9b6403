-- name: find_vector_index
-- The index of an embedder.
SELECT id, embedder, dimension, status, created_at FROM vector_indexes
WHERE embedder = :embedder AND dimension = :dimension;

-- name: list_vector_indexes
-- Every index, the last registered first.
SELECT id, embedder, dimension, status, created_at FROM vector_indexes ORDER BY created_at DESC, id DESC;

-- name: make_vectors (postgres)
-- Create the table of vectors if the server supports it, and return whether it does.
SELECT make_vectors() AS made;

-- name: open_vector_index
-- Begin to fill an index, or fill a retired one again.
INSERT INTO vector_indexes (embedder, dimension, status, created_at) VALUES (:embedder, :dimension, 'filling', :now)
ON CONFLICT (embedder, dimension) DO UPDATE SET status = 'filling', created_at = excluded.created_at
WHERE vector_indexes.status = 'retired';

-- name: switch_vector_index
-- Make one index the live one, and retire all others.
UPDATE vector_indexes SET status = CASE WHEN id = :id THEN 'live' ELSE 'retired' END
WHERE status <> 'retired';

-- name: drop_vector_index
-- Remove an index with all its vectors, in every space.
DELETE FROM vector_indexes WHERE id = :id;

-- name: retire_vector_index
-- Record a replaced embedder that has no vectors.
INSERT INTO vector_indexes (embedder, dimension, status, created_at) VALUES (:embedder, :dimension, 'retired', :created_at);

-- name: is_vector_index_filled (sqlite)
-- Whether an index has a vector in any space.
SELECT EXISTS (SELECT 1 FROM vectors WHERE index_id = :id) AS filled;

-- name: is_vector_index_filled (postgres)
-- Whether an index has a vector in any space, or had one: row-level security hides the rows, but not the files.
SELECT sum(pg_relation_size(t.relid)) > 0 AS filled FROM pg_partition_tree(format('vectors_%s', :id::bigint)::regclass) t;

-- name: missing_vectors
-- Texts of a space that have no vector in an index, the newest first, without retracted messages. Not written as an
-- anti-join: on a table that was never analyzed, PostgreSQL would compare everything with everything.
SELECT e.kind, e.id, e.number, e.role, e.name, e.title, e.description, e.body, e.said_at FROM embeddable e
WHERE e.space_id = :space AND (
    SELECT v.part FROM vectors v WHERE v.space_id = :space AND v.index_id = :index AND v.kind = e.kind
      AND v.id = e.id AND v.number = e.number AND v.part = 0
) IS NULL AND (e.kind <> 'message' OR (
    SELECT m.retracted_at FROM messages m WHERE m.space_id = :space AND m.session_id = e.id AND m.number = e.number
) IS NULL)
ORDER BY e.said_at DESC, e.kind, e.id, e.number DESC LIMIT :limit;

-- name: recent_missing_vectors
-- The newest messages of the newest sessions of a space that have no vector in an index; a session whose last message
-- has one has nothing new. A CROSS JOIN keeps SQLite from reading the entire space first.
SELECT 'message' AS kind, m.session_id AS id, m.number, m.role, m.name, '' AS title, '' AS description,
       m.content AS body, m.said_at
FROM (
    SELECT s.id, s.last_number FROM sessions s WHERE s.space_id = :space ORDER BY s.id DESC LIMIT :sessions
) lately CROSS JOIN messages m
WHERE m.space_id = :space AND m.session_id = lately.id AND m.number > lately.last_number - :limit AND (
    SELECT v.part FROM vectors v WHERE v.space_id = :space AND v.index_id = :index AND v.kind = 'message'
      AND v.id = lately.id AND v.number = lately.last_number AND v.part = 0
) IS NULL AND (
    SELECT v.part FROM vectors v WHERE v.space_id = :space AND v.index_id = :index AND v.kind = 'message'
      AND v.id = m.session_id AND v.number = m.number AND v.part = 0
) IS NULL AND m.role IN ('user', 'assistant', 'tool') AND m.origin <> 'memory' AND m.retracted_at IS NULL
ORDER BY m.said_at DESC, m.session_id, m.number DESC LIMIT :limit;

-- name: index_job
-- The status of the index job of a space: done if all known texts are indexed.
SELECT status FROM jobs WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: count_vectors
-- The number of texts of a space with vectors in an index, and of those without.
SELECT (
    SELECT count(*) FROM vectors v WHERE v.space_id = :space AND v.index_id = :index AND v.part = 0
) AS filled, (
    SELECT count(*) FROM embeddable e WHERE e.space_id = :space AND (
        SELECT v.part FROM vectors v WHERE v.space_id = :space AND v.index_id = :index AND v.kind = e.kind
          AND v.id = e.id AND v.number = e.number AND v.part = 0
    ) IS NULL AND (e.kind <> 'message' OR (
        SELECT m.retracted_at FROM messages m WHERE m.space_id = :space AND m.session_id = e.id AND m.number = e.number
    ) IS NULL)
) AS missing;

-- name: hold_message
-- The current texts of messages, locked until the transaction ends.
SELECT session_id AS id, number, '' AS title, '' AS description, content AS body FROM messages
WHERE space_id = :space AND session_id in_list(:ids) AND number in_list(:numbers) /*for_update*/;

-- name: hold_fact
-- The current texts of facts, locked until the transaction ends.
SELECT id, version AS number, '' AS title, '' AS description, content AS body FROM facts
WHERE space_id = :space AND id in_list(:ids) AND version in_list(:numbers) /*for_update*/;

-- name: hold_session_summary
-- The current texts of session summaries, locked until the transaction ends.
SELECT session_id AS id, 0 AS number, '' AS title, summary AS description, raw_memory AS body FROM session_summaries
WHERE space_id = :space AND session_id in_list(:ids) /*for_update*/;

-- name: hold_document
-- The current texts of versions of documents, locked until the transaction ends.
SELECT id, version AS number, title, description, body FROM documents
WHERE space_id = :space AND id in_list(:ids) AND version in_list(:numbers) /*for_update*/;

-- name: put_vectors (sqlite)
-- Store a vector.
INSERT OR REPLACE INTO vectors (space_id, index_id, kind, id, number, part, vector)
VALUES (:space, :index, :kind, :id, :number, :part, :vector);

-- name: put_vectors (postgres)
-- Store a vector.
INSERT INTO vectors (space_id, index_id, kind, id, number, part, vector)
VALUES (:space, :index, :kind, :id, :number, :part, CAST(:vector AS halfvec))
ON CONFLICT (space_id, kind, id, number, part, index_id) DO UPDATE SET vector = excluded.vector;

-- name: put_vectors_together (postgres)
-- The same for many vectors, with all rows as one JSON value.
INSERT INTO vectors (space_id, index_id, kind, id, number, part, vector)
SELECT r.space, r.index, r.kind, r.id, r.number, r.part, CAST(r.vector AS halfvec)
FROM json_to_recordset(:rows) AS r (
    space text, index bigint, kind text, id text, number bigint, part bigint, vector text
)
ON CONFLICT (space_id, kind, id, number, part, index_id) DO UPDATE SET vector = excluded.vector;

-- name: nearest_vectors (sqlite)
-- All vectors of a space, to be compared with a question.
SELECT kind, id, number, part, vector FROM vectors
WHERE space_id = :space AND index_id = :index AND kind in_list(:kinds) /*only(any vectors)*/;

-- name: nearest_vectors (postgres)
-- The vectors of a space that are closest to a question, the best first.
SELECT kind, id, number, part, similarity FROM nearest_vectors(:space, :index, :question, :kinds, :limit);

-- name: nearest_within (postgres)
-- The same with a filter, compared one by one: the nearest vectors of an HNSW index might not match the filter.
SELECT v.kind, v.id, v.number, v.part, 1 - (v.vector <=> CAST(:question AS halfvec)) AS similarity FROM vectors v
WHERE v.space_id = :space AND v.index_id = :index AND (CAST(:kinds AS text[]) IS NULL OR v.kind = ANY(:kinds))
  /*only(any v)*/
ORDER BY v.vector <=> CAST(:question AS halfvec) LIMIT :limit;

-- name: any_open_session
-- Whether a space may get messages without a job being queued for each.
SELECT id FROM sessions WHERE space_id = :space AND ended_at IS NULL LIMIT 1;

-- name: queue_everywhere
-- Queue a job for every space.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, input_watermark)
SELECT DISTINCT j.space_id, CAST(:kind AS text), CAST(:key AS text), CAST(:now AS bigint), 'queued',
       CAST(:now AS bigint), 0
FROM jobs j WHERE true
ON CONFLICT (space_id, kind, key) DO UPDATE SET
    queued_at = CASE WHEN jobs.status IN ('waiting', 'done') THEN excluded.queued_at ELSE jobs.queued_at END,
    due_at = CASE WHEN jobs.status IN ('queued', 'running') THEN jobs.due_at ELSE excluded.due_at END,
    attempts = CASE WHEN jobs.status IN ('queued', 'running') THEN jobs.attempts ELSE 0 END,
    status = CASE WHEN jobs.status = 'running' THEN 'running' ELSE 'queued' END,
    input_watermark = jobs.input_watermark + 1;

-- name: any_left
-- Whether a space has pending work; abandoned jobs do not count.
SELECT space_id FROM jobs WHERE kind = :kind AND status IN ('queued', 'running', 'failed') LIMIT 1;

-- name: count_left
-- The number of spaces with pending work.
SELECT count(*) AS count FROM jobs WHERE kind = :kind AND status IN ('queued', 'running', 'failed');

-- name: describe_growth (postgres)
-- The vector count of a space in an index, and the statements that build an HNSW index for it, or drop a broken one.
SELECT grown.count, i.indisvalid AS valid,
    format('DROP INDEX CONCURRENTLY IF EXISTS %I', near_index(:index, :space)) AS clear,
    format(
        'CREATE INDEX CONCURRENTLY IF NOT EXISTS %I ON %s USING hnsw ((vector::halfvec(%s)) halfvec_cosine_ops) '
        'WHERE space_id = %L', near_index(:index, :space), grown.leaf, CAST(:dimension AS bigint), CAST(:space AS text)
    ) AS build
FROM (
    SELECT count(*) AS count, min(v.tableoid)::regclass AS leaf FROM vectors v
    WHERE v.space_id = :space AND v.index_id = :index
) grown LEFT JOIN pg_index i ON i.indexrelid = to_regclass(near_index(:index, :space));
