-- columns: thread
space_id, id, session_id, mode, state_number, applied, last_event, last_position, total_tokens,
compressible_tokens, pending_compaction, pending_truncation, step_id, step_token, step_until, created_at,
forked_from, forked_at;

-- name: insert_thread
-- Create a thread.
INSERT INTO threads (space_id, id, session_id, conversation_id, mode, forked_from, forked_at, created_at)
VALUES (:space, :id, :session, :conversation, :mode, :forked_from, :forked_at, :now)
ON CONFLICT (space_id, id) DO NOTHING;

-- name: find_thread
-- One thread.
SELECT thread_columns() FROM threads WHERE space_id = :space AND id = :id;

-- name: list_threads
-- The threads of a space, ordered by id.
SELECT thread_columns() FROM threads
WHERE space_id = :space AND id > :after ORDER BY id LIMIT :limit;

-- name: lock_thread
-- One thread, locked until the transaction ends.
SELECT thread_columns() FROM threads WHERE space_id = :space AND id = :id /*for_update*/;

-- name: conversation_of_thread
-- The conversation whose text a thread has.
SELECT conversation_id FROM threads WHERE space_id = :space AND id = :id;

-- name: set_mode
-- Change how a thread processes its events.
UPDATE threads SET mode = :mode WHERE space_id = :space AND id = :id;

-- name: take_event_numbers
-- Reserve numbers in the queue of a thread under its row lock.
UPDATE threads SET last_event = last_event + :count WHERE space_id = :space AND id = :id RETURNING last_event;

-- name: insert_event
-- Queue an event.
INSERT INTO events (space_id, thread_id, number, id, type, payload, strategy, urgent, queued_at)
VALUES (:space, :thread, :number, :id, :type, :payload, :strategy, :urgent, :now);

-- name: list_queue
-- The waiting events, in the order in which they will be processed.
SELECT number, id, type, payload, strategy, queued_at FROM events
WHERE space_id = :space AND thread_id = :thread AND applied IS NULL AND failed IS NULL
ORDER BY urgent DESC, number LIMIT :limit;

-- name: count_queue
-- The number of waiting events.
SELECT count(*) AS count FROM events
WHERE space_id = :space AND thread_id = :thread AND applied IS NULL AND failed IS NULL;

-- name: drop_event
-- Remove an event from the queue without processing it.
DELETE FROM events
WHERE space_id = :space AND thread_id = :thread AND number = :number AND applied IS NULL AND failed IS NULL;

-- name: drop_queue
-- Remove every event from the queue.
DELETE FROM events WHERE space_id = :space AND thread_id = :thread AND applied IS NULL AND failed IS NULL;

-- name: mark_applied
-- Record that an event was processed, with its sequence number.
UPDATE events SET applied = :applied
WHERE space_id = :space AND thread_id = :thread AND number = :number AND applied IS NULL;

-- name: mark_failed
-- Set aside an event that could not be processed, with the reason.
UPDATE events SET failed = :reason
WHERE space_id = :space AND thread_id = :thread AND number = :number AND applied IS NULL AND failed IS NULL;

-- name: list_failed
-- The events that were set aside, with the reasons.
SELECT number, id, type, payload, strategy, queued_at, failed FROM events
WHERE space_id = :space AND thread_id = :thread AND failed IS NOT NULL ORDER BY number;

-- name: failure_of_event
-- Why an event was set aside, if it was.
SELECT failed FROM events WHERE space_id = :space AND thread_id = :thread AND number = :number;

-- name: list_applied
-- The processed events of a thread, in order.
SELECT number, id, type, payload, strategy, queued_at FROM events
WHERE space_id = :space AND thread_id = :thread AND applied > :after AND applied <= :upto
ORDER BY applied LIMIT :limit;

-- name: take_step
-- Acquire the step lock if it is free or its lease has expired; the token grows with every holder.
UPDATE threads SET step_id = :step, step_token = step_token + 1, step_until = :until
WHERE space_id = :space AND id = :id AND (step_id IS NULL OR step_until < :now)
RETURNING step_token;

-- name: drop_step
-- Release the step lock.
UPDATE threads SET step_id = NULL, step_until = NULL WHERE space_id = :space AND id = :id AND step_id = :step;

-- name: advance_thread
-- Record the effect of an event on its thread.
UPDATE threads SET
    state_number = :state, applied = applied + 1, last_position = :position, total_tokens = :total,
    compressible_tokens = :compressible, pending_compaction = :compaction, pending_truncation = :truncation
WHERE space_id = :space AND id = :id;

-- name: furnish_thread
-- Set the last position and the tokens of a thread that does not start empty.
UPDATE threads SET last_position = :position, total_tokens = :total, compressible_tokens = :compressible
WHERE space_id = :space AND id = :id;

-- name: set_pending
-- Record whether a thread is to be compacted or truncated.
UPDATE threads SET pending_compaction = :compaction, pending_truncation = :truncation
WHERE space_id = :space AND id = :id;

-- name: move_thread
-- Move the thread of a session to another session, unless that has one.
UPDATE threads SET session_id = :session
WHERE space_id = :space AND session_id = :before
  AND NOT EXISTS (SELECT 1 FROM threads o WHERE o.space_id = :space AND o.session_id = :session);

-- name: free_session
-- Detach a thread that moved here from an earlier session, to make way for a new one.
UPDATE threads SET session_id = NULL
WHERE space_id = :space AND session_id = :session
  AND created_at < (SELECT s.created_at FROM sessions s WHERE s.space_id = :space AND s.id = :session);

-- name: drop_thread
-- Delete a thread and all its contents.
DELETE FROM threads WHERE space_id = :space AND id = :id;

-- name: forget_threads
-- Remove the threads of some sessions, and all others with text of their conversation.
DELETE FROM threads WHERE space_id = :space AND (
    session_id in_list(:sessions)
    OR conversation_id IN (SELECT conversation_id FROM sessions WHERE space_id = :space AND id in_list(:sessions))
) RETURNING id;

-- name: insert_chunk
-- Store a chunk; the same chunk stored again is the same row.
INSERT INTO chunks (space_id, thread_id, id, type, subtype, content, children, retention, mutable, priority,
                    parents, custom, tokens, created_at)
VALUES (:space, :thread, :id, :type, :subtype, :content, :children, :retention, :mutable, :priority,
        :parents, :custom, :tokens, :created_at)
ON CONFLICT (space_id, thread_id, id) DO NOTHING;

-- name: place_chunk
-- Put a chunk at a position from a state on.
INSERT INTO placements (space_id, thread_id, chunk_id, from_state, position)
VALUES (:space, :thread, :chunk, :state, :position)
ON CONFLICT (space_id, thread_id, chunk_id, from_state)
DO UPDATE SET to_state = NULL, position = excluded.position;

-- name: unplace_chunk
-- Remove a chunk from its position from a state on.
UPDATE placements SET to_state = :state
WHERE space_id = :space AND thread_id = :thread AND chunk_id = :chunk AND to_state IS NULL;

-- name: find_placed
-- A chunk of the current state, with its position.
SELECT c.id, c.type, c.subtype, c.content, c.children, c.retention, c.mutable, c.priority, c.parents, c.custom,
       c.tokens, c.created_at, p.position
FROM placements p JOIN chunks c ON c.space_id = p.space_id AND c.thread_id = p.thread_id AND c.id = p.chunk_id
WHERE p.space_id = :space AND p.thread_id = :thread AND p.chunk_id = :chunk AND p.to_state IS NULL;

-- name: list_placed
-- The chunks of the current state, in order.
SELECT c.id, c.type, c.subtype, c.content, c.children, c.retention, c.mutable, c.priority, c.parents, c.custom,
       c.tokens, c.created_at, p.position
FROM placements p JOIN chunks c ON c.space_id = p.space_id AND c.thread_id = p.thread_id AND c.id = p.chunk_id
WHERE p.space_id = :space AND p.thread_id = :thread AND p.to_state IS NULL
ORDER BY p.position;

-- name: list_placed_at
-- The chunks of an earlier state, in order.
SELECT c.id, c.type, c.subtype, c.content, c.children, c.retention, c.mutable, c.priority, c.parents, c.custom,
       c.tokens, c.created_at, p.position
FROM placements p JOIN chunks c ON c.space_id = p.space_id AND c.thread_id = p.thread_id AND c.id = p.chunk_id
WHERE p.space_id = :space AND p.thread_id = :thread
  AND p.from_state <= :state AND (p.to_state IS NULL OR p.to_state > :state)
ORDER BY p.position;

-- name: insert_state
-- Record a state and what created it.
INSERT INTO states (space_id, thread_id, number, id, previous, source, event_id, event_type, step_id, operations,
                    total_tokens, recorded_at)
VALUES (:space, :thread, :number, :id, :previous, :source, :event_id, :event_type, :step, :operations,
        :tokens, :now);

-- name: list_states
-- The states of a thread, in order.
SELECT thread_id, number, id, previous, source, event_id, event_type, step_id, operations, total_tokens, recorded_at
FROM states WHERE space_id = :space AND thread_id = :thread AND number >= :from ORDER BY number LIMIT :limit;
