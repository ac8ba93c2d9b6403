-- name: insert_messages
-- Insert a message under its number; without a time, it was said when it was stored.
INSERT INTO messages (space_id, session_id, number, recorded_at, role, content, name, tool_calls, tool_call_id,
                      is_error, metadata, origin, idempotency_key, trace_parent, said_at, tags, seal)
VALUES (:space, :session, :number, :recorded_at, :role, :content, :name, :tool_calls, :tool_call_id,
        :is_error, :metadata, :origin, :idempotency_key, :trace_parent, COALESCE(:said_at, :recorded_at), :tags, :seal);

-- name: insert_messages_together (postgres)
-- The same for many messages, with all rows as one JSON value.
INSERT INTO messages (space_id, session_id, number, recorded_at, role, content, name, tool_calls, tool_call_id,
                      is_error, metadata, origin, idempotency_key, trace_parent, said_at, tags, seal)
SELECT r.space, r.session, r.number, r.recorded_at, r.role, r.content, r.name, CAST(r.tool_calls AS json),
       r.tool_call_id, r.is_error, CAST(r.metadata AS json), r.origin, r.idempotency_key, r.trace_parent,
       COALESCE(r.said_at, r.recorded_at), CAST(r.tags AS json), r.seal
FROM json_to_recordset(:rows) AS r (
    space text, session text, number bigint, recorded_at bigint, role text, content text, name text,
    tool_calls text, tool_call_id text, is_error integer, metadata text, origin text, idempotency_key text,
    trace_parent text, said_at bigint, tags text, seal text
);

-- name: find_keys
-- The messages of a space that have one of these idempotency keys.
SELECT m.idempotency_key, m.session_id, s.conversation_id, m.number, m.role, m.content
FROM messages m JOIN sessions s ON s.space_id = m.space_id AND s.id = m.session_id
WHERE m.space_id = :space AND m.idempotency_key in_list(:keys);

-- name: read_messages
-- Messages of a session after a number, in order; without retracted ones, unless all are requested.
SELECT session_id, number, role, content, name, tool_calls, tool_call_id, is_error, metadata, origin,
       idempotency_key, trace_parent, said_at, recorded_at, tags, retracted_at
FROM messages WHERE space_id = :space AND session_id = :session AND number > :after
  /*given kept*/ AND retracted_at IS NULL /*end*/ /*only(message messages)*/
ORDER BY number LIMIT :limit;

-- name: read_last_messages
-- The newest messages of a session after a number, newest first, without retracted ones.
SELECT session_id, number, role, content, name, tool_calls, tool_call_id, is_error, metadata, origin,
       idempotency_key, trace_parent, said_at, recorded_at, tags, retracted_at
FROM messages WHERE space_id = :space AND session_id = :session AND number > :after AND retracted_at IS NULL
  /*only(message messages)*/
ORDER BY number DESC LIMIT :limit;

-- name: count_since
-- The number of messages of a session after a number.
SELECT count(*) AS count FROM messages WHERE space_id = :space AND session_id = :session AND number > :after;

-- name: max_number
-- The number of the last message of a session.
SELECT max(number) AS number FROM messages WHERE space_id = :space AND session_id = :session;

-- name: count_conversation
-- The number of messages of a conversation across its sessions.
SELECT count(*) AS count FROM messages m JOIN sessions s ON s.space_id = m.space_id AND s.id = m.session_id
WHERE m.space_id = :space AND s.conversation_id = :conversation AND m.retracted_at IS NULL;

-- name: retract_message
-- Retract a message, unless it was retracted by a time.
UPDATE messages SET retracted_at = :at
WHERE space_id = :space AND session_id = :session AND number = :number AND (retracted_at IS NULL OR retracted_at > :by);

-- name: find_message
-- Whether a message exists.
SELECT retracted_at FROM messages WHERE space_id = :space AND session_id = :session AND number = :number;

-- name: forget_messages
-- Remove every message of some sessions.
DELETE FROM messages WHERE space_id = :space AND session_id in_list(:sessions);

-- name: forget_some_messages
-- Remove some messages of a session; their numbers are not reused.
DELETE FROM messages WHERE space_id = :space AND session_id = :session AND number in_list(:numbers);

-- name: list_filled_sessions
-- The sessions of a conversation that have messages, the newest first.
SELECT s.id FROM sessions s WHERE s.space_id = :space AND s.conversation_id = :conversation
  AND EXISTS (SELECT 1 FROM messages m WHERE m.space_id = :space AND m.session_id = s.id)
ORDER BY s.ordinal DESC;
