CREATE TABLE facts (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    content text NOT NULL,
    source text COLLATE "C" NOT NULL,
    tags json NOT NULL,
    metadata json NOT NULL,
    created_at bigint NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    PRIMARY KEY (space_id, id)
) PARTITION BY HASH (space_id);

CREATE INDEX facts_words ON facts USING gin (words);

-- As with messages, a partition is read through its parent only.
DO $$
BEGIN
    FOR part IN 0..63 LOOP
        EXECUTE format(
            'CREATE TABLE facts_%s PARTITION OF facts FOR VALUES WITH (MODULUS 64, REMAINDER %s)',
            lpad(part::text, 2, '0'), part
        );
        EXECUTE format('ALTER TABLE facts_%s ENABLE ROW LEVEL SECURITY', lpad(part::text, 2, '0'));
        EXECUTE format('ALTER TABLE facts_%s FORCE ROW LEVEL SECURITY', lpad(part::text, 2, '0'));
    END LOOP;
END
$$;

CREATE POLICY own_space ON facts USING (space_id = current_setting('bethink.space', true));
ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
