-- name: put_rules
-- Set the rules of an agent, or with an empty name of the space.
INSERT INTO learning_rules (space_id, agent, rules, changed_at) VALUES (:space, :agent, :rules, :now)
ON CONFLICT (space_id, agent) DO UPDATE SET rules = excluded.rules, changed_at = excluded.changed_at;

-- name: find_rules
-- The rules of an agent, by its name or its id; those of the space come last.
SELECT rules FROM learning_rules
WHERE space_id = :space AND (agent = '' OR agent = :agent OR agent = (
    SELECT name FROM agents WHERE space_id = :space AND id = :agent_id
))
ORDER BY agent DESC LIMIT 1;

-- name: list_rules
-- All rules of a space; those of the space itself come first.
SELECT agent, rules FROM learning_rules WHERE space_id = :space ORDER BY agent;
