-- columns: change
space_id, number, at, kind, ref, session_id;

-- name: record_changes
-- Add changes with the next numbers of their space, whose lock the transaction holds. After a restore, a space without
-- changes may have had some before.
INSERT INTO changes (space_id, number, at, kind, ref, session_id)
SELECT :space, pairs.number + COALESCE(
    (SELECT MAX(number) FROM changes WHERE space_id = :space), (SELECT MAX(epoch) FROM restores), 0
), :now, :kind, pairs.id, :session FROM pairs(:refs, :order) WHERE 1 = 1
RETURNING number;

-- name: changes_after
-- Changes of a space that follow a number, in order.
SELECT change_columns() FROM changes WHERE space_id = :space AND number > :after ORDER BY number LIMIT :limit;

-- name: newest_changes
-- The newest changes of a space, the newest first.
SELECT change_columns() FROM changes WHERE space_id = :space ORDER BY number DESC LIMIT :limit;

-- name: oldest_change
-- The oldest stored change of a space.
SELECT change_columns() FROM changes WHERE space_id = :space ORDER BY number LIMIT 1;

-- name: restored_past
-- Whether a space was restored to a state before a number, whose change no longer exists.
SELECT c.number FROM changes c WHERE c.space_id = :space AND c.number > :number AND c.kind = 'space.restored'
  AND NOT EXISTS (SELECT 1 FROM changes o WHERE o.space_id = :space AND o.number = :number)
ORDER BY c.number LIMIT 1;

-- name: changes_of_session
-- Changes that were learned from a session, in order.
SELECT change_columns() FROM changes WHERE space_id = :space AND session_id = :session ORDER BY number;

-- name: prune_changes
-- Delete old changes of a space. The last one is kept, because the next number follows from it.
DELETE FROM changes WHERE space_id = :space AND at < :before
  AND number < (SELECT max(c.number) FROM changes c WHERE c.space_id = :space);

-- name: forget_changes
-- Remove every change of a space but one.
DELETE FROM changes WHERE space_id = :space AND number <> :number;

-- name: facts_not_forgotten
-- Those of some facts that are stored, current or not.
SELECT DISTINCT id FROM facts WHERE space_id = :space AND id in_list(:ids);
