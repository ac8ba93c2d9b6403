-- name: put_retention
-- Set how long a kind, or what of it came from an origin, is kept. An empty origin is any.
INSERT INTO retention_rules (space_id, kind, origin, older_than, set_by, set_at)
VALUES (:space, :kind, :origin, :older_than, :by, :now)
ON CONFLICT (space_id, kind, origin) DO UPDATE
SET older_than = excluded.older_than, set_by = excluded.set_by, set_at = excluded.set_at;

-- name: drop_retention
-- Remove a rule.
DELETE FROM retention_rules WHERE space_id = :space AND kind = :kind AND origin = :origin;

-- name: list_retention
-- The rules of a space.
SELECT kind, origin, older_than, set_by, set_at FROM retention_rules WHERE space_id = :space ORDER BY kind, origin;

-- name: put_legal_hold
-- Record a legal hold; one that is there already may only have been lifted since.
INSERT INTO legal_holds (space_id, id, reason, placed_by, placed_at, lifted_by, lifted_at, lifted_because)
VALUES (:space, :id, :reason, :placed_by, :placed_at, :lifted_by, :lifted_at, :lifted_because)
ON CONFLICT (space_id, id) DO UPDATE
SET lifted_by = excluded.lifted_by, lifted_at = excluded.lifted_at, lifted_because = excluded.lifted_because
WHERE legal_holds.lifted_at IS NULL;

-- name: standing_legal_hold
-- The oldest legal hold that stands on a space.
SELECT space_id, id, reason, placed_by, placed_at, lifted_by, lifted_at, lifted_because FROM legal_holds
WHERE space_id = :space AND lifted_at IS NULL ORDER BY placed_at, id LIMIT 1;

-- name: find_legal_hold
-- One legal hold.
SELECT space_id, id, reason, placed_by, placed_at, lifted_by, lifted_at, lifted_because FROM legal_holds
WHERE space_id = :space AND id = :id;

-- name: list_legal_holds
-- The legal holds on a space, the newest first.
SELECT space_id, id, reason, placed_by, placed_at, lifted_by, lifted_at, lifted_because FROM legal_holds
WHERE space_id = :space ORDER BY placed_at DESC, id DESC LIMIT :limit;

-- name: list_standing_holds
-- The legal holds that stand in any space, the newest first.
SELECT space_id, id, reason, placed_by, placed_at, lifted_by, lifted_at, lifted_because FROM legal_holds
WHERE lifted_at IS NULL ORDER BY placed_at DESC, id DESC LIMIT :limit;

-- name: every_legal_hold
-- Every legal hold, for the database that takes the place of this one.
SELECT space_id, id, reason, placed_by, placed_at, lifted_by, lifted_at, lifted_because FROM legal_holds
ORDER BY space_id, id;

-- name: list_rows_open
-- The erasures of a space that are recorded, and have not removed their rows.
SELECT erasure_id FROM erasure_sinks
WHERE space_id = :space AND sink = 'rows' AND confirmed_at IS NULL ORDER BY erasure_id;

-- name: due_message
-- Messages that were said before a time, session by session.
SELECT m.session_id AS id, m.number FROM messages m
WHERE m.space_id = :space AND m.session_id >= :after AND m.said_at < :before
  AND (:origin = '' OR m.origin = :origin OR (:origin = 'tool' AND substr(m.origin, 1, 5) = 'tool:'))
ORDER BY m.session_id, m.number LIMIT :limit;

-- name: due_session_memory
-- Memories of sessions in which something was last said before a time.
SELECT s.session_id AS id, 0 AS number FROM session_memories s
WHERE s.space_id = :space AND s.session_id > :after AND COALESCE(s.said_until, s.source_updated_at) < :before
  AND :origin = ''
ORDER BY s.session_id LIMIT :limit;

-- name: due_fact
-- Facts whose newest version was said or written before a time.
SELECT f.id, 0 AS number FROM facts f
WHERE f.space_id = :space AND f.id > :after AND f.created_at < :before
  AND (:origin = '' OR f.origin = :origin OR (:origin = 'tool' AND substr(f.origin, 1, 5) = 'tool:'))
  AND NOT EXISTS (SELECT 1 FROM facts n WHERE n.space_id = f.space_id AND n.id = f.id AND n.version > f.version)
ORDER BY f.id LIMIT :limit;

-- name: due_expired
-- Facts whose newest version expired before a time.
SELECT f.id, 0 AS number FROM facts f
WHERE f.space_id = :space AND f.id > :after AND f.expires_at IS NOT NULL AND f.expires_at < :before
  AND NOT EXISTS (SELECT 1 FROM facts n WHERE n.space_id = f.space_id AND n.id = f.id AND n.version > f.version)
ORDER BY f.id LIMIT :limit;

-- name: due_document
-- Documents whose newest version was written before a time, and that have a text in any version.
SELECT d.id, 0 AS number FROM documents d
WHERE d.space_id = :space AND d.id > :after AND d.valid_from < :before
  AND (:origin = '' OR d.origin = :origin OR (:origin = 'tool' AND substr(d.origin, 1, 5) = 'tool:'))
  AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.space_id = d.space_id AND n.id = d.id AND n.version > d.version)
  AND EXISTS (SELECT 1 FROM documents o WHERE o.space_id = d.space_id AND o.id = d.id AND o.redacted = 0)
ORDER BY d.id LIMIT :limit;

-- name: due_thread
-- Threads that were opened, and last had an event, before a time.
SELECT t.id, 0 AS number FROM threads t
WHERE t.space_id = :space AND t.id > :after AND t.created_at < :before AND :origin = ''
  AND NOT EXISTS (
      SELECT 1 FROM events e WHERE e.space_id = t.space_id AND e.thread_id = t.id AND e.queued_at >= :before
  )
ORDER BY t.id LIMIT :limit;
