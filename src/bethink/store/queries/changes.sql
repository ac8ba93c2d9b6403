-- columns: change
space_id, number, at, kind, ref, session_id;

-- name: record_change
-- Add a change with the next number of its space, whose lock the transaction holds. After a restore, a space without
-- changes may be one that had some.
INSERT INTO changes (space_id, number, at, kind, ref, session_id)
SELECT :space, COALESCE(MAX(number), (SELECT MAX(epoch) FROM restores), 0) + 1, :now, :kind, :ref, :session FROM changes WHERE space_id = :space
RETURNING number;

-- name: changes_after
-- Changes of a space that follow a number, in order.
SELECT change_columns() FROM changes WHERE space_id = :space AND number > :after ORDER BY number LIMIT :limit;

-- name: newest_changes
-- The newest changes of a space, the newest first.
SELECT change_columns() FROM changes WHERE space_id = :space ORDER BY number DESC LIMIT :limit;

-- name: oldest_change
-- The oldest change of a space that is kept.
SELECT change_columns() FROM changes WHERE space_id = :space ORDER BY number LIMIT 1;

-- name: restored_past
-- Whether a space was restored to before a number, which was then taken by a change that is gone.
SELECT c.number FROM changes c WHERE c.space_id = :space AND c.number > :number AND c.kind = 'space.restored'
  AND NOT EXISTS (SELECT 1 FROM changes o WHERE o.space_id = :space AND o.number = :number)
ORDER BY c.number LIMIT 1;

-- name: changes_of_session
-- What was learnt from a session and what became of it, in order.
SELECT change_columns() FROM changes WHERE space_id = :space AND session_id = :session ORDER BY number;

-- name: prune_changes
-- Remove old changes of a space. The last one stays: the next number follows from it.
DELETE FROM changes WHERE space_id = :space AND at < :before
  AND number < (SELECT max(c.number) FROM changes c WHERE c.space_id = :space);

-- name: forget_changes
-- Remove every change of a space but one.
DELETE FROM changes WHERE space_id = :space AND number <> :number;

-- name: facts_not_forgotten
-- Which of some facts are stored, whether they hold or not.
SELECT DISTINCT id FROM facts WHERE space_id = :space AND id in_list(:ids);
