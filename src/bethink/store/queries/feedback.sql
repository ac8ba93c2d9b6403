-- name: insert_feedback
-- Store feedback on a version of a fact.
INSERT INTO feedback (space_id, id, fact_id, version, verdict, note, given_by, given_at, review_id)
VALUES (:space, :id, :fact, :version, :verdict, :note, :by, :now, :review);

-- name: feedback_on_fact
-- Feedback on all versions of a fact, the newest first.
SELECT id, fact_id, version, verdict, note, given_by, given_at, review_id FROM feedback
WHERE space_id = :space AND fact_id = :fact ORDER BY given_at DESC, id DESC LIMIT :limit;

-- name: delete_feedback
-- Delete the feedback on a fact.
DELETE FROM feedback WHERE space_id = :space AND fact_id = :fact;
