-- name: queue_deliveries
-- Let every webhook that is told of a space know that there is a change. One that waits for a retry goes on waiting.
INSERT INTO webhook_queues (space_id, webhook_id, recorded, delivered, due_at)
SELECT :space, w.id, :number, :number - 1, :now FROM webhooks w
WHERE w.disabled_at IS NULL AND (w.only_space IS NULL OR w.only_space = :space)
ON CONFLICT (space_id, webhook_id) DO UPDATE SET
    recorded = excluded.recorded, due_at = COALESCE(webhook_queues.due_at, excluded.due_at);

-- name: forget_deliveries
-- Remove what was noted of deliveries of a space.
DELETE FROM deliveries WHERE space_id = :space;

-- name: fence_queues
-- Revoke every claim on sending changes.
UPDATE webhook_queues SET token = CASE WHEN token < :epoch THEN :epoch ELSE token + 1 END,
    due_at = CASE WHEN recorded > delivered THEN CAST(:now AS bigint) END;

-- name: insert_webhook
-- Store a webhook.
INSERT INTO webhooks (id, url, only_space, created_at) VALUES (:id, :url, :only_space, :now);

-- name: list_webhooks
-- Every webhook, the oldest first.
SELECT id, url, only_space, created_at, disabled_at, disabled_because FROM webhooks ORDER BY created_at, id;

-- name: find_webhook
-- One webhook.
SELECT id, url, only_space, created_at, disabled_at, disabled_because FROM webhooks WHERE id = :id;

-- name: delete_webhook
-- Remove a webhook with its queues and deliveries.
DELETE FROM webhooks WHERE id = :id;

-- name: disable_webhook
-- Send nothing more to a webhook.
UPDATE webhooks SET disabled_at = :now, disabled_because = :reason WHERE id = :id AND disabled_at IS NULL;

-- name: stop_queues
-- Let nothing of a webhook be claimed again; a claim on it is lost.
UPDATE webhook_queues SET due_at = NULL, token = token + 1 WHERE webhook_id = :id;

-- name: claim_queues
-- Claim the queues of a webhook that are due, the longest waiting first, each with a token above all before.
WITH due AS MATERIALIZED (
    SELECT space_id, webhook_id FROM webhook_queues WHERE webhook_id = :id AND due_at <= :now
    ORDER BY due_at LIMIT :limit /*skip_locked*/
)
UPDATE webhook_queues SET token = webhook_queues.token + 1, due_at = :lease
FROM due WHERE webhook_queues.space_id = due.space_id AND webhook_queues.webhook_id = due.webhook_id
RETURNING webhook_queues.space_id, webhook_queues.webhook_id, webhook_queues.token, webhook_queues.delivered,
    webhook_queues.attempts, webhook_queues.failing_since;

-- name: list_due_webhooks
-- Webhooks that have something to send, the longest due first: one entry of the index is read for each webhook,
-- however many spaces wait for a slow one.
SELECT id FROM (
    SELECT w.id, (
        SELECT q.due_at FROM webhook_queues q WHERE q.webhook_id = w.id AND q.due_at <= :now
        ORDER BY q.due_at LIMIT 1
    ) AS due_at FROM webhooks w
) AS waiting WHERE due_at IS NOT NULL ORDER BY due_at, id;

-- name: advance_queue
-- Note that a webhook was told of a change, under a claim that is still valid, and renew the claim.
UPDATE webhook_queues SET delivered = :number, attempts = 0, failing_since = NULL, due_at = :lease
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: release_queue
-- End a claim: what is left waits for the next.
UPDATE webhook_queues SET due_at = CASE WHEN recorded > delivered THEN CAST(:now AS bigint) END
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: skip_lost
-- Go on after what was recorded and is no longer kept.
UPDATE webhook_queues SET delivered = recorded
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: delay_queue
-- End a claim whose delivery failed, until the next attempt.
UPDATE webhook_queues SET due_at = :due, attempts = attempts + 1, failing_since = COALESCE(failing_since, :now)
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: note_delivery
-- Note an attempt to deliver a change.
INSERT INTO deliveries (space_id, webhook_id, number, kind, at, attempts, status, error, delivered_at)
VALUES (:space, :webhook, :number, :kind, :now, 1, :status, :error, :delivered_at)
ON CONFLICT (space_id, webhook_id, number) DO UPDATE SET
    at = excluded.at, attempts = deliveries.attempts + 1, status = excluded.status, error = excluded.error,
    delivered_at = COALESCE(deliveries.delivered_at, excluded.delivered_at);

-- name: list_deliveries
-- What was sent to a webhook, the last tried first.
SELECT space_id, number, kind, at, attempts, status, error, delivered_at FROM deliveries
WHERE webhook_id = :webhook AND (CAST(:space AS text) IS NULL OR space_id = :space)
ORDER BY at DESC, space_id, number DESC LIMIT :limit;

-- name: prune_deliveries
-- Remove what was noted of old deliveries.
DELETE FROM deliveries WHERE at < :before;
