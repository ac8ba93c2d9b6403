-- name: count_passages
-- The number of passages in a session of a file, and of retracted ones among them.
SELECT count(*) AS stored, count(retracted_at) AS retracted
FROM messages WHERE space_id = :space AND session_id = :session AND origin = 'document';
