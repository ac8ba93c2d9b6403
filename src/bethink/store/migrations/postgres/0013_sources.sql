-- A source is written down once for all the versions in a row that rest on it: from `version` to `last_version`, or,
-- where that is NULL, to the newest there is.
ALTER TABLE document_sources ADD COLUMN last_version bigint;
ALTER TABLE document_sources NO FORCE ROW LEVEL SECURITY;
ALTER TABLE documents NO FORCE ROW LEVEL SECURITY;
UPDATE document_sources SET last_version = version WHERE version < (
    SELECT max(d.version) FROM documents d
    WHERE d.space_id = document_sources.space_id AND d.id = document_sources.document_id
);
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
ALTER TABLE document_sources FORCE ROW LEVEL SECURITY;

-- When what a session memory tells was said; what was imported is older than the day it was stored.
ALTER TABLE session_memories ADD COLUMN said_from bigint;
ALTER TABLE session_memories ADD COLUMN said_until bigint;
ALTER TABLE session_memories NO FORCE ROW LEVEL SECURITY;
ALTER TABLE messages NO FORCE ROW LEVEL SECURITY;
UPDATE session_memories SET (said_from, said_until) = (
    SELECT min(m.said_at), max(m.said_at) FROM messages m
    WHERE m.space_id = session_memories.space_id AND m.session_id = session_memories.session_id
      AND m.number <= session_memories.until_number
      AND m.said_at BETWEEN -62135596800000000 AND 253402300799999999
);
ALTER TABLE messages FORCE ROW LEVEL SECURITY;
ALTER TABLE session_memories FORCE ROW LEVEL SECURITY;
