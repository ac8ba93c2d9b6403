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
UPDATE relearnings SET status = :status, proposal = NULL, counts = :counts, undo = :undo,
    applied_at = COALESCE(applied_at, :now)
WHERE space_id = :space AND id = :id;

-- name: drop_proposals
-- Remove every proposal of a space: it may contain deleted text.
DELETE FROM relearnings WHERE space_id = :space AND status = 'proposed';

-- name: list_learned_facts
-- The facts that were learned and that no person has decided about since, ordered by id.
SELECT fact_columns() FROM facts f
WHERE f.space_id = :space AND f.retired_at IS NULL AND f.effect IS NOT NULL
  AND (f.evidence IS NULL OR f.evidence <> 'stated') AND NOT EXISTS (
    SELECT 1 FROM fact_links l
    WHERE l.space_id = :space AND l.target_id = f.id AND (l.fact_id = '' OR l.kind = 'forgets')
  ) ORDER BY f.id;

-- name: list_quotes
-- The quotes of every fact of a space.
SELECT fact_id, session_id, number FROM fact_quotes WHERE space_id = :space AND context = 0
ORDER BY fact_id, session_id, number;

-- name: delete_support
-- Remove one occurrence of a fact.
DELETE FROM fact_quotes WHERE space_id = :space AND fact_id = :fact AND support = :support;

-- name: delete_statement
-- Remove one statement of a fact.
DELETE FROM fact_statements WHERE space_id = :space AND fact_id = :fact AND support = :support;

-- name: delete_links_of_statement
-- Remove what one statement of a fact does to others.
DELETE FROM fact_links WHERE space_id = :space AND fact_id = :fact AND support = :support;

-- name: delete_link
-- Remove one link.
DELETE FROM fact_links
WHERE space_id = :space AND target_id = :target AND kind = :kind AND fact_id = :fact AND support = :support;

-- name: restore_link
-- Add a link again, as it was.
INSERT INTO fact_links (space_id, target_id, kind, fact_id, support, said_at, session_id, number, position, recorded_at,
                        begins_at)
VALUES (:space, :target_id, :kind, :fact_id, :support, :said_at, :session_id, :number, :position, :recorded_at,
        :begins_at)
ON CONFLICT (space_id, target_id, kind, fact_id, support) DO NOTHING;

-- name: delete_unquoted_sources
-- Remove the source messages of a fact that it does not quote.
DELETE FROM fact_sources WHERE space_id = :space AND fact_id = :fact AND NOT EXISTS (
    SELECT 1 FROM fact_quotes q
    WHERE q.space_id = :space AND q.fact_id = fact_sources.fact_id AND q.session_id = fact_sources.session_id
      AND q.number = fact_sources.number
);

-- name: restore_expiry
-- Set when a fact expires, as it was.
UPDATE facts SET expires_at = :at WHERE space_id = :space AND id = :id AND retired_at IS NULL;
