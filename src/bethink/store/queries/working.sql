-- columns: thread
space_id, id, session_id, mode, state_number, applied, last_event, last_position, total_tokens,
compressible_tokens, pending_compaction, pending_truncation, step_id, step_token, step_until, created_at,
forked_from, forked_at;

-- name: insert_thread
-- Open a thread.
INSERT INTO threads (space_id, id, session_id, conversation_id, mode, forked_from, forked_at, created_at)
VALUES (:space, :id, :session, :conversation, :mode, :forked_from, :forked_at, :now)
ON CONFLICT (space_id, id) DO NOTHING;

-- name: find_thread
-- One thread.
SELECT thread_columns() FROM threads WHERE space_id = :space AND id = :id;

-- name: list_threads
-- The threads of a space by their ids.
SELECT thread_columns() FROM threads
WHERE space_id = :space AND id > :after ORDER BY id LIMIT :limit;

-- name: lock_thread
-- One thread, held until the transaction ends.
SELECT thread_columns() FROM threads WHERE space_id = :space AND id = :id /*for_update*/;

-- name: conversation_of_thread
-- The conversation whose text a thread holds.
SELECT conversation_id FROM threads WHERE space_id = :space AND id = :id;

-- name: set_mode
-- Change how a thread takes its events.
UPDATE threads SET mode = :mode WHERE space_id = :space AND id = :id;

-- name: take_event_numbers
-- Reserve places in a thread's queue under its row lock.
UPDATE threads SET last_event = last_event + :count WHERE space_id = :space AND id = :id RETURNING last_event;

-- name: insert_event
-- Queue an event.
INSERT INTO events (space_id, thread_id, number, id, type, payload, strategy, urgent, queued_at)
VALUES (:space, :thread, :number, :id, :type, :payload, :strategy, :urgent, :now);

-- name: list_queue
-- The events that wait, in the order in which they will be processed.
SELECT number, id, type, payload, strategy, queued_at FROM events
WHERE space_id = :space AND thread_id = :thread AND applied IS NULL AND failed IS NULL
ORDER BY urgent DESC, number LIMIT :limit;

-- name: count_queue
-- How many events wait.
SELECT count(*) AS count FROM events
WHERE space_id = :space AND thread_id = :thread AND applied IS NULL AND failed IS NULL;

-- name: drop_event
-- Take an event out of the queue without processing it.
DELETE FROM events
WHERE space_id = :space AND thread_id = :thread AND number = :number AND applied IS NULL AND failed IS NULL;

-- name: drop_queue
-- Take every event out of the queue.
DELETE FROM events WHERE space_id = :space AND thread_id = :thread AND applied IS NULL AND failed IS NULL;

-- name: mark_applied
-- Record that an event was processed, and as which.
UPDATE events SET applied = :applied
WHERE space_id = :space AND thread_id = :thread AND number = :number AND applied IS NULL;

-- name: mark_failed
-- Set an event aside that could not be processed, with the reason.
UPDATE events SET failed = :reason
WHERE space_id = :space AND thread_id = :thread AND number = :number AND applied IS NULL AND failed IS NULL;

-- name: list_failed
-- The events that were set aside, and why.
SELECT number, id, type, payload, strategy, queued_at, failed FROM events
WHERE space_id = :space AND thread_id = :thread AND failed IS NOT NULL ORDER BY number;

-- name: failure_of_event
-- Why an event was set aside, if it was.
SELECT failed FROM events WHERE space_id = :space AND thread_id = :thread AND number = :number;

-- name: list_applied
-- The events of a thread in the order in which they were processed.
SELECT number, id, type, payload, strategy, queued_at FROM events
WHERE space_id = :space AND thread_id = :thread AND applied > :after AND applied <= :upto
ORDER BY applied LIMIT :limit;

-- name: take_step
-- Take the step lock if it is free or its lease has run out; the token grows with every holder.
UPDATE threads SET step_id = :step, step_token = step_token + 1, step_until = :until
WHERE space_id = :space AND id = :id AND (step_id IS NULL OR step_until < :now)
RETURNING step_token;

-- name: drop_step
-- Give the step lock back.
UPDATE threads SET step_id = NULL, step_until = NULL WHERE space_id = :space AND id = :id AND step_id = :step;

-- name: advance_thread
-- Record what processing an event did to its thread.
UPDATE threads SET
    state_number = :state, applied = applied + 1, last_position = :position, total_tokens = :total,
    compressible_tokens = :compressible, pending_compaction = :compaction, pending_truncation = :truncation
WHERE space_id = :space AND id = :id;

-- name: furnish_thread
-- Set where a thread stands that was not empty at first.
UPDATE threads SET last_position = :position, total_tokens = :total, compressible_tokens = :compressible
WHERE space_id = :space AND id = :id;

-- name: set_pending
-- Note or clear what is to be done about a thread's length.
UPDATE threads SET pending_compaction = :compaction, pending_truncation = :truncation
WHERE space_id = :space AND id = :id;

-- name: move_thread
-- Let the thread of a session go on with another, unless that has one.
UPDATE threads SET session_id = :session
WHERE space_id = :space AND session_id = :before
  AND NOT EXISTS (SELECT 1 FROM threads o WHERE o.space_id = :space AND o.session_id = :session);

-- name: free_session
-- Let a thread that came along from an earlier session give way to one that is opened for this.
UPDATE threads SET session_id = NULL
WHERE space_id = :space AND session_id = :session
  AND created_at < (SELECT s.created_at FROM sessions s WHERE s.space_id = :space AND s.id = :session);

-- name: drop_thread
-- Remove a thread and all it holds.
DELETE FROM threads WHERE space_id = :space AND id = :id;

-- name: forget_threads
-- Remove the threads that work on some sessions, and all others that hold text of their conversation.
DELETE FROM threads WHERE space_id = :space AND (
    session_id in_list(:sessions)
    OR conversation_id IN (SELECT conversation_id FROM sessions WHERE space_id = :space AND id in_list(:sessions))
);

-- name: insert_chunk
-- Store a chunk; the same chunk made again is the same row.
INSERT INTO chunks (space_id, thread_id, id, type, subtype, content, children, retention, mutable, priority,
                    parents, custom, tokens, created_at)
VALUES (:space, :thread, :id, :type, :subtype, :content, :children, :retention, :mutable, :priority,
        :parents, :custom, :tokens, :created_at)
ON CONFLICT (space_id, thread_id, id) DO NOTHING;

-- name: place_chunk
-- Let a chunk lie at a position from a state on.
INSERT INTO placements (space_id, thread_id, chunk_id, from_state, position)
VALUES (:space, :thread, :chunk, :state, :position)
ON CONFLICT (space_id, thread_id, chunk_id, from_state)
DO UPDATE SET to_state = NULL, position = excluded.position;

-- name: unplace_chunk
-- Let a chunk lie there no longer, from a state on.
UPDATE placements SET to_state = :state
WHERE space_id = :space AND thread_id = :thread AND chunk_id = :chunk AND to_state IS NULL;

-- name: find_placed
-- A chunk that lies in the current state, with its position.
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
-- Record a state and what made it.
INSERT INTO states (space_id, thread_id, number, id, previous, source, event_id, event_type, step_id, operations,
                    total_tokens, recorded_at)
VALUES (:space, :thread, :number, :id, :previous, :source, :event_id, :event_type, :step, :operations,
        :tokens, :now);

-- name: list_states
-- The states of a thread, in order.
SELECT thread_id, number, id, previous, source, event_id, event_type, step_id, operations, total_tokens, recorded_at
FROM states WHERE space_id = :space AND thread_id = :thread AND number >= :from ORDER BY number LIMIT :limit;
