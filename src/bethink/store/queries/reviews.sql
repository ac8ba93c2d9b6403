-- columns: review
id, status, reason, detail, claim, session_id, created_at, decided_at, decided_by, note, fact_id;

-- name: insert_review
-- Store a claim that was not accepted, once.
INSERT INTO reviews (space_id, id, status, reason, detail, claim, session_id, created_at, effect, fact_id)
VALUES (:space, :id, :status, :reason, :detail, :claim, :session, :now, :effect, :fact)
ON CONFLICT (space_id, effect) DO NOTHING;

-- name: insert_review_source
-- A message that a claim under review quotes.
INSERT INTO review_sources (space_id, review_id, session_id, number) VALUES (:space, :review, :session, :number)
ON CONFLICT (space_id, review_id, session_id, number) DO NOTHING;

-- name: find_review
-- One claim under review.
SELECT review_columns() FROM reviews WHERE space_id = :space AND id = :id;

-- name: find_review_of_effect
-- The claim that was stored under an effect key.
SELECT review_columns() FROM reviews WHERE space_id = :space AND effect = :effect;

-- name: list_reviews
-- Claims under review, the newest first.
SELECT review_columns() FROM reviews
WHERE space_id = :space AND status in_list(:statuses) AND (created_at < :before OR (created_at = :before AND id < :after))
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: decide_review
-- Record the decision on a claim, unless it was decided before.
UPDATE reviews SET status = :status, decided_at = :now, decided_by = :by, note = :note, fact_id = COALESCE(:fact, fact_id)
WHERE space_id = :space AND id = :id AND decided_at IS NULL;

-- name: forget_reviews_of_messages
-- Remove the claims that quote some messages of a session, and those of the session that quote nothing at all.
DELETE FROM reviews WHERE space_id = :space AND id IN (
    SELECT review_id FROM review_sources WHERE space_id = :space AND session_id = :session AND number in_list(:numbers)
) OR (space_id = :space AND session_id = :session AND NOT EXISTS (
    SELECT 1 FROM review_sources s WHERE s.space_id = :space AND s.review_id = reviews.id
));

-- name: forget_reviews_of_sessions
-- Remove the claims that quote some sessions, and those that were derived from them.
DELETE FROM reviews WHERE space_id = :space AND (session_id in_list(:sessions) OR id IN (
    SELECT review_id FROM review_sources WHERE space_id = :space AND session_id in_list(:sessions)
));

-- name: forget_reviews_of_fact
-- Remove the claims that became a fact.
DELETE FROM reviews WHERE space_id = :space AND fact_id = :fact;

-- name: count_reviews
-- The number of claims under review, by status.
SELECT status, count(*) AS count FROM reviews WHERE space_id = :space GROUP BY status ORDER BY status;

-- name: pending_sources
-- Those of some messages that a claim under review quotes.
SELECT DISTINCT pairs.id, pairs.number FROM pairs(:ids, :numbers)
JOIN review_sources s ON s.space_id = :space AND s.session_id = pairs.id AND s.number = pairs.number
JOIN reviews r ON r.space_id = s.space_id AND r.id = s.review_id AND r.status = 'pending';
