// Written by tools/make_typescript.py from the table of operations and the OpenAPI document. Do not edit.

/**
 * One operation per line: name, method, path below /v1, positional parameters, and options. A line that
 * begins with `=` has a handle and its path, which `.` stands for below; `~` stands for /spaces/{space}.
 * By default, a GET is retried because it changes nothing (safe), a PUT or DELETE because it is
 * idempotent, and a POST never (once). `once!dry_run` is safe with `dry_run`.
 */
export const TABLE = `\
= memory
learn POST /learn - untimed
= memory.spaces /spaces
list GET . - page=next
= memory.admin /admin
health GET /health -
settings GET /settings - items
audit GET /audit -
= memory.admin.jobs /jobs
list GET . - page=next
= memory.admin.costs /costs
list GET . -
= memory.admin.reviews /reviews
list GET . - page=next
= memory.admin.erasures /erasures
publicKey GET ./public-key - result
list GET . -
= space ~
remember POST ./remember messages fill=idempotency_key idempotent
recall POST ./recall question safe!session_id
ask POST ./ask question untimed streams
context POST ./context question safe!session_id
explain GET ./memories/{ref} ref
correct POST ./correct ref,text
forget POST ./forget ref once!dry_run
session POST ./sessions conversation idempotent opens
= space.sessions ~/sessions
find POST ./find conversation safe result opens
get GET ./{session_id} session_id opens
relearn POST ./{session_id}/relearn session_id idempotent result
list GET . - page=next
= space.facts ~/facts
pin POST ./pin ref idempotent
unpin POST ./unpin ref idempotent
rate POST ./rate ref,verdict
history GET ~/fact_history - page=next
search POST ./search query safe items
count GET ~/fact_count - result
get GET ./{fact_id} fact_id
save POST . fact idempotent
versions GET ./{fact_id}/versions fact_id items
sources GET ./{fact_id}/sources fact_id items
quotes GET ./{fact_id}/quotes fact_id items
list GET . - page=next
= space.documents ~/documents
refresh POST ./refresh - idempotent result
search POST ./search query safe items
find POST ./find path safe result
children GET ~/children document_id items
outline GET ~/outline document_id page=next
get GET ./{document_id} document_id
create POST . draft fill=idempotency_key idempotent
update PUT ./{document_id} document_id,draft,if_version fill=idempotency_key
delete DELETE ./{document_id} document_id,if_version fill=idempotency_key
restore POST ./{document_id}/restore document_id,version,if_version
versions GET ./{document_id}/versions document_id items
history GET ./{document_id}/history document_id page=next
blame GET ./{document_id}/blame document_id
diff GET ./{document_id}/diff document_id,before,after result
sources GET ./{document_id}/sources document_id,version items
readAll GET ~/files - items plain
list GET . - page=next
= space.documents.changes ~/changes
approve POST ~/change_sets/{run}/approve run
reject POST ~/change_sets/{run}/reject run
undo POST ~/change_sets/{run}/undo run
list GET ~/change_sets - page=next
= space.threads ~/threads
open POST . thread_id fill=thread_id idempotent
get GET ./{thread_id} thread_id
dispatch POST ./{thread_id}/events thread_id,event
step POST ./{thread_id}/step thread_id
setMode PUT ./{thread_id}/mode thread_id,mode
queue GET ./{thread_id}/queue thread_id items
failedEvents GET ./{thread_id}/failed thread_id items
states GET ./{thread_id}/states thread_id page=after:number items
state GET ./{thread_id}/state thread_id,number
diff GET ./{thread_id}/diff thread_id,before,after
prompt GET ./{thread_id}/prompt thread_id,budget
tokens GET ./{thread_id}/tokens thread_id
fork POST ./{thread_id}/fork thread_id,at
replay POST ./{thread_id}/replay thread_id idempotent items
list GET . - page=next
= space.reviews ~/reviews
count GET ~/review_count - items
get GET ./{review_id} review_id
propose POST . ref idempotent
approve POST ./{review_id}/approve review_id
reject POST ./{review_id}/reject review_id
approveMany POST ~/approve_reviews review_ids items
rejectMany POST ~/reject_reviews review_ids items
list GET . - page=next
= space.admin ~/admin
learn POST ~/learn - untimed
health GET ~/health -
= space.admin.rules ~/rules
preview POST ./preview messages untimed
get GET . agent
set PUT . rules
= space.admin.jobs ~/jobs
get GET ./{kind}/{key} kind,key
retry POST ./{kind}/{key}/retry kind,key idempotent result
list GET . - page=next
= space.admin.costs ~/costs
list GET . -
= space.admin.changes ~/changes
list GET . - page=next wait=wait:0
= space.admin.timeline ~/timeline
list GET . - page=next
= space.admin.erasures ~/erasures
list GET . - page=next
= session ~/sessions/{session_id}
append POST ./messages messages fill=idempotency_key idempotent items
messages GET ./messages - page=next
retract POST ./retract number idempotent result
transcript GET ./transcript -
checkpoint POST ./checkpoint - idempotent result
restart POST ./restart reason idempotent opens
end POST ./end - idempotent opens
summary GET ./summary - result
stripCitations POST ./strip-citations reply result
waitUntilLearned POST ./learned - wait=timeout:30 idempotent
recall POST ~/recall question safe!session_id
context POST ~/context question safe!session_id
forget POST ~/forget - once!dry_run
= memory.admin.access /access
list GET . - page=next
= space.admin.context_log ~/context_log
markUsed POST ~/context-log/used refs result
list GET ~/context-log - page=next
= space.files ~/files
add POST . name fill=idempotency_key idempotent
= memory.admin.keys /keys
create POST . name,scopes
rotate POST ./{prefix}/rotate prefix
revoke DELETE ./{prefix} prefix
list GET . -
= space.admin.tests ~/tests
add POST . question fill=test_id idempotent
remove DELETE ./{test_id} test_id once
run POST ./run - safe items untimed
list GET . - page=next
= memory.admin.people /people
find POST ./find name safe untimed
export POST ./export name page=next safe untimed
forget POST ./forget name once!dry_run untimed
= space.admin.people ~/people
find POST ./find name safe untimed
export POST ./export name page=next safe untimed
forget POST ./forget name once!dry_run untimed
= space.admin.relearning ~/relearning
propose POST ~/relearnings - untimed
apply POST ~/relearnings/{relearning_id}/apply relearning_id idempotent
undo POST ~/relearnings/{relearning_id}/undo relearning_id idempotent
= space.admin.retention ~/retention
set PUT . kind,older_than
remove POST ./remove kind idempotent
run POST ./run - once!dry_run untimed
list GET . -
= space.admin.holds ~/holds
place POST ~/legal-holds reason
list GET ~/legal-holds -
= memory.admin.holds /holds
lift POST /legal-holds/{hold_id}/lift space,hold_id,reason idempotent
list GET /legal-holds -
= memory.admin.webhooks /webhooks
create POST . url
delete DELETE ./{webhook_id} webhook_id
deliveries GET ./{webhook_id}/deliveries webhook_id
list GET . -`;

/** Result fields with a time, in addition to those that end with _at. */
export const TIMES = "as_of at event_from event_to last said_from said_until since step_until until valid_from valid_to";

/** Result fields with user content, which stays unchanged. */
export const FREE = "child children content custom kinds messages metadata payload slots tool_calls";
