-- Each migration is recorded with the checksum of its text, so that one that was altered afterwards is noticed. And the
-- version has a row of its own, which every transaction that writes reads first.
ALTER TABLE schema_version ADD COLUMN checksum TEXT NOT NULL DEFAULT '';

CREATE TABLE schema_now (
    version INTEGER NOT NULL
);
