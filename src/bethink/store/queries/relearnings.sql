-- name: insert_relearning
-- Store a proposal.
INSERT INTO relearnings (space_id, id, status, model, counts, proposal, created_at)
VALUES (:space, :id, :status, :model, :counts, :proposal, :now);

-- name: find_relearning
-- One relearning.
SELECT id, status, model, counts, proposal, undo, created_at, applied_at FROM relearnings
WHERE space_id = :space AND id = :id;

-- name: settle_relearning
-- Record that a relearning was applied or undone. Its texts are deleted: only the facts remain.
UPDATE relearnings SET status = :status, proposal = NULL, undo = :undo, applied_at = COALESCE(applied_at, :now)
WHERE space_id = :space AND id = :id;

-- name: drop_proposals
-- Remove every proposal of a space: it may contain deleted text.
DELETE FROM relearnings WHERE space_id = :space AND status = 'proposed';

-- name: list_learned_facts
-- The current facts that were learned and not changed by hand since, ordered by id.
SELECT fact_columns() FROM facts
WHERE space_id = :space AND retired_at IS NULL AND effect IS NOT NULL ORDER BY id;

-- name: list_quotes
-- The quotes of every fact of a space.
SELECT fact_id, session_id, number FROM fact_quotes WHERE space_id = :space AND context = 0
ORDER BY fact_id, session_id, number;
