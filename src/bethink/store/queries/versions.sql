-- name: list_versions
-- Every migration that was applied to this database.
SELECT version, name, applied_at FROM schema_version ORDER BY version;

-- name: list_checksums
-- The checksums of applied migrations.
SELECT version, checksum FROM schema_version;

-- name: record_version
-- Record that a migration was applied.
INSERT INTO schema_version (version, name, applied_at, checksum) VALUES (:version, :name, :now, :checksum);

-- name: describe_role (postgres)
-- Whether the connected role can bypass row-level security.
SELECT rolname AS name, rolsuper OR rolbypassrls AS unbound FROM pg_roles WHERE rolname = current_user;

-- name: list_unguarded_tables (postgres)
-- Tables of spaces on which row-level security is not forced, or has a policy other than Bethink's.
SELECT c.relname AS name FROM pg_class c
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
  AND NOT (c.relname = ANY(:shared))
  AND (c.relname = 'spaces' OR EXISTS (
      SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'space_id'))
  AND (NOT (c.relrowsecurity AND c.relforcerowsecurity) OR EXISTS (
      SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid
        AND (p.polwithcheck IS NOT NULL OR pg_get_expr(p.polqual, p.polrelid) IS DISTINCT FROM
             CASE c.relname WHEN 'spaces' THEN '(id = current_setting(''bethink.space''::text, true))'
             ELSE '(space_id = current_setting(''bethink.space''::text, true))' END)))
ORDER BY c.relname;

-- name: describe_roles (postgres)
-- A role, empty for the connected one: whether it bypasses row-level security (null if missing), and owns the tables.
SELECT COALESCE(NULLIF(:role, ''), current_user) AS name, current_schema() AS schema,
    (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles r
     WHERE r.rolname = COALESCE(NULLIF(:role, ''), current_user)) AS unbound,
    EXISTS (SELECT 1 FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
            WHERE c.oid = to_regclass('schema_version')
              AND r.rolname = COALESCE(NULLIF(:role, ''), current_user)) AS owns;

-- name: find_log_position (postgres)
-- The log that this server writes and its position, including commits that did not wait for the disk.
SELECT pg_current_wal_insert_lsn()::text AS position, system_identifier AS cluster,
    CAST(('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32) AS integer) AS timeline
FROM pg_control_system();

-- name: describe_standby (postgres)
-- The log that this server replays, by its last checkpoint, and its position; null if it is not a standby.
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text END AS position,
    s.system_identifier AS cluster, c.timeline_id AS timeline
FROM pg_control_system() s, pg_control_checkpoint() c;

-- name: describe_server (postgres)
-- Data for 'bethink doctor --postgres': the server, its locale, and the timeouts of this transaction.
SELECT current_setting('server_version_num') AS version, d.datcollate AS locale,
    current_setting('server_encoding') AS encoding, (SELECT count(*) FROM messages) AS seen,
    current_setting('statement_timeout') AS statement_timeout, current_setting('lock_timeout') AS lock_timeout,
    current_setting('idle_in_transaction_session_timeout') AS idle_timeout
FROM pg_database d WHERE d.datname = current_database();
