-- name: insert_mark
-- Mark a span of a message, unless it was deleted in the meantime; the same mark is stored once.
INSERT INTO message_marks (space_id, session_id, number, kind, start, stop, cause, said_at, recorded_at)
SELECT m.space_id, m.session_id, m.number, CAST(:kind AS text), CAST(:start AS bigint), CAST(:stop AS bigint),
       CAST(:cause AS text), CAST(:said_at AS bigint), CAST(:now AS bigint)
FROM messages m WHERE m.space_id = :space AND m.session_id = :session AND m.number = :number
ON CONFLICT (space_id, session_id, number, kind, start, stop, cause) DO NOTHING;

-- name: marks_of_messages
-- The marks of some messages: hidden spans always, corrections that were said and learned by then.
SELECT k.session_id, k.number, k.kind, k.start, k.stop, k.cause, k.said_at, k.recorded_at
FROM pairs(:ids, :numbers)
JOIN message_marks k ON k.space_id = :space AND k.session_id = pairs.id AND k.number = pairs.number
WHERE k.kind = 'hidden' OR (k.said_at <= :said_until AND k.recorded_at <= :known_until)
ORDER BY k.session_id, k.number, k.start, k.stop, k.cause;

-- name: hidden_words
-- What a person asked to forget in a space, the newest of each: words of messages, every version of hidden facts with
-- its id, and what the requests name that hide something.
SELECT kind, id, text, hidden_at FROM (
    SELECT 'span' AS kind, '' AS id, k.recorded_at AS hidden_at,
           substr(m.content, CAST(k.start + 1 AS integer), CAST(k.stop - k.start AS integer)) AS text
    FROM message_marks k
    JOIN messages m ON m.space_id = k.space_id AND m.session_id = k.session_id AND m.number = k.number
    WHERE k.space_id = :space AND k.kind = 'hidden'
    ORDER BY k.recorded_at DESC, k.session_id, k.number, k.start LIMIT :limit
) spans
UNION ALL SELECT kind, id, text, hidden_at FROM (
    SELECT 'fact' AS kind, v.id, v.content AS text, f.retired_at AS hidden_at
    FROM facts f JOIN facts v ON v.space_id = f.space_id AND v.id = f.id
    WHERE f.space_id = :space AND f.ended_as = 'hidden' AND f.retired_at IS NOT NULL
    ORDER BY f.retired_at DESC, v.id, v.version LIMIT :limit
) hidden_facts
UNION ALL SELECT kind, id, text, hidden_at FROM (
    SELECT 'target' AS kind, r.id, r.target AS text, r.recorded_at AS hidden_at FROM forget_requests r
    WHERE r.space_id = :space AND r.target <> ''
      AND EXISTS (SELECT 1 FROM message_marks k WHERE k.space_id = r.space_id AND k.cause = r.id)
    ORDER BY r.recorded_at DESC, r.id LIMIT :limit
) targets;

-- name: marks_of_cause
-- The marks that a message or a request to forget caused.
SELECT session_id, number, kind, start, stop, cause, said_at, recorded_at
FROM message_marks WHERE space_id = :space AND cause = :cause
ORDER BY session_id, number, start, stop;

-- name: delete_marks_of_causes
-- Remove the marks that some messages or requests to forget caused.
DELETE FROM message_marks WHERE space_id = :space AND cause in_list(:causes);

-- name: hidden_words_of_session
-- The hidden spans of a session, with the texts of their messages.
SELECT k.cause, k.start, k.stop, m.content FROM message_marks k
JOIN messages m ON m.space_id = k.space_id AND m.session_id = k.session_id AND m.number = k.number
WHERE k.space_id = :space AND k.session_id = :session AND k.kind = 'hidden'
ORDER BY k.number, k.start;
