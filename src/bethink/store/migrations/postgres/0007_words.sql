-- Words are cut as on SQLite: an address or a path is its parts, and an accent does not matter.
CREATE FUNCTION folded(said text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN translate(
    said,
    '@/.:-_\ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿ',
    '       AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyy'
);

-- What is longer than a tsvector can hold is cut.
CREATE FUNCTION words_of(said text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_tsvector('english'::regconfig, folded(left(said, 100000)));

-- Row-level security lets no index of words be used: @@ is not leakproof. A search reads the rows of its space.
DROP INDEX facts_words;
DROP INDEX documents_words;
ALTER TABLE facts DROP COLUMN words;
ALTER TABLE documents DROP COLUMN words;

ALTER TABLE messages ADD COLUMN words tsvector
    GENERATED ALWAYS AS (words_of(coalesce(name, '') || ' ' || content)) STORED;
ALTER TABLE facts ADD COLUMN words tsvector GENERATED ALWAYS AS (words_of(content)) STORED;
ALTER TABLE session_memories ADD COLUMN words tsvector
    GENERATED ALWAYS AS (words_of(summary || ' ' || raw_memory)) STORED;
ALTER TABLE documents ADD COLUMN words tsvector
    GENERATED ALWAYS AS (words_of(title || ' ' || description || ' ' || body)) STORED;

CREATE INDEX messages_names ON messages (space_id, name) WHERE name IS NOT NULL;
