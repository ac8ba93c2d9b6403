-- name: outline_documents
-- The documents below one, by name and without their texts, each with the number of those below it.
SELECT entry_columns(d), (SELECT count(*) FROM (
    SELECT 1 FROM documents c WHERE c.space_id = d.space_id AND c.parent_id = d.id
      /*given at*/ AND c.valid_from <= :at AND (c.valid_to IS NULL OR c.valid_to > :at)
      /*else*/ AND c.valid_to IS NULL /*end*/
    LIMIT 1000
) AS below) AS children
FROM documents d WHERE d.space_id = :space AND d.parent_id = :parent AND d.slug > :after
  /*given at*/ AND d.valid_from <= :at AND (d.valid_to IS NULL OR d.valid_to > :at)
  /*else*/ AND d.valid_to IS NULL /*end*/
ORDER BY d.slug LIMIT :limit;

-- name: page_document_versions
-- The versions of a document before one, without their texts, the newest first.
SELECT entry_columns() FROM documents
WHERE space_id = :space AND id = :id AND version < :before ORDER BY version DESC LIMIT :limit;

-- name: document_version
-- One version of a document.
SELECT document_columns() FROM documents WHERE space_id = :space AND id = :id AND version = :version;

-- name: document_bodies
-- The texts of the versions of a document before one, the newest first.
SELECT version, body, redacted, author_kind, valid_from FROM documents
WHERE space_id = :space AND id = :id AND version < :before ORDER BY version DESC LIMIT :limit;

-- name: some_document_entries
-- Some versions of a document without their texts, the newest first.
SELECT entry_columns() FROM documents
WHERE space_id = :space AND id = :id AND version in_list(:versions) ORDER BY version DESC;

-- name: sources_begun
-- The sources that some versions of a document added.
SELECT version, kind, source_id, number FROM document_sources
WHERE space_id = :space AND document_id = :id AND version in_list(:versions) ORDER BY version, kind, source_id, number;
