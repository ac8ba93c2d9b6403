-- The conversation whose text a thread holds: a fork keeps it when what it was forked from is gone.
ALTER TABLE threads ADD COLUMN conversation_id text COLLATE "C";

-- For what follows the owner sees every space once.
ALTER TABLE threads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE chunks NO FORCE ROW LEVEL SECURITY;

UPDATE threads SET conversation_id = (
    SELECT s.conversation_id FROM sessions s WHERE s.space_id = threads.space_id AND s.id = threads.session_id
) WHERE session_id IS NOT NULL;

-- Forks made before this: by a message that one of their chunks was made of, even if its source is gone.
UPDATE threads SET conversation_id = (
    SELECT s.conversation_id
    FROM chunks c JOIN sessions s ON s.space_id = c.space_id AND s.id = c.custom ->> 'session_id'
    WHERE c.space_id = threads.space_id AND c.thread_id = threads.id LIMIT 1
) WHERE forked_from IS NOT NULL;

-- The rest of them: as what they were forked from, if that is there and not a later thread by the same name.
WITH RECURSIVE origin (space_id, id, created_at, conversation_id) AS (
    SELECT space_id, id, created_at, conversation_id FROM threads WHERE conversation_id IS NOT NULL
    UNION
    SELECT f.space_id, f.id, f.created_at, o.conversation_id
    FROM threads f JOIN origin o ON o.space_id = f.space_id AND o.id = f.forked_from AND o.created_at <= f.created_at
    WHERE f.conversation_id IS NULL
)
UPDATE threads SET conversation_id = (
    SELECT o.conversation_id FROM origin o WHERE o.space_id = threads.space_id AND o.id = threads.id LIMIT 1
) WHERE forked_from IS NOT NULL AND conversation_id IS NULL;

ALTER TABLE chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
ALTER TABLE threads FORCE ROW LEVEL SECURITY;

-- Why an event was set aside; one that was waits no longer.
ALTER TABLE events ADD COLUMN failed text;
DROP INDEX events_queue;
CREATE INDEX events_queue ON events (space_id, thread_id, urgent DESC, number)
WHERE applied IS NULL AND failed IS NULL;
