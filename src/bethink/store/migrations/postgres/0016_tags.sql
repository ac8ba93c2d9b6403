-- Tags on messages, and tags and metadata on sessions and documents: what a search can be narrowed to.
ALTER TABLE messages ADD COLUMN tags json NOT NULL DEFAULT '[]';
ALTER TABLE sessions ADD COLUMN tags json NOT NULL DEFAULT '[]';
ALTER TABLE sessions ADD COLUMN metadata json NOT NULL DEFAULT '{}';
ALTER TABLE documents ADD COLUMN tags json NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN metadata json NOT NULL DEFAULT '{}';
