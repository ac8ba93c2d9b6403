-- columns: fact
id, version, content, kind, origin, source, tags, metadata, entities, subject, slot, valid_from, valid_to,
created_at, recorded_at, retired_at, retired_by, model, prompt, extractor;

-- name: insert_fact
-- Insert a fact. A learnt fact has an effect key, which is refused a second time.
INSERT INTO facts (space_id, id, version, content, kind, origin, source, tags, metadata, entities, subject, slot,
                   valid_from, valid_to, created_at, recorded_at, digest, effect, token, model, prompt, extractor)
VALUES (:space, :id, :version, :content, :kind, :origin, :source, :tags, :metadata, :entities, :subject, :slot,
        :valid_from, :valid_to, :created_at, :now, :digest, :effect, :token, :model, :prompt, :extractor);

-- name: retire_fact
-- Retire a fact: it can still be found as of an earlier time.
UPDATE facts SET retired_at = :now, retired_by = :by
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: last_fact_version
-- The newest version of a fact; removed ones that were shown count, so that their refs are not reused.
SELECT max(version) AS version FROM (
    SELECT version FROM facts WHERE space_id = :space AND id = :id
    UNION ALL SELECT number FROM ledger_items WHERE space_id = :space AND kind = 'fact' AND id = :id
) AS known;

-- name: find_fact
-- The current version of a fact.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND id = :id AND retired_at IS NULL;

-- name: fact_versions
-- Every version of a fact, oldest first.
SELECT fact_columns() FROM facts WHERE space_id = :space AND id = :id ORDER BY version;

-- name: learnt_fact
-- The version of a fact that was learnt from messages; later versions were written by hand.
SELECT id, version, content, kind, origin, source, tags, metadata, entities, subject, slot, valid_from, valid_to,
       created_at, recorded_at, retired_at, retired_by, model, prompt, extractor
FROM facts WHERE space_id = :space AND id = :id AND effect IS NOT NULL ORDER BY version LIMIT 1;

-- name: facts_saying
-- Current facts that say the same with another spelling.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND digest = :digest AND retired_at IS NULL ORDER BY recorded_at, id;

-- name: facts_in_slot
-- Current facts about the value of a slot.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND subject = :subject AND slot = :slot AND slot IS NOT NULL
  AND retired_at IS NULL ORDER BY recorded_at, id;

-- name: search_facts (sqlite)
-- Facts known at a time that share a word with the question, the best match first.
SELECT fact_columns(f) FROM facts_fts JOIN passages p ON p.row = facts_fts.rowid
JOIN facts f ON f.space_id = p.space_id AND f.id = p.id AND f.version = p.number
WHERE facts_fts MATCH :words AND p.space_id = :space
  AND f.recorded_at <= :at AND (f.retired_at IS NULL OR f.retired_at > :at)
ORDER BY facts_fts.rank, f.id LIMIT :limit;

-- name: search_facts (postgres)
-- Facts known at a time that share a word with the question, the best match first.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND words @@ to_tsquery('english', folded(:words))
  AND recorded_at <= :at AND (retired_at IS NULL OR retired_at > :at)
ORDER BY ts_rank_cd(words, to_tsquery('english', folded(:words))) DESC, id LIMIT :limit;

-- name: list_facts
-- Every fact known at a time, oldest first.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND recorded_at <= :at AND (retired_at IS NULL OR retired_at > :at)
ORDER BY recorded_at, id;

-- name: page_facts
-- The facts known at a time, ordered by id, after one.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND recorded_at <= :at AND (retired_at IS NULL OR retired_at > :at) AND id > :after
ORDER BY id LIMIT :limit;

-- name: facts_with_metadata (sqlite)
-- Facts whose metadata has a value under a key; the key is data, never a path.
SELECT fact_columns(f) FROM facts f
WHERE f.space_id = :space AND f.retired_at IS NULL
  AND EXISTS (SELECT 1 FROM json_each(f.metadata) m WHERE m.key = :key AND m.atom = :value)
ORDER BY f.created_at, f.id;

-- name: facts_with_metadata (postgres)
-- Facts whose metadata has a value under a key; the key is data, never a path.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND retired_at IS NULL AND metadata ->> CAST(:key AS text) = :value
ORDER BY created_at, id;

-- name: delete_fact
-- Remove all versions of a fact.
DELETE FROM facts WHERE space_id = :space AND id = :id;

-- name: list_unsupported_facts
-- Learnt facts without any source message left.
SELECT DISTINCT f.id FROM facts f WHERE f.space_id = :space AND f.effect IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM fact_sources s WHERE s.space_id = f.space_id AND s.fact_id = f.id
);

-- name: successor_of_fact
-- The successor of a fact, from its newest version: older versions were retired by the fact itself.
SELECT retired_by FROM facts WHERE space_id = :space AND id = :id ORDER BY version DESC LIMIT 1;

-- name: facts_retired_by
-- What a fact had retired, apart from its own versions.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND retired_by = :id AND id <> :id;

-- name: inherit_retired
-- What a removed fact had retired is now retired by its successor.
UPDATE facts SET retired_by = :heir WHERE space_id = :space AND id = :id AND version = :version;

-- name: hold_again
-- Revive a version of a fact that was retired by a removed fact without a successor.
UPDATE facts SET retired_at = NULL, retired_by = NULL WHERE space_id = :space AND id = :id AND version = :version;

-- name: delete_fact_sources
-- Remove the sources of a fact.
DELETE FROM fact_sources WHERE space_id = :space AND fact_id = :id;

-- name: count_facts
-- The number of current facts in a space.
SELECT count(*) AS count FROM facts WHERE space_id = :space AND retired_at IS NULL;

-- name: insert_fact_source
-- Add a source message to a fact, once.
INSERT INTO fact_sources (space_id, fact_id, session_id, number) VALUES (:space, :fact, :session, :number)
ON CONFLICT (space_id, fact_id, session_id, number) DO NOTHING;

-- name: fact_sources
-- The source messages of a fact, in order.
SELECT session_id, number FROM fact_sources WHERE space_id = :space AND fact_id = :id ORDER BY session_id, number;

-- name: fact_last_said
-- When the newest source message of a fact was said.
SELECT max(m.said_at) AS at FROM fact_sources s
JOIN messages m ON m.space_id = s.space_id AND m.session_id = s.session_id AND m.number = s.number
WHERE s.space_id = :space AND s.fact_id = :id;

-- name: all_fact_sources
-- The source messages of every fact of a space, in order.
SELECT fact_id, session_id, number FROM fact_sources WHERE space_id = :space ORDER BY fact_id, session_id, number;
