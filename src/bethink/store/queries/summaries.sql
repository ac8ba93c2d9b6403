-- name: page_spaces
-- Spaces that ever had a job, by name. Each is found from the previous one, past all of its jobs. Failed jobs are read
-- in the order of their index, so that no other job is read.
WITH RECURSIVE names (name, place) AS (
    SELECT min(space_id), 1 FROM jobs WHERE space_id > :after AND space_id >= :prefix AND space_id < :beyond
    UNION ALL
    SELECT (SELECT min(n.space_id) FROM jobs n WHERE n.space_id > names.name AND n.space_id < :beyond), place + 1
    FROM names WHERE names.name IS NOT NULL AND place < :limit
)
SELECT name, (SELECT max(j.queued_at) FROM jobs j WHERE j.space_id = name) AS queued_at,
       (SELECT count(*) FROM (
            SELECT 1 FROM jobs f WHERE f.space_id = name AND f.status IN ('failed', 'abandoned')
            ORDER BY f.kind, f.key LIMIT 100
        ) AS failures) AS failed,
       (SELECT count(*) FROM (SELECT 1 FROM held h WHERE h.space_id = name LIMIT 100) AS waiting) AS held
FROM names WHERE name IS NOT NULL ORDER BY place;

-- name: summarize_space
-- The status of one space.
SELECT (SELECT max(j.queued_at) FROM jobs j WHERE j.space_id = :space) AS queued_at,
       (SELECT count(*) FROM (
            SELECT 1 FROM jobs f WHERE f.space_id = :space AND f.status IN ('failed', 'abandoned')
            ORDER BY f.kind, f.key LIMIT 100
        ) AS failures) AS failed,
       (SELECT count(*) FROM (SELECT 1 FROM held h WHERE h.space_id = :space LIMIT 100) AS waiting) AS held;
