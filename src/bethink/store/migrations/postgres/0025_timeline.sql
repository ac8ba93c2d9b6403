-- The timeline: what happened to a space, by time.
CREATE INDEX messages_recorded ON messages (space_id, recorded_at, session_id, number);
CREATE INDEX documents_written ON documents (space_id, valid_from, id, version);
CREATE INDEX ledger_shown ON ledger (space_id, shown_at, id);
CREATE INDEX changes_forgotten ON changes (space_id, at, ref, number)
WHERE kind IN ('session.forgotten', 'fact.forgotten', 'document.forgotten', 'space.forgotten');
