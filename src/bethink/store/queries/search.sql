-- name: match_messages
-- Some messages that were said by a time, with their terms.
SELECT t.id, t.number, m.role, m.name, m.origin, m.said_at AS at, t.length, t.asks, packed(t.terms) AS terms, t.hits
FROM terms t JOIN messages m ON m.space_id = :space AND m.session_id = t.id AND m.number = t.number
WHERE t.doc in_list(:docs) AND m.said_at <= :at AND (m.retracted_at IS NULL OR m.retracted_at > :at)
ORDER BY t.doc;

-- name: match_facts
-- Some facts with their terms: those known and valid at a time, or also those that no longer hold. An event is dated by
-- the day it happened, if that was before it was told.
SELECT t.id, t.number, f.kind AS role, f.subject AS name, f.origin, t.length, 0 AS asks,
       CASE WHEN f.happened_from < f.created_at THEN f.happened_from ELSE f.created_at END AS at,
       f.retired_at, f.retired_by, f.valid_to, f.expires_at, packed(t.terms) AS terms, t.hits
FROM terms t JOIN facts f ON f.space_id = :space AND f.id = t.id AND f.version = t.number
WHERE t.doc in_list(:docs) AND f.recorded_at <= :at
  AND (:past = 1 OR ((f.retired_at IS NULL OR f.retired_at > :at) AND (f.valid_to IS NULL OR f.valid_to > :now)
                     AND (f.expires_at IS NULL OR f.expires_at > :now)))
ORDER BY t.doc;

-- name: match_session_memories
-- Some session memories that were made by a time, with their terms.
SELECT t.id, t.number, NULL AS role, s.slug AS name, 'memory' AS origin,
       COALESCE(s.said_until, s.source_updated_at) AS at, t.length, 0 AS asks, packed(t.terms) AS terms, t.hits
FROM terms t JOIN session_memories s ON s.space_id = :space AND s.session_id = t.id
WHERE t.doc in_list(:docs) AND s.generated_at <= :at
ORDER BY t.doc;

-- name: match_documents
-- Some documents as they were at a time, with their terms.
SELECT t.id, t.number, d.author_kind AS role, d.slug AS name, d.origin, d.valid_from AS at, t.length, 0 AS asks,
       d.valid_to AS retired_at, packed(t.terms) AS terms, t.hits
FROM terms t JOIN documents d ON d.space_id = :space AND d.id = t.id AND d.version = t.number
WHERE t.doc in_list(:docs) AND d.valid_from <= :at AND d.redacted = 0 AND d.overview = 0
  AND (:past = 1 OR d.valid_to IS NULL OR d.valid_to > :at)
ORDER BY t.doc;

-- name: read_messages_at
-- The texts of some messages that were said by a time.
SELECT m.session_id AS id, m.number, m.role, m.name, m.origin, m.said_at AS at, m.content, m.tags, m.metadata
FROM pairs(:ids, :numbers)
JOIN messages m ON m.space_id = :space AND m.session_id = pairs.id AND m.number = pairs.number
WHERE m.said_at <= :at AND (m.retracted_at IS NULL OR m.retracted_at > :at) /*only(message m)*/;

-- name: read_facts_at
-- Some versions of facts.
SELECT fact_columns(f) FROM pairs(:ids, :numbers)
JOIN facts f ON f.space_id = :space AND f.id = pairs.id AND f.version = pairs.number
WHERE f.recorded_at <= :at /*only(fact f)*/;

-- name: read_session_memories_at
-- Some session memories; those made without a model only quote.
SELECT s.session_id AS id, s.summary, s.raw_memory, COALESCE(s.said_until, s.source_updated_at) AS at, s.slug,
       s.model = 'none' AS quotes, t.tags, t.metadata
FROM pairs(:ids, :numbers) JOIN session_memories s ON s.space_id = :space AND s.session_id = pairs.id
JOIN sessions t ON t.space_id = s.space_id AND t.id = s.session_id
WHERE s.generated_at <= :at /*only(session_memory s)*/;

-- name: read_documents_at
-- Some versions of documents.
SELECT d.id, d.version AS number, d.slug, d.title, d.description, d.body, d.origin, d.valid_from AS at,
       d.valid_to AS retired_at, d.tags, d.metadata
FROM pairs(:ids, :numbers) JOIN documents d ON d.space_id = :space AND d.id = pairs.id AND d.version = pairs.number
WHERE d.valid_from <= :at AND d.redacted = 0 /*only(document d)*/;

-- name: sources_of_facts
-- The source messages of some facts, in order.
SELECT s.fact_id, s.session_id, s.number, m.content, m.origin, m.said_at
FROM fact_sources s
JOIN messages m ON m.space_id = s.space_id AND m.session_id = s.session_id AND m.number = s.number
WHERE s.space_id = :space AND s.fact_id in_list(:ids) AND m.said_at <= :at AND (m.retracted_at IS NULL OR m.retracted_at > :at)
ORDER BY s.fact_id, s.session_id, s.number;

-- name: survey_space
-- What a space has, and roughly how much: for weighting words, more than a few thousand sessions make no difference.
SELECT s.key, s.place, (SELECT max(t.doc) FROM terms t WHERE t.doc < ((s.place + 1) << 34)) AS last_doc,
       (SELECT count(*) FROM (SELECT 1 FROM sessions c WHERE c.space_id = :space LIMIT 5000) AS counted) AS sessions,
       EXISTS (SELECT 1 FROM messages WHERE space_id = :space) AS messages,
       EXISTS (SELECT 1 FROM facts WHERE space_id = :space) AS facts,
       EXISTS (SELECT 1 FROM session_memories WHERE space_id = :space) AS session_memories,
       EXISTS (SELECT 1 FROM documents WHERE space_id = :space) AS documents,
       EXISTS (SELECT 1 FROM usage WHERE space_id = :space) AS used
FROM spaces s WHERE s.id = :space;

-- name: anything_by
-- Whether anything was said, known or made by a time.
SELECT EXISTS (SELECT 1 FROM messages WHERE space_id = :space AND said_at <= :at)
    OR EXISTS (SELECT 1 FROM facts WHERE space_id = :space AND recorded_at <= :at)
    OR EXISTS (SELECT 1 FROM session_memories WHERE space_id = :space AND generated_at <= :at)
    OR EXISTS (SELECT 1 FROM documents WHERE space_id = :space AND valid_from <= :at) AS known;

-- name: list_speakers
-- The first fifty names of speakers in a space; each name is one step along the index.
-- Tools are left out, because the name of a tool is a word like any other.
WITH RECURSIVE found (name) AS (
    SELECT min(name) FROM messages WHERE space_id = :space AND name IS NOT NULL
    UNION ALL
    SELECT (SELECT min(m.name) FROM messages m WHERE m.space_id = :space AND m.name IS NOT NULL AND m.name > found.name)
    FROM found WHERE found.name IS NOT NULL
)
SELECT name FROM found WHERE name IS NOT NULL
  AND (SELECT m.role FROM messages m WHERE m.space_id = :space AND m.name = found.name LIMIT 1) <> 'tool' LIMIT 50;

-- name: gone_messages
-- Those of some messages that were not said by a time, or were taken back by then.
SELECT m.session_id AS id, m.number FROM pairs(:ids, :numbers)
JOIN messages m ON m.space_id = :space AND m.session_id = pairs.id AND m.number = pairs.number
WHERE m.said_at > :at OR m.retracted_at <= :at;

-- name: gone_session_memories
-- Those of some session memories that were not made by a time.
SELECT s.session_id AS id, 0 AS number FROM pairs(:ids, :numbers)
JOIN session_memories s ON s.space_id = :space AND s.session_id = pairs.id WHERE s.generated_at > :at;

-- name: gone_facts
-- Those versions of facts that were not known at a time, no longer held, or had ended.
SELECT f.id, f.version AS number FROM pairs(:ids, :numbers)
JOIN facts f ON f.space_id = :space AND f.id = pairs.id AND f.version = pairs.number
WHERE f.recorded_at > :at OR f.retired_at <= :at OR f.valid_to <= :now OR f.expires_at <= :now;

-- name: gone_documents
-- Those versions of documents that were not current at a time.
SELECT d.id, d.version AS number FROM pairs(:ids, :numbers)
JOIN documents d ON d.space_id = :space AND d.id = pairs.id AND d.version = pairs.number
WHERE d.valid_from > :at OR d.valid_to <= :at;

-- name: messages_between
-- The newest messages of a period, without its end.
SELECT session_id AS id, number, role, name, origin, said_at AS at, octet_length(content) AS length FROM messages
WHERE space_id = :space AND said_at >= :start AND said_at < :end AND said_at <= :at
  AND (retracted_at IS NULL OR retracted_at > :at)
  AND role <> 'system' AND origin <> 'memory' /*only(message messages)*/
ORDER BY said_at DESC, session_id DESC, number DESC LIMIT :limit;

-- name: facts_for_context
-- Facts that are valid at a time and that somebody vouches for: users' own wishes first, then what begins soon or is
-- about health, then by how long such a thing usually stays true, then the most used, then the newest.
SELECT fact_columns(f) FROM facts f
LEFT JOIN usage u ON u.space_id = f.space_id AND u.kind = 'fact' AND u.id = f.id AND u.number = f.version
WHERE f.space_id = :space AND f.recorded_at <= :at AND (f.retired_at IS NULL OR f.retired_at > :at)
  AND (f.valid_to IS NULL OR f.valid_to > :now) AND (f.expires_at IS NULL OR f.expires_at > :now)
  AND f.origin in_list(:origins) /*only(fact f)*/
ORDER BY CASE WHEN f.kind in_list(:directive) AND f.origin = 'user' THEN 0
              WHEN COALESCE(f.happened_from, f.valid_from) BETWEEN :now AND :soon THEN 1
              WHEN CAST(f.flags AS TEXT) LIKE :health AND f.kind <> 'event' THEN 1
              WHEN f.kind = 'detail' THEN 2
              WHEN f.kind = 'knowledge' THEN 4
              WHEN f.kind = 'event' THEN 5
              ELSE 3 END,
         COALESCE(u.usage_count, 0) DESC, f.recorded_at DESC, f.id LIMIT :limit;

-- name: pinned_facts
-- The facts that were pinned and valid at a time, in the order they were pinned.
SELECT fact_columns(f) FROM facts f
WHERE f.space_id = :space AND f.pinned_at <= :at AND (f.unpinned_at IS NULL OR f.unpinned_at > :at)
  AND f.recorded_at <= :at AND (f.retired_at IS NULL OR f.retired_at > :at)
  AND (f.valid_to IS NULL OR f.valid_to > :now) AND (f.expires_at IS NULL OR f.expires_at > :now) /*only(fact f)*/
ORDER BY f.pinned_at, f.id LIMIT :limit;

-- name: session_memories_for_context
-- Notes on sessions, the most used and newest first; those made without a model only quote.
SELECT s.session_id AS id, '' AS summary, s.raw_memory, COALESCE(s.said_until, s.source_updated_at) AS at, s.slug,
       s.model = 'none' AS quotes, t.tags, t.metadata
FROM session_memories s JOIN sessions t ON t.space_id = s.space_id AND t.id = s.session_id
WHERE s.space_id = :space AND s.generated_at <= :at /*only(session_memory s)*/
ORDER BY s.usage_count DESC, s.source_updated_at DESC, s.session_id DESC LIMIT :limit;

-- name: sessions_with_others
-- Those of some sessions in which also others spoke than these: tools, documents.
SELECT DISTINCT session_id AS id FROM messages
WHERE space_id = :space AND session_id in_list(:ids) AND NOT origin in_list(:origins);

-- name: notes_for_context
-- What an assistant noted in a conversation of its own, the newest first, except what facts were learnt from.
SELECT m.session_id AS id, m.number, m.role, m.name, m.origin, m.said_at AS at, m.content, m.tags, m.metadata
FROM conversations c
JOIN sessions s ON s.space_id = c.space_id AND s.conversation_id = c.id
JOIN messages m ON m.space_id = s.space_id AND m.session_id = s.id
WHERE c.space_id = :space AND c.key = :conversation AND m.origin = 'assistant' AND m.said_at <= :at
  AND (m.retracted_at IS NULL OR m.retracted_at > :at)
  AND NOT EXISTS (SELECT 1 FROM fact_sources f
                  WHERE f.space_id = m.space_id AND f.session_id = m.session_id AND f.number = m.number)
  /*only(message m)*/
ORDER BY m.said_at DESC, m.session_id DESC, m.number DESC LIMIT :limit;

-- name: documents_for_context
-- Documents as they were at a time, the oldest first, without those that only a tool or a document vouches for.
SELECT id, version AS number, slug, title, description, '' AS body, origin, valid_from AS at, valid_to, tags, metadata
FROM documents
WHERE space_id = :space AND redacted = 0 AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)
  AND overview = 0 AND (origin in_list(:origins) OR author_kind IN ('job', 'user')) /*only(document documents)*/
ORDER BY created_at, id LIMIT :limit;

-- name: paths_of_documents
-- The paths of some documents, as the tree was at a time.
WITH RECURSIVE steps (id, above, path) AS (
    SELECT d.id, d.parent_id, d.slug FROM documents d
    WHERE d.space_id = :space AND d.id in_list(:ids) AND d.valid_from <= :at AND (d.valid_to IS NULL OR d.valid_to > :at)
    UNION ALL
    SELECT s.id, d.parent_id, d.slug || '/' || s.path FROM steps s JOIN documents d ON d.space_id = :space
    AND d.id = s.above AND d.valid_from <= :at AND (d.valid_to IS NULL OR d.valid_to > :at)
)
SELECT id, path FROM steps WHERE above = '';
