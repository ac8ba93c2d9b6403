-- What was tried before is claimed on its own; in a long backlog it would be looked for among all the rest.
CREATE INDEX jobs_tried ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status <> 'waiting' AND attempts > 0;

-- Every space is listed by a promise, also one that holds no more than a thread; for that the owner sees all of them once.
ALTER TABLE spaces NO FORCE ROW LEVEL SECURITY;
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, token)
SELECT s.id, 'index', 'space', s.created_at, 'queued', s.created_at, s.created_at FROM spaces s
ON CONFLICT (space_id, kind, key) DO NOTHING;
ALTER TABLE spaces FORCE ROW LEVEL SECURITY;
