-- name: insert_forget_request
-- Store a request to forget; a message states at most one.
INSERT INTO forget_requests (space_id, id, session_id, number, scope, target, statement, said_at, recorded_at, status,
                             decided_at)
VALUES (:space, :id, :session, :number, :scope, :target, :statement, :said_at, :now, :status, :now)
ON CONFLICT (space_id, id) DO NOTHING;

-- name: find_forget_request
-- A request to forget.
SELECT id, session_id, number, scope, target, statement, said_at, recorded_at, status, decided_at
FROM forget_requests WHERE space_id = :space AND id = :id;

-- name: forget_request_of_message
-- The request to forget that a message states.
SELECT id, session_id, number, scope, target, statement, said_at, recorded_at, status, decided_at
FROM forget_requests WHERE space_id = :space AND session_id = :session AND number = :number;

-- name: list_forget_requests
-- The requests to forget of a space, the newest first.
SELECT id, session_id, number, scope, target, statement, said_at, recorded_at, status, decided_at
FROM forget_requests WHERE space_id = :space ORDER BY said_at DESC, id DESC LIMIT :limit;

-- name: set_forget_request_status
-- Set the status of a request to forget.
UPDATE forget_requests SET status = :status, decided_at = :now WHERE space_id = :space AND id = :id;

-- name: read_messages_by_ref
-- Some messages that were said by a time, without retracted ones.
SELECT m.session_id, m.number, m.role, m.content, m.name, m.tool_calls, m.tool_call_id, m.is_error, m.metadata,
       m.origin, m.idempotency_key, m.trace_parent, m.said_at, m.recorded_at, m.tags, m.retracted_at
FROM pairs(:ids, :numbers)
JOIN messages m ON m.space_id = :space AND m.session_id = pairs.id AND m.number = pairs.number
WHERE m.said_at <= :at
ORDER BY m.said_at, m.session_id, m.number;

-- name: quotes_of_messages
-- The quotes of some messages, with the facts they support.
SELECT q.fact_id, q.session_id, q.number, q.text
FROM pairs(:ids, :numbers)
JOIN fact_quotes q ON q.space_id = :space AND q.session_id = pairs.id AND q.number = pairs.number
WHERE q.context = 0
ORDER BY q.fact_id;

-- name: request_hiding_message
-- The newest request that hides words of a message.
SELECT r.id, r.session_id, r.number, r.scope, r.target, r.statement, r.said_at, r.recorded_at, r.status, r.decided_at
FROM message_marks k JOIN forget_requests r ON r.space_id = k.space_id AND r.id = k.cause
WHERE k.space_id = :space AND k.session_id = :id AND k.number = :number AND k.kind = 'hidden'
ORDER BY r.said_at DESC, r.id DESC LIMIT 1;

-- name: request_hiding_fact
-- The newest request that hides a fact; any version of it may be asked about.
SELECT r.id, r.session_id, r.number, r.scope, r.target, r.statement, r.said_at, r.recorded_at, r.status, r.decided_at
FROM fact_links l JOIN forget_requests r ON r.space_id = l.space_id AND r.id = l.support
WHERE l.space_id = :space AND l.target_id = :id AND l.kind = 'forgets' AND :number >= 0 AND EXISTS (
    SELECT 1 FROM facts f WHERE f.space_id = l.space_id AND f.id = l.target_id AND f.ended_as = 'hidden'
)
ORDER BY r.said_at DESC, r.id DESC LIMIT 1;

-- name: clear_forget_requests
-- Remove the words of requests to forget; what they hide stays hidden.
UPDATE forget_requests SET target = '', statement = '' WHERE space_id = :space AND id in_list(:ids);
