-- name: page_showings
-- A page of the context log of a space or session up to a time, with agent and conversation, newest first.
SELECT l.id, l.purpose, l.session_id, l.shown_at, l.tokens, l.digest, a.name AS agent, c.key AS conversation
FROM ledger l LEFT JOIN sessions s ON s.space_id = l.space_id AND s.id = l.session_id
LEFT JOIN conversations c ON c.space_id = s.space_id AND c.id = s.conversation_id
LEFT JOIN agents a ON a.space_id = s.space_id AND a.id = s.agent_id
WHERE l.space_id = :space AND l.shown_at <= :at
  /*given session*/ AND l.session_id = :session /*end*/
  /*given showing*/ AND l.id = :showing /*end*/
  /*given before*/ AND (l.shown_at, l.id) < (:before, :id) /*end*/
ORDER BY l.shown_at DESC, l.id DESC LIMIT :limit;
