-- name: timeline_messages
-- The messages of a space by when they were stored, the newest first, without those that were retracted by a time.
SELECT recorded_at AS at, session_id AS id, number, substr(content, 1, 300) AS text, origin AS who, session_id
FROM messages WHERE space_id = :space AND recorded_at <= :until AND (retracted_at IS NULL OR retracted_at > :as_of)
  /*given key*/ AND (recorded_at, session_id, number) < (:key, :id, :number) /*end*/
ORDER BY recorded_at DESC, session_id DESC, number DESC LIMIT :limit;

-- name: timeline_facts
-- The versions of facts by when they were recorded, the newest first, without those that a person asked to forget.
SELECT recorded_at AS at, id, version AS number, substr(content, 1, 300) AS text, origin AS who, source AS session_id
FROM facts WHERE space_id = :space AND recorded_at <= :until AND NOT EXISTS (
    SELECT 1 FROM facts h WHERE h.space_id = facts.space_id AND h.id = facts.id AND h.ended_as = 'hidden'
      AND h.retired_at IS NOT NULL
  )
  /*given key*/ AND (recorded_at, id, version) < (:key, :id, :number) /*end*/
ORDER BY recorded_at DESC, id DESC, version DESC LIMIT :limit;

-- name: timeline_ended
-- The facts that another statement or a person replaced, corrected or ended, by when memory learned it, the newest first.
SELECT end_recorded_at AS at, id, version AS number, substr(content, 1, 300) AS text, ended_by AS who,
       source AS session_id
FROM facts WHERE space_id = :space AND end_recorded_at IS NOT NULL AND end_recorded_at <= :until AND retired_at IS NULL
  /*given key*/ AND (end_recorded_at, id, version) < (:key, :id, :number) /*end*/
ORDER BY end_recorded_at DESC, id DESC, version DESC LIMIT :limit;

-- name: timeline_retired
-- The facts that were withdrawn, by when that was, the newest first.
SELECT retired_at AS at, id, version AS number, substr(content, 1, 300) AS text, retired_by AS who, source AS session_id
FROM facts WHERE space_id = :space AND retired_at IS NOT NULL AND retired_at <= :until AND COALESCE(retired_by, '') <> id
  AND COALESCE(ended_as, '') <> 'hidden'
  /*given key*/ AND (retired_at, id, version) < (:key, :id, :number) /*end*/
ORDER BY retired_at DESC, id DESC, version DESC LIMIT :limit;

-- name: timeline_documents
-- The versions of documents by when they were written, the newest first.
SELECT valid_from AS at, id, version AS number, title AS text, author_kind AS who, '' AS session_id
FROM documents WHERE space_id = :space AND valid_from <= :until
  /*given key*/ AND (valid_from, id, version) < (:key, :id, :number) /*end*/
ORDER BY valid_from DESC, id DESC, version DESC LIMIT :limit;

-- name: timeline_showings
-- Entries of the context log by time, the newest first.
SELECT l.shown_at AS at, l.id, 0 AS number, '' AS text, l.purpose AS who, l.session_id,
       (SELECT count(*) FROM ledger_items i WHERE i.space_id = l.space_id AND i.ledger_id = l.id) AS count
FROM ledger l WHERE l.space_id = :space AND l.shown_at <= :until
  /*given key*/ AND (l.shown_at, l.id) < (:key, :id) /*end*/
ORDER BY l.shown_at DESC, l.id DESC LIMIT :limit;

-- name: timeline_erasures
-- Deletions by time, as far as changes are stored, the newest first.
SELECT at, ref AS id, number, '' AS text, kind AS who, session_id
FROM changes WHERE space_id = :space AND at <= :until
  AND kind IN ('session.forgotten', 'fact.forgotten', 'document.forgotten', 'space.forgotten')
  /*given key*/ AND (at, ref, number) < (:key, :id, :number) /*end*/
ORDER BY at DESC, ref DESC, number DESC LIMIT :limit;
