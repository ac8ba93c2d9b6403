-- name: insert_erasure
-- Record an erasure.
INSERT INTO erasures (space_id, id, requested_by, key_prefix, reason, requested_at, plan)
VALUES (:space, :id, :requested_by, :key_prefix, :reason, :now, :plan);

-- name: insert_erasure_sinks
-- The sinks that must confirm an erasure.
INSERT INTO erasure_sinks (space_id, erasure_id, sink, confirmed_at)
SELECT :space, :erasure, pairs.id, pairs.number FROM pairs(:sinks, :times);

-- name: confirm_erasure
-- Confirm that sinks have deleted their data.
UPDATE erasure_sinks SET confirmed_at = :now
WHERE space_id = :space AND erasure_id = :erasure AND sink in_list(:sinks) AND confirmed_at IS NULL;

-- name: settle_erasure
-- Settle an erasure that every sink has confirmed.
UPDATE erasures SET settled_at = :now, plan = NULL, receipt = :receipt
WHERE space_id = :space AND id = :id AND settled_at IS NULL;

-- name: note_receipt
-- Store the receipt, even while a sink has not confirmed yet.
UPDATE erasures SET plan = :plan, receipt = :receipt WHERE space_id = :space AND id = :id AND settled_at IS NULL;

-- name: withdraw_erasure
-- There was nothing to delete.
DELETE FROM erasures WHERE space_id = :space AND id = :id;

-- name: withdraw_tombstones
-- There was nothing to delete.
DELETE FROM tombstones WHERE space_id = :space AND erasure_id = :erasure;

-- name: find_erasure
-- One erasure, locked, so that only one process finishes it.
SELECT space_id, id, requested_by, key_prefix, reason, requested_at, settled_at, plan, receipt FROM erasures
WHERE space_id = :space AND id = :id /*for_update*/;

-- name: list_erasures
-- The erasures of a space, the newest first.
SELECT space_id, id, requested_by, key_prefix, reason, requested_at, settled_at, plan, receipt FROM erasures
WHERE space_id = :space /*given before*/ AND (requested_at, id) < (:before, :id) /*end*/
ORDER BY requested_at DESC, id DESC LIMIT :limit;

-- name: list_erasure_sinks
-- The sinks of an erasure, with the time when each confirmed.
SELECT sink, confirmed_at FROM erasure_sinks WHERE space_id = :space AND erasure_id = :erasure ORDER BY sink;

-- name: list_open_sinks
-- Unconfirmed sinks in all spaces.
SELECT space_id, erasure_id, sink FROM erasure_sinks WHERE confirmed_at IS NULL
ORDER BY space_id, erasure_id, sink LIMIT :limit;

-- name: any_open_log
-- Whether an erasure is waiting for an empty write-ahead log.
SELECT erasure_id FROM erasure_sinks WHERE confirmed_at IS NULL AND sink = 'log' LIMIT 1;

-- name: bury
-- Add tombstones for names that must not be stored again: each is a digest of 64 characters and a kind. The newest
-- erasure of a name counts.
INSERT INTO tombstones (space_id, kind, key_id, digest, erasure_id, at)
SELECT :space, substr(pairs.id, 65), :key_id, substr(pairs.id, 1, 64), :erasure, pairs.number
FROM pairs(:names, :times) WHERE 1 = 1
ON CONFLICT (space_id, kind, key_id, digest) DO UPDATE SET erasure_id = excluded.erasure_id, at = excluded.at
WHERE excluded.at >= tombstones.at;

-- name: list_tombstones
-- The tombstones of a space.
SELECT kind, key_id, digest, erasure_id, at FROM tombstones WHERE space_id = :space ORDER BY at, kind, digest;

-- name: tombstones_of_erasure
-- The tombstones of one erasure.
SELECT kind, key_id, digest, erasure_id, at FROM tombstones
WHERE space_id = :space AND erasure_id = :erasure ORDER BY kind, digest;

-- name: find_tombstones
-- The tombstones of some digests.
SELECT kind, key_id, digest, erasure_id, at FROM tombstones
WHERE space_id = :space AND kind = :kind AND digest in_list(:digests);

-- name: note_written
-- Record a file or folder with texts of a space.
INSERT INTO written_files (space_id, host, path, kind, written_at) VALUES (:space, :host, :path, :kind, :now)
ON CONFLICT (space_id, host, path) DO UPDATE SET kind = excluded.kind, written_at = excluded.written_at;

-- name: list_written
-- The files and folders with texts of a space.
SELECT host, path, kind, written_at FROM written_files WHERE space_id = :space ORDER BY host, path;

-- name: drop_written
-- Remove a file or folder that was deleted.
DELETE FROM written_files WHERE space_id = :space AND host = :host AND path = :path;

-- name: list_deployment_keys
-- Every key of the deployment whose name matches a pattern.
SELECT name, value FROM deployment_keys WHERE name LIKE :pattern ORDER BY name;

-- name: list_going_messages
-- The messages of some sessions, and the keys under which they were sent.
SELECT session_id, number, idempotency_key, recorded_at FROM messages WHERE space_id = :space AND session_id in_list(:sessions)
ORDER BY session_id, number;

-- name: find_going_messages
-- Some messages of a session, and the keys under which they were sent.
SELECT session_id, number, idempotency_key, recorded_at, origin, content, metadata FROM messages
WHERE space_id = :space AND session_id = :session AND number in_list(:numbers) ORDER BY number;

-- name: list_messages_at
-- The messages of a session that were recorded at one moment.
SELECT session_id, number, recorded_at, role, said_at, content FROM messages
WHERE space_id = :space AND session_id = :session AND recorded_at = :at ORDER BY number;

-- name: list_idempotency_keys
-- The keys under which the messages of a space were sent.
SELECT idempotency_key AS key FROM messages WHERE space_id = :space AND idempotency_key IS NOT NULL;

-- name: list_document_keys
-- The keys under which the documents of a space were written.
SELECT key FROM document_operations WHERE space_id = :space;

-- name: name_of_conversation
-- The name of a conversation and of its agent.
SELECT a.name AS agent, c.key FROM conversations c JOIN agents a ON a.space_id = c.space_id AND a.id = c.agent_id
WHERE c.space_id = :space AND c.id = :id;

-- name: any_open_sink
-- Whether any sink in any space is unconfirmed.
SELECT erasure_id FROM erasure_sinks WHERE confirmed_at IS NULL LIMIT 1;

-- name: left_inside
-- What still exists of deleted items, counted by sink: of messages by `ids` and `numbers`, of facts with their evidence,
-- of session summaries with the summaries of their conversations, and of documents that lost their text or cite deleted
-- `sources`.
SELECT
    (SELECT count(*) FROM pairs(:ids, :numbers)
     JOIN messages m ON m.space_id = :space AND m.session_id = pairs.id AND m.number = pairs.number)
  + (SELECT count(*) FROM facts WHERE space_id = :space AND id in_list(:facts))
  + (SELECT count(*) FROM fact_quotes WHERE space_id = :space AND fact_id in_list(:facts))
  + (SELECT count(*) FROM fact_sources WHERE space_id = :space AND fact_id in_list(:facts)) AS "rows",
    (SELECT count(*) FROM pairs(:ids, :numbers)
     JOIN terms t ON t.space_id = :space AND t.kind = 'message' AND t.id = pairs.id AND t.number = pairs.number)
  + (SELECT count(*) FROM terms WHERE space_id = :space AND kind = 'fact' AND id in_list(:facts))
  + (SELECT count(*) FROM terms WHERE space_id = :space AND kind = 'session_summary' AND id in_list(:summaries))
  + (SELECT count(*) FROM terms t JOIN documents d
     ON d.space_id = t.space_id AND d.id = t.id AND d.version = t.number AND d.redacted = 1
     WHERE t.space_id = :space AND t.kind = 'document' AND t.id in_list(:documents)) AS "index",
    (SELECT count(*) FROM threads WHERE space_id = :space AND id in_list(:threads)) AS working,
    (SELECT count(*) FROM answers WHERE space_id = :space AND key in_list(:sessions)) AS answers,
    (SELECT count(*) FROM documents d WHERE d.space_id = :space AND d.redacted = 0 AND EXISTS (
        SELECT 1 FROM document_sources s WHERE s.space_id = d.space_id AND s.document_id = d.id
          AND s.version <= d.version AND (s.last_version IS NULL OR s.last_version >= d.version)
          AND s.source_id in_list(:sources)
    )) AS documents,
    (SELECT count(*) FROM session_summaries WHERE space_id = :space AND session_id in_list(:summaries))
  + (SELECT count(*) FROM summaries s WHERE s.space_id = :space AND s.conversation_id IN (
        SELECT conversation_id FROM sessions WHERE space_id = :space AND id in_list(:summaries))) AS summaries;

-- name: left_vectors
-- The number of deleted items that have a vector.
SELECT
    (SELECT count(*) FROM pairs(:ids, :numbers)
     JOIN vectors v ON v.space_id = :space AND v.index_id IN (SELECT i.id FROM vector_indexes i) AND v.kind = 'message'
       AND v.id = pairs.id AND v.number = pairs.number)
  + (SELECT count(*) FROM vectors v WHERE v.space_id = :space AND v.index_id IN (SELECT i.id FROM vector_indexes i)
       AND v.kind = 'fact' AND v.id in_list(:facts))
  + (SELECT count(*) FROM vectors v WHERE v.space_id = :space AND v.index_id IN (SELECT i.id FROM vector_indexes i)
       AND v.kind = 'session_summary' AND v.id in_list(:summaries))
  + (SELECT count(*) FROM vectors v JOIN documents d
       ON d.space_id = v.space_id AND d.id = v.id AND d.version = v.number AND d.redacted = 1
     WHERE v.space_id = :space AND v.index_id IN (SELECT i.id FROM vector_indexes i)
       AND v.kind = 'document' AND v.id in_list(:documents)) AS vectors;

-- name: left_of_space
-- The number of rows of a deleted space in tables without a cascade.
SELECT (SELECT count(*) FROM spaces WHERE id = :space)
     + (SELECT count(*) FROM messages WHERE space_id = :space)
     + (SELECT count(*) FROM terms WHERE space_id = :space) AS remaining;

-- name: left_vectors_of_space
-- The number of vectors of a space.
SELECT count(*) AS remaining FROM vectors WHERE space_id = :space;

-- name: sessions_shown
-- The sessions that were shown one of these memories, in any version.
SELECT DISTINCT l.session_id FROM ledger_items i JOIN ledger l ON l.space_id = i.space_id AND l.id = i.ledger_id
WHERE i.space_id = :space AND i.kind = :kind AND i.id in_list(:ids) ORDER BY l.session_id LIMIT :limit;

-- name: sessions_shown_any
-- The sessions that were shown one of these items: messages by `ids` and `numbers`, others in any version.
SELECT DISTINCT l.session_id FROM (
    SELECT i.ledger_id FROM pairs(:ids, :numbers)
    JOIN ledger_items i ON i.space_id = :space AND i.kind = 'message' AND i.id = pairs.id AND i.number = pairs.number
    UNION ALL
    SELECT ledger_id FROM ledger_items WHERE space_id = :space AND kind = 'fact' AND id in_list(:facts)
    UNION ALL
    SELECT ledger_id FROM ledger_items WHERE space_id = :space AND kind = 'document' AND id in_list(:documents)
    UNION ALL
    SELECT ledger_id FROM ledger_items WHERE space_id = :space AND kind = 'session_summary' AND id in_list(:summaries)
) AS shown JOIN ledger l ON l.space_id = :space AND l.id = shown.ledger_id ORDER BY l.session_id LIMIT :limit;

-- name: page_recorded_messages
-- Messages after one of them, with their conversation, and the fields that identify them.
SELECT m.session_id, m.number, m.recorded_at AS at, m.recorded_at, m.role, m.said_at, m.content, a.name AS agent, c.key
FROM messages m
JOIN sessions s ON s.space_id = m.space_id AND s.id = m.session_id
JOIN conversations c ON c.space_id = s.space_id AND c.id = s.conversation_id
JOIN agents a ON a.space_id = c.space_id AND a.id = c.agent_id
WHERE m.space_id = :space AND (m.session_id, m.number) > (:session, :number)
ORDER BY m.session_id, m.number LIMIT :limit;

-- name: list_recorded_fact
-- Every fact, and when its first version was recorded.
SELECT id, min(recorded_at) AS at FROM facts WHERE space_id = :space GROUP BY id ORDER BY id;

-- name: list_recorded_session_summary
-- Every session summary, and when it was generated.
SELECT session_id AS id, generated_at AS at FROM session_summaries WHERE space_id = :space ORDER BY session_id;

-- name: list_recorded_document
-- Every document that has a text, and when its first such version was written.
SELECT id, min(valid_from) AS at FROM documents WHERE space_id = :space AND redacted = 0 GROUP BY id ORDER BY id;

-- name: list_recorded_thread
-- Every thread, and when it was opened.
SELECT id, created_at AS at FROM threads WHERE space_id = :space ORDER BY id;

-- name: list_written_versions
-- Every version of a document that has a text, and the fields that identify it.
SELECT id AS document_id, version, id || ':' || version AS id, valid_from AS at, valid_from, valid_to, slug FROM documents
WHERE space_id = :space AND redacted = 0 ORDER BY documents.id, version;

-- name: list_versions_beside
-- The versions of a document that have a text, and all that were written at the same moments.
SELECT id, version, valid_from, slug FROM documents WHERE space_id = :space AND redacted = 0 AND valid_from IN (
    SELECT g.valid_from FROM documents g WHERE g.space_id = :space AND g.id = :id AND g.redacted = 0
) ORDER BY id, version;

-- name: texts_of_docs
-- The items behind some index entries, if they were written since a time. The index dates a fact by when it was said.
SELECT t.doc, t.kind, t.id, t.number FROM terms t
LEFT JOIN facts f ON t.kind = 'fact' AND f.space_id = t.space_id AND f.id = t.id AND f.version = t.number
WHERE t.doc in_list(:docs) AND COALESCE(f.recorded_at, t.at) >= :since ORDER BY t.doc;

-- name: redact_unproven
-- Remove the text of these versions, unless a person wrote it.
UPDATE documents SET title = '[redacted]', description = '', body = '', reason = '', redacted = 1, tags = '[]', metadata = '{}'
WHERE space_id = :space AND redacted = 0 AND author_kind <> 'user'
  AND (id, version) IN (SELECT pairs.id, pairs.number FROM pairs(:ids, :numbers)) RETURNING id;

-- name: list_derived_texts
-- Texts of a space that may repeat deleted messages: answers of models about sessions, change sets, claims under review
-- and requests to forget.
SELECT 'answer' AS kind, key AS id, content AS "first", '' AS "second", '' AS third FROM answers
WHERE space_id = :space AND kind = :kind
UNION ALL SELECT 'change_set', run, CAST(changes AS text), CAST(selection AS text), '' FROM change_sets
WHERE space_id = :space
UNION ALL SELECT 'claim', id, CAST(claim AS text), detail, COALESCE(note, '') FROM reviews WHERE space_id = :space
UNION ALL SELECT 'request', id, COALESCE(target, ''), COALESCE(statement, ''), '' FROM forget_requests
WHERE space_id = :space;

-- name: drop_reviews
-- Delete claims under review that repeat deleted text.
DELETE FROM reviews WHERE space_id = :space AND id in_list(:ids);
