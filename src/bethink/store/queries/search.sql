-- name: stemmed (postgres)
-- What the full-text index keeps of each word.
SELECT tsvector_to_array(words_of(asked.word)) AS stems
FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS asked (word, place) ORDER BY asked.place;

-- name: match_messages (sqlite)
-- Messages said by a time that share a word with the question, and how often each word occurs in them.
SELECT m.session_id AS id, m.number, m.role, m.name, m.origin, m.said_at AS at, octet_length(m.content) AS length,
       substr(m.content, -1) = '?' AS asks, group_concat(w.term || ':' || w.hits, ' ') AS hits
FROM (SELECT doc, term, count(*) AS hits FROM messages_words WHERE term in_list(:terms) GROUP BY doc, term) w
CROSS JOIN passages p ON p.row = w.doc
CROSS JOIN messages m ON m.space_id = p.space_id AND m.session_id = p.id AND m.number = p.number
WHERE p.space_id = :space AND m.said_at <= :at AND m.role <> 'system' AND m.origin <> 'memory'
GROUP BY w.doc;

-- name: match_messages (postgres)
-- Messages said by a time that share a word with the question, and the rank of each word in them.
SELECT session_id AS id, number, role, name, origin, said_at AS at, octet_length(content) AS length,
       right(content, 1) = '?' AS asks,
       ARRAY(SELECT ts_rank(words, CAST(a.term AS tsquery))
             FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS a (term, place) ORDER BY a.place) AS hits
FROM messages WHERE space_id = :space AND said_at <= :at AND words @@ CAST(:asked AS tsquery)
  AND role <> 'system' AND origin <> 'memory';

-- name: match_facts (sqlite)
-- Facts that share a word with the question: those known and valid at a time, or also those that no longer hold.
SELECT f.id, f.version AS number, f.kind AS role, f.subject AS name, f.origin, f.created_at AS at,
       octet_length(f.content) AS length, f.retired_at, f.retired_by, f.valid_to,
       group_concat(w.term || ':' || w.hits, ' ') AS hits
FROM (SELECT doc, term, count(*) AS hits FROM facts_words WHERE term in_list(:terms) GROUP BY doc, term) w
CROSS JOIN passages p ON p.row = w.doc
CROSS JOIN facts f ON f.space_id = p.space_id AND f.id = p.id AND f.version = p.number
WHERE p.space_id = :space AND f.recorded_at <= :at
  AND (:past = 1 OR ((f.retired_at IS NULL OR f.retired_at > :at) AND (f.valid_to IS NULL OR f.valid_to > :now)))
GROUP BY w.doc;

-- name: match_facts (postgres)
-- Facts that share a word with the question: those known and valid at a time, or also those that no longer hold.
SELECT id, version AS number, kind AS role, subject AS name, origin, created_at AS at,
       octet_length(content) AS length, retired_at, retired_by, valid_to,
       ARRAY(SELECT ts_rank(words, CAST(a.term AS tsquery))
             FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS a (term, place) ORDER BY a.place) AS hits
FROM facts WHERE space_id = :space AND recorded_at <= :at AND words @@ CAST(:asked AS tsquery)
  AND (:past = 1 OR ((retired_at IS NULL OR retired_at > :at) AND (valid_to IS NULL OR valid_to > :now)));

-- name: match_session_memories (sqlite)
-- Session memories made by a time that share a word with the question.
SELECT s.session_id AS id, 0 AS number, NULL AS role, s.slug AS name, 'memory' AS origin,
       COALESCE(s.said_until, s.source_updated_at) AS at,
       octet_length(s.summary) + octet_length(s.raw_memory) AS length,
       group_concat(w.term || ':' || w.hits, ' ') AS hits
FROM (SELECT doc, term, count(*) AS hits FROM session_memories_words WHERE term in_list(:terms) GROUP BY doc, term) w
CROSS JOIN passages p ON p.row = w.doc
CROSS JOIN session_memories s ON s.space_id = p.space_id AND s.session_id = p.id
WHERE p.space_id = :space AND s.generated_at <= :at
GROUP BY w.doc;

-- name: match_session_memories (postgres)
-- Session memories made by a time that share a word with the question.
SELECT session_id AS id, 0 AS number, NULL AS role, slug AS name, 'memory' AS origin,
       COALESCE(said_until, source_updated_at) AS at, octet_length(summary) + octet_length(raw_memory) AS length,
       ARRAY(SELECT ts_rank(words, CAST(a.term AS tsquery))
             FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS a (term, place) ORDER BY a.place) AS hits
FROM session_memories WHERE space_id = :space AND generated_at <= :at AND words @@ CAST(:asked AS tsquery);

-- name: match_documents (sqlite)
-- Documents as they were at a time that share a word with the question; overviews only repeat other documents.
SELECT d.id, d.version AS number, d.author_kind AS role, d.slug AS name, d.origin, d.valid_from AS at,
       octet_length(d.title) + octet_length(d.description) + octet_length(d.body) AS length,
       d.valid_to AS retired_at,
       group_concat(w.term || ':' || w.hits, ' ') AS hits
FROM (SELECT doc, term, count(*) AS hits FROM documents_words WHERE term in_list(:terms) GROUP BY doc, term) w
CROSS JOIN passages p ON p.row = w.doc
CROSS JOIN documents d ON d.space_id = p.space_id AND d.id = p.id AND d.version = p.number
WHERE p.space_id = :space AND d.valid_from <= :at AND d.redacted = 0 AND d.overview = 0
  AND (:past = 1 OR d.valid_to IS NULL OR d.valid_to > :at)
GROUP BY w.doc;

-- name: match_documents (postgres)
-- Documents as they were at a time that share a word with the question; overviews only repeat other documents.
SELECT id, version AS number, author_kind AS role, slug AS name, origin, valid_from AS at,
       octet_length(title) + octet_length(description) + octet_length(body) AS length, valid_to AS retired_at,
       ARRAY(SELECT ts_rank(words, CAST(a.term AS tsquery))
             FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS a (term, place) ORDER BY a.place) AS hits
FROM documents WHERE space_id = :space AND valid_from <= :at AND redacted = 0 AND words @@ CAST(:asked AS tsquery)
  AND overview = 0 AND (:past = 1 OR valid_to IS NULL OR valid_to > :at);

-- name: read_messages_at
-- The texts of some messages that were said by a time.
SELECT m.session_id AS id, m.number, m.role, m.name, m.origin, m.said_at AS at, m.content
FROM pairs(:ids, :numbers)
JOIN messages m ON m.space_id = :space AND m.session_id = pairs.id AND m.number = pairs.number
WHERE m.said_at <= :at;

-- name: read_facts_at
-- Some versions of facts.
SELECT fact_columns(f) FROM pairs(:ids, :numbers)
JOIN facts f ON f.space_id = :space AND f.id = pairs.id AND f.version = pairs.number
WHERE f.recorded_at <= :at;

-- name: read_session_memories_at
-- Some session memories; those made without a model only quote.
SELECT s.session_id AS id, s.summary, s.raw_memory, COALESCE(s.said_until, s.source_updated_at) AS at, s.slug,
       s.model = 'none' AS quotes
FROM pairs(:ids, :numbers) JOIN session_memories s ON s.space_id = :space AND s.session_id = pairs.id
WHERE s.generated_at <= :at;

-- name: read_documents_at
-- Some versions of documents.
SELECT d.id, d.version AS number, d.slug, d.title, d.description, d.body, d.origin, d.valid_from AS at,
       d.valid_to AS retired_at
FROM pairs(:ids, :numbers) JOIN documents d ON d.space_id = :space AND d.id = pairs.id AND d.version = pairs.number
WHERE d.valid_from <= :at AND d.redacted = 0;

-- name: sources_of_facts
-- The source messages of some facts, in order.
SELECT s.fact_id, s.session_id, s.number, m.content, m.origin, m.said_at
FROM fact_sources s
JOIN messages m ON m.space_id = s.space_id AND m.session_id = s.session_id AND m.number = s.number
WHERE s.space_id = :space AND s.fact_id in_list(:ids) AND m.said_at <= :at
ORDER BY s.fact_id, s.session_id, s.number;

-- name: survey_space
-- The approximate number of sessions, messages and facts in a space, for weighting words, and whether it has more.
SELECT count(*) AS sessions, CAST(COALESCE(sum(last_number), 0) AS bigint) AS messages,
       (SELECT count(*) FROM facts WHERE space_id = :space) AS facts,
       EXISTS (SELECT 1 FROM session_memories WHERE space_id = :space) AS session_memories,
       EXISTS (SELECT 1 FROM documents WHERE space_id = :space) AS documents,
       EXISTS (SELECT 1 FROM usage WHERE space_id = :space) AS used
FROM sessions WHERE space_id = :space;

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
-- Messages that were not said by a time.
SELECT session_id AS id, number FROM messages WHERE space_id = :space AND said_at > :at;

-- name: gone_session_memories
-- Session memories that were not made by a time.
SELECT session_id AS id, 0 AS number FROM session_memories WHERE space_id = :space AND generated_at > :at;

-- name: gone_facts
-- Versions of facts that were not known at a time, no longer held, or had ended.
SELECT id, version AS number FROM facts WHERE space_id = :space
  AND (recorded_at > :at OR retired_at <= :at OR valid_to <= :now);

-- name: gone_documents
-- Versions of documents that were not current at a time.
SELECT id, version AS number FROM documents WHERE space_id = :space AND (valid_from > :at OR valid_to <= :at);

-- name: messages_between
-- The newest messages of a period, without its end.
SELECT session_id AS id, number, role, name, origin, said_at AS at, octet_length(content) AS length FROM messages
WHERE space_id = :space AND said_at >= :start AND said_at < :end AND said_at <= :at
  AND role <> 'system' AND origin <> 'memory'
ORDER BY said_at DESC, session_id DESC, number DESC LIMIT :limit;

-- name: facts_for_context
-- Facts that are valid at a time: users' own instructions first, then the most used, then the newest.
SELECT fact_columns(f) FROM facts f
LEFT JOIN usage u ON u.space_id = f.space_id AND u.kind = 'fact' AND u.id = f.id AND u.number = f.version
WHERE f.space_id = :space AND f.recorded_at <= :at AND (f.retired_at IS NULL OR f.retired_at > :at)
  AND (f.valid_to IS NULL OR f.valid_to > :now)
ORDER BY CASE WHEN f.kind in_list(:directive) AND f.origin = 'user' THEN 0 ELSE 1 END,
         COALESCE(u.usage_count, 0) DESC, f.recorded_at DESC, f.id LIMIT :limit;

-- name: session_memories_for_context
-- Session memories, the most used and newest first.
SELECT session_id AS id, summary, raw_memory, COALESCE(said_until, source_updated_at) AS at, slug
FROM session_memories
WHERE space_id = :space AND generated_at <= :at
ORDER BY usage_count DESC, source_updated_at DESC, session_id DESC LIMIT :limit;

-- name: documents_for_context
-- Documents as they were at a time, the oldest first.
SELECT id, version AS number, slug, title, description, '' AS body, origin, valid_from AS at, valid_to FROM documents
WHERE space_id = :space AND redacted = 0 AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)
  AND overview = 0
ORDER BY created_at, id LIMIT :limit;
