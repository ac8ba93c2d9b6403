CREATE TABLE documents (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint,
    parent_id text COLLATE "C" NOT NULL,
    slug text COLLATE "C" NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    body text NOT NULL,
    created_at bigint NOT NULL,
    author_kind text NOT NULL,
    author_id text NOT NULL,
    reason text NOT NULL,
    token bigint,
    run text COLLATE "C" NOT NULL,
    closed_run text COLLATE "C" NOT NULL DEFAULT '',
    origin text NOT NULL,
    redacted integer NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1)),
    words tsvector GENERATED ALWAYS AS (to_tsvector('english', title || ' ' || description || ' ' || body)) STORED,
    PRIMARY KEY (space_id, id, version)
);

-- One current version of a document, and one document of a name in a place. The top is the empty parent.
CREATE UNIQUE INDEX documents_current ON documents (space_id, id) WHERE valid_to IS NULL;
CREATE UNIQUE INDEX documents_place ON documents (space_id, parent_id, slug) WHERE valid_to IS NULL;
CREATE INDEX documents_places ON documents (space_id, parent_id, slug, valid_from);
CREATE INDEX documents_run ON documents (space_id, run) WHERE run <> '';
CREATE INDEX documents_closed ON documents (space_id, closed_run) WHERE closed_run <> '';

-- References belong to one version of their source and point at a document, not at a version of it.
CREATE TABLE document_references (
    space_id text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    source_version bigint NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('parent', 'link', 'body')),
    target_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, source_id, source_version, kind, target_id),
    FOREIGN KEY (space_id, source_id, source_version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
);

CREATE INDEX document_references_target ON document_references (space_id, target_id, kind);

CREATE TABLE document_sources (
    space_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (space_id, document_id, version, kind, source_id, number),
    FOREIGN KEY (space_id, document_id, version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
);

CREATE INDEX document_sources_source ON document_sources (space_id, kind, source_id, number);

CREATE INDEX documents_words ON documents USING gin (words);

-- What a consolidation selects by, and what the last one that succeeded has seen.
ALTER TABLE session_memories ADD COLUMN usage_count bigint NOT NULL DEFAULT 0;
ALTER TABLE session_memories ADD COLUMN last_usage bigint;
ALTER TABLE session_memories ADD COLUMN selected integer NOT NULL DEFAULT 0;
ALTER TABLE session_memories ADD COLUMN selected_source_updated_at bigint;
CREATE INDEX session_memories_selected ON session_memories (space_id, session_id) WHERE selected = 1;

-- What one run changed in the tree, or would change once it is approved.
CREATE TABLE change_sets (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    run text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    status text NOT NULL CHECK (status IN ('held', 'applied', 'rejected', 'superseded', 'undone')),
    changes json NOT NULL,
    selection json NOT NULL,
    created_at bigint NOT NULL,
    settled_at bigint,
    PRIMARY KEY (space_id, run)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['documents', 'document_references', 'document_sources', 'change_sets'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;
