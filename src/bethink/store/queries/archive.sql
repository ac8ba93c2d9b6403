-- name: space_made
-- When a space was made.
SELECT created_at FROM spaces WHERE id = :space;

-- name: set_space_made
-- Set when a space was made, as an archive says.
UPDATE spaces SET created_at = :at WHERE id = :space;

-- name: any_unselected
-- Whether there is a session memory that no consolidation has seen.
SELECT session_id FROM session_memories WHERE space_id = :space AND selected = 0 LIMIT 1;

-- name: seal_from_the_next_message
-- Begin the chains anew where a message has no seal, because it came from elsewhere.
UPDATE sessions SET sealed_from = last_number + 1
WHERE space_id = :space AND EXISTS (
    SELECT 1 FROM messages m
    WHERE m.space_id = sessions.space_id AND m.session_id = sessions.id AND m.number >= sessions.sealed_from
    AND m.seal IS NULL
);
