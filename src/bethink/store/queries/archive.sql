-- name: space_made
-- When a space was made.
SELECT created_at FROM spaces WHERE id = :space;

-- name: set_space_made
-- Set when a space was made, as an archive says.
UPDATE spaces SET created_at = :at WHERE id = :space;

-- name: any_unselected
-- Whether there is a session memory that no consolidation has seen.
SELECT session_id FROM session_memories WHERE space_id = :space AND selected = 0 LIMIT 1;
