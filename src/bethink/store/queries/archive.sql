-- name: space_made
-- The time when a space was created.
SELECT created_at FROM spaces WHERE id = :space;

-- name: set_space_made
-- Set when a space was created, as in an archive.
UPDATE spaces SET created_at = :at WHERE id = :space;

-- name: any_unselected
-- Whether a session summary has not been read by any consolidation.
SELECT session_id FROM session_summaries WHERE space_id = :space AND selected = 0 LIMIT 1;

-- name: seal_from_the_next_message
-- Restart the chains of sessions with a message that has no seal, because it was imported.
UPDATE sessions SET sealed_from = last_number + 1
WHERE space_id = :space AND EXISTS (
    SELECT 1 FROM messages m
    WHERE m.space_id = sessions.space_id AND m.session_id = sessions.id AND m.number >= sessions.sealed_from
    AND m.seal IS NULL
);
