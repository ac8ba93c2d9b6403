-- name: put_fact
-- Store a fact, replacing the one with the same id.
INSERT INTO facts (space_id, id, content, source, tags, metadata, created_at)
VALUES (:space, :id, :content, :source, :tags, :metadata, :created_at)
ON CONFLICT (space_id, id) DO UPDATE SET
    content = excluded.content, source = excluded.source, tags = excluded.tags,
    metadata = excluded.metadata, created_at = excluded.created_at;

-- name: search_facts (sqlite)
-- Facts that share a word with the question, the best match first.
SELECT f.id, f.content, f.source, f.tags, f.metadata, f.created_at
FROM facts_fts JOIN facts f ON f.rowid = facts_fts.rowid
WHERE facts_fts MATCH :words AND f.space_id = :space
ORDER BY facts_fts.rank, f.id LIMIT :limit;

-- name: search_facts (postgres)
-- Facts that share a word with the question, the best match first.
SELECT id, content, source, tags, metadata, created_at
FROM facts WHERE space_id = :space AND words @@ to_tsquery('english', :words)
ORDER BY ts_rank_cd(words, to_tsquery('english', :words)) DESC, id LIMIT :limit;

-- name: facts_with_metadata (sqlite)
-- Facts whose metadata holds a value under a key; the key is data, never a path.
SELECT f.id, f.content, f.source, f.tags, f.metadata, f.created_at FROM facts f
WHERE f.space_id = :space
  AND EXISTS (SELECT 1 FROM json_each(f.metadata) m WHERE m.key = :key AND m.atom = :value)
ORDER BY f.created_at, f.id;

-- name: facts_with_metadata (postgres)
-- Facts whose metadata holds a value under a key; the key is data, never a path.
SELECT id, content, source, tags, metadata, created_at FROM facts
WHERE space_id = :space AND metadata ->> CAST(:key AS text) = :value
ORDER BY created_at, id;

-- name: delete_fact
-- Remove a fact.
DELETE FROM facts WHERE space_id = :space AND id = :id;

-- name: count_facts
-- How many facts a space holds.
SELECT count(*) AS count FROM facts WHERE space_id = :space;
