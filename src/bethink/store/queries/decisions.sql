-- name: word_quotes_of
-- The words that facts quote from some messages of a session.
SELECT fact_id, session_id, number, text, statement FROM fact_quotes
WHERE space_id = :space AND session_id = :session AND number in_list(:numbers) AND context = 0
ORDER BY fact_id, support, place;

-- name: statements_quoted
-- The words and texts under which some facts were learned.
SELECT fact_id, session_id, number, text, statement FROM fact_quotes
WHERE space_id = :space AND fact_id in_list(:ids) AND context = 0 ORDER BY fact_id, support, place;

-- name: versions_of
-- Every version of some facts, oldest first.
SELECT fact_columns(), effect FROM facts WHERE space_id = :space AND id in_list(:ids) ORDER BY id, version;

-- name: person_links
-- What a person did to some facts directly, or asked to forget.
SELECT target_id, kind, recorded_at FROM fact_links
WHERE space_id = :space AND target_id in_list(:ids) AND (fact_id = '' OR kind = 'forgets') ORDER BY recorded_at;

-- name: reviews_of_words
-- Decided claims and reported facts that quote some messages of a session.
SELECT review_columns() FROM reviews WHERE space_id = :space AND id IN (
    SELECT review_id FROM review_sources WHERE space_id = :space AND session_id = :session AND number in_list(:numbers)
) AND (status IN ('rejected', 'approved') OR reason = 'reported_wrong') ORDER BY created_at, id;

-- name: facts_corrected_from
-- The facts that a person corrected, and that had a text before.
SELECT DISTINCT id FROM facts
WHERE space_id = :space AND digest = :digest AND ended_as = 'corrected' AND retired_at IS NOT NULL;

-- name: any_deleted_words
-- Whether the words of a deleted fact are settled.
SELECT 1 AS found FROM tombstones WHERE space_id = :space AND kind = 'statement' LIMIT 1;

-- name: moment_of_message
-- When a message was recorded, which names it in every copy of a space.
SELECT session_id, recorded_at FROM messages WHERE space_id = :space AND session_id = :session AND number = :number;
