// Written by tools/make_typescript.py from the table of verbs and the OpenAPI document; run it again instead.

/**
 * A verb a line: name, method, path below /v1, what is given by position, and more. A line that begins
 * with `=` names a handle, and the path for which `.` stands below it; `~` stands for /spaces/{space}.
 * A GET is sent again because it changes nothing (safe), a PUT or DELETE because twice is as once
 * (idempotent), a POST never (once), where none of these words stands; `once!dry_run` is safe with it.
 */
export const TABLE = `\
= memory
openErasures GET /erasures -
pageJobs GET /jobs - page=next
held GET /held - page=next
spending GET /spending - items
pageSpaces GET /space_page - page=next
counters GET /counters -
settings GET /settings - items
listSpaces GET /spaces - page=after: items
audit GET /audit -
learn POST /learn - untimed
access GET /access - page=next
findPerson POST /person/find name safe untimed
exportPerson POST /person/export name page=next safe untimed
forgetPerson POST /person/forget name once!dry_run untimed
liftLegalHold POST /legal-holds/{hold_id}/lift space,hold_id,reason idempotent
legalHolds GET /legal-holds - items
= space ~
remember POST ./remember messages fill=idempotency_key idempotent
recall POST ./recall question safe!session_id
ask POST ./ask question untimed
context POST ./context question safe!session_id
explain GET ./memories/{ref} ref
correct POST ./correct ref,text
used POST ./used refs result
shown GET ./shown - items
forget POST ./forget ref once!dry_run
jobs GET ./jobs - items
consolidate POST ./consolidate - idempotent result
learn POST ./learn - untimed
erasures GET ./erasures - items
timeline GET ./timeline - page=next
preview POST ./preview messages untimed
pin POST ./pin ref idempotent
unpin POST ./unpin ref idempotent
pins GET ./pins - items
feedback POST ./feedback ref,verdict
session POST ./sessions conversation idempotent opens
findSession POST ./sessions/find conversation safe result opens
sessions GET ./sessions - page=before:session.id items
getSession GET ./sessions/{session_id} session_id opens
changes GET ./changes - page=after:number wait=0 items
pageJobs GET ./job_page - page=next
job GET ./jobs/{kind}/{key} kind,key
retryJob POST ./jobs/{kind}/{key}/retry kind,key idempotent result
summary GET ./summary -
spending GET ./spending - items
pageShown GET ./shown_page - page=next
addFile POST ./files name fill=idempotency_key idempotent
findPerson POST ./person/find name safe untimed
exportPerson POST ./person/export name page=next safe untimed
forgetPerson POST ./person/forget name once!dry_run untimed
relearn POST ./relearnings - untimed
applyRelearning POST ./relearnings/{relearning_id}/apply relearning_id idempotent
undoRelearning POST ./relearnings/{relearning_id}/undo relearning_id idempotent
= session ~/sessions/{session_id}
recall POST ~/recall question safe!session_id
context POST ~/context question safe!session_id
shown GET ~/shown - items
forget POST ~/forget - once!dry_run
append POST ./messages messages fill=idempotency_key idempotent items
read GET ./messages - page=after:number items
retract POST ./retract number idempotent result
transcript GET ./transcript -
endTurn POST ./end_turn - idempotent result
idle POST ./idle - idempotent result
reset POST ./reset - idempotent opens
compacted POST ./compacted - idempotent opens
end POST ./end - idempotent opens
retry POST ./retry - idempotent result
summary GET ./memory - result
cited POST ./cited answer result
learnt POST ./learnt - wait=30 idempotent
= facts ~/facts
all GET . - page=after:id items
page GET ~/fact_page - page=next
search POST ./search query safe items
byMetadata POST ./by_metadata key,value safe items
count GET ~/fact_count - result
get GET ./{fact_id} fact_id
save POST . fact idempotent
versions GET ./{fact_id}/versions fact_id items
sources GET ./{fact_id}/sources fact_id items
quotes GET ./{fact_id}/quotes fact_id items
= reviews ~/reviews
all GET . - page=after:id items
count GET ~/review_count - items
get GET ./{review_id} review_id
propose POST . ref idempotent
approve POST ./{review_id}/approve review_id
reject POST ./{review_id}/reject review_id
approveAll POST ~/approve_reviews review_ids items
rejectAll POST ~/reject_reviews review_ids items
= rules ~/rules
get GET . agent
set PUT . rules
= documents ~/documents
tree GET . - items
search POST ./search query safe items
find POST ./find path safe result
children GET ~/children document_id items
outline GET ~/outline document_id page=next
get GET ./{document_id} document_id
create POST . draft fill=idempotency_key idempotent
update PUT ./{document_id} document_id,draft,expected fill=idempotency_key
written POST ./written key safe result
delete DELETE ./{document_id} document_id,expected fill=idempotency_key
restore POST ./{document_id}/restore document_id,version,expected
versions GET ./{document_id}/versions document_id items
history GET ./{document_id}/history document_id page=next
blame GET ./{document_id}/blame document_id
diff GET ./{document_id}/diff document_id,before,after result
sources GET ./{document_id}/sources document_id,version items
files GET ~/files - items plain
changes GET ~/change_sets - items
approve POST ~/change_sets/{run}/approve run
reject POST ~/change_sets/{run}/reject run
undo POST ~/change_sets/{run}/undo run
= threads ~/threads
open POST . thread_id fill=thread_id idempotent
all GET . - page=after:id items
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
usage GET ./{thread_id}/usage thread_id
fork POST ./{thread_id}/fork thread_id,at
replay POST ./{thread_id}/replay thread_id idempotent items
= keys /keys
create POST . name,scopes
all GET . - items
rotate POST ./{prefix}/rotate prefix
revoke DELETE ./{prefix} prefix
= tests ~/tests
add POST . question fill=test_id idempotent
all GET . - page=after:id items
remove DELETE ./{test_id} test_id once
run POST ./run - safe items untimed
= retention ~/retention
all GET . - items
set PUT . kind,older_than
remove POST ./remove kind idempotent
sweep POST ./sweep - once!dry_run untimed
hold POST ~/legal-holds reason
holds GET ~/legal-holds - items
= webhooks /webhooks
create POST . url
all GET . - items
delete DELETE ./{webhook_id} webhook_id
deliveries GET ./{webhook_id}/deliveries webhook_id items`;

/** Fields of results that hold a time, beside those that end with _at. */
export const TIMES = "as_of at happened_from happened_to last said_from said_until since step_until until valid_from valid_to";

/** Fields of results whose content is not ours, and is left as it is. */
export const FREE = "child children content custom kinds messages metadata payload slots tool_calls";
