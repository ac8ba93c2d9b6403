-- The access record: who did what to which memories. Ids and names of verbs, never a text. It outlives what it names:
-- a space that is forgotten stays in it, so it refers to no other table. refs: a JSON list;
-- it stands behind the id, so that a random id and a word never make up a piece of what was forgotten.
CREATE TABLE access_log (
    space_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    refs TEXT NOT NULL,
    door TEXT NOT NULL,
    key_prefix TEXT NOT NULL,
    person TEXT NOT NULL,
    verb TEXT NOT NULL,
    PRIMARY KEY (space_id, at, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX access_log_newest ON access_log (at, id);

CREATE TRIGGER access_log_bu BEFORE UPDATE ON access_log BEGIN
    SELECT RAISE(ABORT, 'the access record is only added to');
END;
