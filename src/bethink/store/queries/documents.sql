-- columns: document
id, version, valid_from, valid_to, parent_id, slug, title, description, body, created_at, author_kind,
author_id, reason, token, run, origin, redacted, tags, metadata;

-- columns: entry
id, version, valid_from, valid_to, parent_id, slug, title, description, created_at, author_kind, author_id, reason, token,
run, origin, redacted, tags, metadata;

-- name: insert_document
-- Write a version of a document.
INSERT INTO documents (space_id, id, version, valid_from, parent_id, slug, title, description, body, created_at,
                       author_kind, author_id, reason, token, run, origin, tags, metadata)
VALUES (:space, :id, :version, :at, :parent, :slug, :title, :description, :body, :created_at,
        :author_kind, :author_id, :reason, :token, :run, :origin, :tags, :metadata);

-- name: record_document_operation
-- Record that a write was carried out.
INSERT INTO document_operations (space_id, key, kind, document_id, version, at)
VALUES (:space, :key, :kind, :id, :version, :now);

-- name: find_document_operation
-- The write that was carried out under an idempotency key.
SELECT kind, document_id, version FROM document_operations WHERE space_id = :space AND key = :key;

-- name: list_document_operations
-- The idempotency keys of writes to a document.
SELECT key FROM document_operations WHERE space_id = :space AND document_id = :id ORDER BY key;

-- name: delete_document_operations
-- Delete the idempotency keys of writes to a document.
DELETE FROM document_operations WHERE space_id = :space AND document_id = :id;

-- name: close_document
-- End the current version, if it is the one that was read.
UPDATE documents SET valid_to = :at, closed_run = :run
WHERE space_id = :space AND id = :id AND version = :version AND valid_to IS NULL;

-- name: last_document_version
-- The newest version of a document, current or not.
SELECT version, valid_from, valid_to, created_at FROM documents WHERE space_id = :space AND id = :id
ORDER BY version DESC LIMIT 1;

-- name: find_document
-- A document as it was at a time.
SELECT document_columns() FROM documents
WHERE space_id = :space AND id = :id AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at);

-- name: find_documents
-- Some documents as they are now.
SELECT document_columns() FROM documents WHERE space_id = :space AND id in_list(:ids) AND valid_to IS NULL;

-- name: find_document_in
-- The document with a slug below a parent, as it was at a time.
SELECT document_columns() FROM documents
WHERE space_id = :space AND parent_id = :parent AND slug = :slug
  AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at);

-- name: list_children
-- The children of a document at a time, by name.
SELECT document_columns() FROM documents WHERE space_id = :space AND parent_id = :parent
  AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)
ORDER BY slug;

-- name: list_documents
-- Every document of a space as it was at a time, by id.
SELECT document_columns() FROM documents
WHERE space_id = :space AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)
ORDER BY id;

-- name: list_document_entries
-- The same without their texts.
SELECT entry_columns() FROM documents
WHERE space_id = :space AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)
ORDER BY id;

-- name: document_versions
-- Every version of a document, oldest first.
SELECT document_columns() FROM documents
WHERE space_id = :space AND id = :id ORDER BY version;

-- name: run_documents
-- Every version that one run wrote, in the order of the documents.
SELECT document_columns() FROM documents
WHERE space_id = :space AND run = :run AND run <> '' ORDER BY id, version;

-- name: deleted_documents
-- The last versions of documents that one run deleted.
SELECT document_columns() FROM documents d
WHERE d.space_id = :space AND d.closed_run = :run AND d.closed_run <> '' AND NOT EXISTS (
    SELECT 1 FROM documents later WHERE later.space_id = d.space_id AND later.id = d.id AND later.version > d.version
)
ORDER BY id;

-- name: insert_references
-- Add references of one kind from a version to documents.
INSERT INTO document_references (space_id, source_id, source_version, kind, target_id)
SELECT :space, :source, :version, :kind, pairs.id FROM pairs(:targets, :order);

-- name: references_of_versions
-- The references of some versions, by kind and name.
SELECT r.source_id AS id, r.source_version AS version, r.kind, r.target_id
FROM pairs(:ids, :numbers) JOIN document_references r
  ON r.space_id = :space AND r.source_id = pairs.id AND r.source_version = pairs.number
ORDER BY r.kind, r.target_id;

-- name: current_referrers
-- Current documents that refer to a document, with the kind of reference.
SELECT r.source_id, r.kind FROM document_references r
JOIN documents d ON d.space_id = r.space_id AND d.id = r.source_id AND d.version = r.source_version
WHERE r.space_id = :space AND r.target_id = :target AND d.valid_to IS NULL ORDER BY r.source_id, r.kind;

-- name: insert_document_sources
-- Add sources of one kind to a version, and to those after it until they are ended.
INSERT INTO document_sources (space_id, document_id, version, kind, source_id, number)
SELECT :space, :document, :version, :kind, pairs.id, pairs.number FROM pairs(:ids, :numbers) WHERE 1 = 1
ON CONFLICT (space_id, document_id, version, kind, source_id, number) DO NOTHING;

-- name: end_document_sources
-- Record the last version that is based on sources of one kind.
UPDATE document_sources SET last_version = :version
WHERE space_id = :space AND document_id = :document AND kind = :kind AND last_version IS NULL
  AND (source_id, number) IN (SELECT pairs.id, pairs.number FROM pairs(:ids, :numbers));

-- name: list_document_sources
-- The sources of a version.
SELECT kind, source_id, number FROM document_sources
WHERE space_id = :space AND document_id = :document AND version <= :version
  AND (last_version IS NULL OR last_version >= :version)
ORDER BY kind, source_id, number;

-- name: documents_of_versions
-- The texts of some versions.
SELECT d.id, d.version, d.slug, d.title, d.description, d.body, d.author_kind, d.valid_from
FROM pairs(:ids, :numbers) JOIN documents d ON d.space_id = :space AND d.id = pairs.id AND d.version = pairs.number;

-- name: sources_of_versions
-- The sources of some versions.
SELECT s.document_id AS id, pairs.number AS version, s.kind, s.source_id, s.number
FROM pairs(:ids, :numbers) JOIN document_sources s
  ON s.space_id = :space AND s.document_id = pairs.id AND s.version <= pairs.number
     AND (s.last_version IS NULL OR s.last_version >= pairs.number)
ORDER BY s.kind, s.source_id, s.number;

-- name: thin_document
-- Remove the text of versions that jobs wrote, up to one; their rows stay.
UPDATE documents SET title = '[redacted]', description = '', body = '', reason = 'its text is no longer kept',
    redacted = 1, tags = '[]', metadata = '{}'
WHERE space_id = :space AND id = :id AND version <= :version AND valid_to IS NOT NULL AND author_kind = 'job'
  AND redacted = 0;

-- name: redact_document
-- Remove the text of a past version, or also of the current one; its row stays.
UPDATE documents SET title = :mark, description = '', body = '', reason = '', redacted = 1, tags = '[]', metadata = '{}'
WHERE space_id = :space AND id = :id AND version = :version AND (valid_to IS NOT NULL OR :current = 1);

-- name: runs_of_document
-- The runs that wrote or ended a version of a document.
SELECT run FROM documents WHERE space_id = :space AND id = :id AND run <> ''
UNION SELECT closed_run FROM documents WHERE space_id = :space AND id = :id AND closed_run <> '';

-- name: redact_versions
-- Remove the text of every version of a document.
UPDATE documents SET title = '[redacted]', description = '', body = '', reason = '', redacted = 1, tags = '[]', metadata = '{}'
WHERE space_id = :space AND id = :id AND redacted = 0;

-- name: redact_resting_on
-- Remove the text of every version that is based on one of these sources.
UPDATE documents SET title = '[redacted]', description = '', body = '', reason = '', redacted = 1, tags = '[]', metadata = '{}'
WHERE space_id = :space AND redacted = 0 AND EXISTS (
    SELECT 1 FROM document_sources s WHERE s.space_id = documents.space_id AND s.document_id = documents.id
      AND s.version <= documents.version AND (s.last_version IS NULL OR s.last_version >= documents.version)
      AND s.source_id in_list(:ids)
) RETURNING id;

-- name: document_versions_after
-- For some versions of documents, the next version that existed at a time.
SELECT pairs.id, pairs.number, min(d.version) AS following FROM pairs(:ids, :numbers)
JOIN documents d ON d.space_id = :space AND d.id = pairs.id AND d.version > pairs.number AND d.valid_from <= :at
GROUP BY pairs.id, pairs.number;

-- name: search_documents
-- Some documents with their terms, as they were at a time.
SELECT t.terms_packed AS terms, t.hits, t.doc, document_columns(d)
FROM (SELECT doc, id, number, packed(terms) AS terms_packed, hits FROM terms WHERE doc in_list(:docs)) t
JOIN documents d ON d.space_id = :space AND d.id = t.id AND d.version = t.number
WHERE d.valid_from <= :written AND (d.valid_to IS NULL OR d.valid_to > :written)
ORDER BY d.id;

-- name: any_derived_document
-- Whether a space has a document that no person wrote.
SELECT id FROM documents WHERE space_id = :space AND author_kind <> 'user' AND redacted = 0 LIMIT 1;
