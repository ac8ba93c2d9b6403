-- name: list_versions
-- Every migration this database has had.
SELECT version, name, applied_at FROM schema_version ORDER BY version;

-- name: record_version
-- Remember that a migration was applied.
INSERT INTO schema_version (version, name, applied_at) VALUES (:version, :name, :now);

-- name: describe_role (postgres)
-- Say whether the connected role is above row-level security.
SELECT rolname AS name, rolsuper OR rolbypassrls AS unbound FROM pg_roles WHERE rolname = current_user;

-- name: list_unguarded_tables (postgres)
-- Tables keyed by space on which row-level security is not forced.
SELECT c.relname AS name
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attname = 'space_id' AND c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity) AND NOT (c.relname = ANY(:shared))
ORDER BY c.relname;
