// Written by tools/make_typescript.py from the table of verbs and the OpenAPI document; run it again instead.

/** A moment. A text is in ISO 8601; a day alone means its end, or its beginning where something begins. */
export type When = Date | string;

/** Options of every method. */
export interface CallOptions {
    /** Ends the call, and rejects with the reason of the signal. */
    signal?: AbortSignal;
}

/** A page when it is awaited; every item of this page and those after it when it is iterated with `for await`. */
export type Paged<Page, Item> = Promise<Page> & AsyncIterable<Item>;

/** One entry of the access record: who did what to which memories. It has no text and no question. */
export interface AccessEntry {
    id: string;
    at: Date;
    door: Door;
    verb: string;
    space: string;
    key: string;
    person: string;
    refs: string[];
}

/** A page of the access record, the newest first. It may be shorter than its limit, even empty, and go on. */
export interface AccessPage {
    items: AccessEntry[];
    next: string | null;
}

/** A file in memory: the session of its passages, the SHA-256 of its bytes, and what was done with its passages. */
export interface AddedFile {
    session: SessionInfo;
    sha256: string;
    media_type: string;
    added: number;
    kept: number;
    retracted: number;
    cut: number;
    forgotten: number;
}

/** One sentence of an answer, and the memories that say so. */
export interface AnswerSentence {
    text: string;
    refs: string[];
}

/** How learning stands: what waits, what was given up, what was spent, and what must never be. */
export interface Audit {
    counts: { [name: string]: { [name: string]: number } };
    overdue: number;
    abandoned: number;
    facts_without_source: number;
    broken_sessions: number;
    spaces_checked: number;
    spent_today: Usage;
    daily_cap: number | null;
    violations: number;
}

/** Who wrote a version, and why: a user, an agent, or a job with the token of its claim. */
export interface Author {
    kind: string;
    id: string;
    reason: string;
    token: number | null;
    run: string;
}

/** The lines of a version of a document, and the versions that brought them, the newest first. */
export interface Blame {
    document_id: string;
    version: number;
    lines: BlamedLine[];
    versions: BlamedVersion[];
}

/** A line of a document, and the version that brought it. */
export interface BlamedLine {
    text: string;
    version: number;
    earlier: boolean;
}

/** A version that brought some lines: when, by whom and why, and what the document rests on since. */
export interface BlamedVersion {
    version: number;
    at: Date;
    author: Author;
    sources: DocumentSource[];
}

/** A block of memory for a prompt. Its bytes stay the same until memory changes. Empty without anything to show. */
export interface Block {
    text: string;
    tokens: number;
    items: Recalled[];
    digest: string;
}

/** One item that recall returned for a memory test. What is superseded does not count as coming back. */
export interface CameBack {
    ref: string;
    text: string;
    at: Date;
    superseded_by: string | null;
}

/** A memory that was considered, with every signal, its rank after each stage, and its fate. */
export interface Candidate {
    ref: string;
    text: string;
    signals: { [name: string]: Signal };
    score: number;
    ranks: { [name: string]: number };
    fate: Fate;
    because_of: string | null;
    space: string;
    certainty: number;
    confidential: boolean;
}

/** How certain it is that a memory answers the question. */
export interface Certainty {
    level: Level;
    value: number;
}

/** One document as a run wants it. `draft` null deletes it; `expected` null means that it does not exist yet. */
export interface Change {
    path: string;
    draft: DocumentDraft | null;
    document_id: string | null;
    expected: number | null;
    sources: DocumentSource[];
}

/** What happened. */
export type ChangeKind = "session.learnt" | "session.forgotten" | "message.retracted" | "fact.added" | "fact.corrected" | "fact.replaced" | "fact.ended" | "fact.restored" | "fact.pinned" | "fact.unpinned" | "fact.forgotten" | "review.held" | "review.refused" | "document.changed" | "document.deleted" | "document.forgotten" | "space.forgotten" | "space.imported" | "space.restored";

/** The changes that one run made to the tree, or proposes. */
export interface ChangeSet {
    run: string;
    status: ChangeStatus;
    changes: Change[];
    created_at: Date;
    settled_at: Date | null;
}

/** The status of a change set. */
export type ChangeStatus = "held" | "applied" | "rejected" | "superseded" | "undone";

/** A known fact, and what would be learnt in its place from the same words or for the same slot. */
export interface ChangedFact {
    before: Fact;
    after: ClaimedFact;
}

/** A piece of working memory. It never changes: an update creates a new chunk that names its parents. */
export interface Chunk {
    id: string;
    type: ChunkType;
    content: { [name: string]: unknown };
    children: ({ [name: string]: unknown })[];
    subtype: SubType | null;
    retention: Retention;
    mutable: boolean;
    priority: number;
    created_at: Date;
    parents: string[];
    custom: { [name: string]: unknown };
    tokens: number;
}

/** The subject of a chunk; it decides the defaults of other fields. */
export type ChunkType = "SYSTEM" | "AGENT" | "WORKFLOW" | "DELEGATION" | "ENVIRONMENT" | "WORKING_FLOW" | "OUTPUT";

/** What a claim means for what is already known. */
export type ClaimChange = "new" | "same" | "replaces" | "ends";

/** A fact as it was claimed: with the words it rests on, and what it means for the facts it names by id. */
export interface ClaimedFact {
    fact: Fact;
    quotes: Quote[];
    change: ClaimChange;
    known: string[];
}

/** A correction: the new version, the one it replaced, and the text as it was stored. */
export interface Corrected {
    ref: string;
    previous: string;
    text: string;
}

/** What waits in all spaces. `jobs` has those of each kind by status, except those that are done. */
export interface Counters {
    jobs: { [name: string]: { [name: string]: number } };
    held: number;
}

/** What became of one change that was sent to a webhook. */
export interface Delivery {
    space: string;
    number: number;
    kind: ChangeKind;
    at: Date;
    attempts: number;
    status: number;
    error: string | null;
    delivered_at: Date | null;
}

/** The result of a dispatch: the thread, and the events that were processed. */
export interface DispatchResult {
    thread: Thread;
    processed: Processed[];
}

/** One version of a document. `valid_to` is null for the current version; a deleted document has no current one. */
export interface Document {
    id: string;
    version: number;
    slug: string;
    title: string;
    description: string;
    parent: string | null;
    valid_from: Date;
    valid_to: Date | null;
    created_at: Date;
    author: Author;
    origin: string;
    redacted: boolean;
    tags: string[];
    metadata: { [name: string]: unknown };
    body: string;
    links: string[];
    mentions: string[];
}

/** The content of a document's next version, and its position in the tree. `parent` null is the top. */
export interface DocumentDraft {
    slug: string;
    title: string;
    description: string;
    body: string;
    parent: string | null;
    links: string[];
    tags: string[];
    metadata: { [name: string]: unknown };
}

/** A document in the tree, without its text and links: `documents.get` returns them. */
export interface DocumentEntry {
    id: string;
    version: number;
    slug: string;
    title: string;
    description: string;
    parent: string | null;
    valid_from: Date;
    valid_to: Date | null;
    created_at: Date;
    author: Author;
    origin: string;
    redacted: boolean;
    tags: string[];
    metadata: { [name: string]: unknown };
}

/** One source of a version. A message is identified by its session and its number. */
export interface DocumentSource {
    kind: SourceKind;
    id: string;
    number: number;
}

/** Where a request came in. */
export type Door = "library" | "cli" | "mcp" | "hook" | "http" | "window" | "probe";

/** Why a session ended. */
export type EndReason = "closed" | "reset" | "emergency" | "compaction" | "restored";

/** What was erased of a person in one space. */
export interface ErasedInSpace {
    space: string;
    went: Forgotten;
    refused: string;
}

/** One thing that was asked to be forgotten. */
export interface Erasure {
    space: string;
    id: string;
    asked_by: string;
    key_prefix: string | null;
    reason: string;
    requested_at: Date;
    settled_at: Date | null;
    sinks: SinkState[];
    receipt: string;
}

/** Something that happened to an agent, to be processed into its working memory. */
export interface Event {
    type: string;
    payload: { [name: string]: unknown };
    strategy: Strategy | null;
}

/** How it is known that a fact is true. */
export type Evidence = "quoted" | "confirmed" | "stated" | "imported";

/** A message that a memory rests on, cut to the relevant part. */
export interface Excerpt {
    source: SourceMessage;
    text: string;
    origin: string;
    said_at: Date;
    confidential: boolean;
}

/** One statement, with the session it was learnt from. */
export interface Fact {
    id: string;
    content: string;
    source: string;
    tags: string[];
    metadata: { [name: string]: unknown };
    created_at: Date | null;
    kind: FactKind | string;
    origin: string;
    entities: string[];
    subject: string | null;
    slot: string | null;
    valid_from: Date | null;
    valid_to: Date | null;
    happened_from: Date | null;
    happened_to: Date | null;
    speaker: string | null;
    scope: string | null;
    flags: string[];
    expires_at: Date | null;
    pinned_at: Date | null;
    evidence: Evidence;
    recorded_at: Date | null;
    retired_at: Date | null;
    retired_by: string | null;
    version: number;
    made_by: Maker | null;
}

/** A version of a fact in a list, how it stands, and what took its place. */
export interface FactEntry {
    fact: Fact;
    state: FactState;
    successor: string | null;
    successor_text: string | null;
}

/** The subject of a fact. The last three tell an agent what to do, so only a user's own words can create one. */
export type FactKind = "detail" | "knowledge" | "decision" | "goal" | "event" | "preference" | "instruction" | "procedure";

/** A page of facts. */
export interface FactPage {
    items: FactEntry[];
    next: string | null;
}

/** How a version of a fact stands. */
export type FactState = "holds" | "ended" | "retired";

/** What somebody thinks of a fact. */
export type FactVerdict = "useful" | "wrong" | "outdated";

/** An attempt at a job that failed, and why. */
export interface FailedAttempt {
    started_at: Date | null;
    ended_at: Date;
    error: string | null;
}

/** An event that could not be processed and was set aside, with the reason. */
export interface FailedEvent {
    event: QueuedEvent;
    reason: string;
}

/** What happened to a candidate: it was shown, or the reason why not. */
export type Fate = "shown" | "unrelated" | "uncertain" | "beyond_limit" | "over_budget" | "duplicate" | "superseded" | "ended" | "erased" | "question";

/** What somebody said about a version of a fact. `review_id` is the claim under review that it made of the fact. */
export interface Feedback {
    id: string;
    ref: string;
    verdict: FactVerdict;
    by: string;
    at: Date;
    note: string | null;
    review_id: string | null;
}

/** Counts of what was forgotten, or with `dry_run` would be. `documents` counts versions that lost their text. */
export interface Forgotten {
    messages: number;
    facts: number;
    session_memories: number;
    documents: number;
    threads: number;
    others: number;
    tests: number;
    tests_naming: string[];
    dry_run: boolean;
    erasure_id: string;
    refs: string[];
    pages: string[];
    shown_to: string[];
    open_sinks: string[];
    receipt: string;
}

/** Something that waits for a person. `text` is what is claimed; `paths` are the documents that would change. */
export interface HeldItem {
    space: string;
    kind: HeldKind;
    id: string;
    at: Date;
    text: string;
    reason: string;
    paths: string[];
}

/** What waits. */
export type HeldKind = "claim" | "changes";

/** A page of what waits, the newest first. `total` counts all of it, up to 1,000. */
export interface HeldPage {
    items: HeldItem[];
    total: number;
    next: string | null;
}

/** A page of the versions of a document, without their texts, the newest first. */
export interface HistoryPage {
    items: DocumentEntry[];
    next: string | null;
}

/** A job as it stands: ids, times and counts, never content. */
export interface Job {
    space: string;
    kind: JobKind;
    key: string;
    status: JobStatus;
    queued_at: Date;
    due_at: Date | null;
    token: number;
    worker: string | null;
    attempts: number;
    input_watermark: number;
    success_watermark: number | null;
    started_at: Date | null;
    finished_at: Date | null;
    outcome: Outcome | null;
    last_error: string | null;
    usage: Usage;
}

/** A job with its failed attempts and what models answered for it, each the newest first. */
export interface JobDetail {
    job: Job;
    failures: FailedAttempt[];
    answers: RecordedAnswer[];
}

/**
 * What a job does: learn from a session, work a transcript into documents, consolidate what a space has learnt,
 * or index its content.
 */
export type JobKind = "extract" | "write" | "consolidate" | "index";

/** A page of jobs, the last queued first. */
export interface JobPage {
    items: Job[];
    next: string | null;
}

/** The status of a job. `waiting` checks its session later; `failed` is tried again; `dead` is not. */
export type JobStatus = "waiting" | "queued" | "running" | "failed" | "done" | "dead";

/** A key without its secret. `spaces` null means all spaces; `last_used_at` is accurate to the minute. */
export interface KeyInfo {
    prefix: string;
    name: string;
    scopes: Scope[];
    spaces: string[] | null;
    created_at: Date;
    expires_at: Date | null;
    last_used_at: Date | null;
    revoked_at: Date | null;
}

/** How a space, or one agent in it, learns. What is not set is left to the settings. */
export interface LearningRules {
    instructions: string;
    owner: string | null;
    time_zone: string | null;
    slots: { [name: string]: string };
    kinds: { [name: string]: string };
    hold_kinds: (FactKind | string)[];
    expires_after: { [name: string]: number };
    held_flags: string[] | null;
}

/** A space of which nothing may be erased, and why. It stays listed when it was lifted. */
export interface LegalHold {
    space: string;
    id: string;
    reason: string;
    placed_by: string;
    placed_at: Date;
    lifted_by: string;
    lifted_at: Date | null;
    lifted_because: string;
}

/** How certain an answer is, in words. */
export type Level = "high" | "fair" | "weak";

/** A claim that quotes a message and was not believed at once. */
export interface LineClaim {
    review_id: string;
    status: ReviewStatus;
    reason: string;
}

/** A fact that rests on a message, in its newest version. */
export interface LineFact {
    ref: string;
    text: string;
    retired: boolean;
}

/** Where a memory comes from, what happened to it, and where it was shown; `text` is null if it was erased. */
export interface Lineage {
    ref: string;
    text: string | null;
    origin: string | null;
    at: Date | null;
    metadata: { [name: string]: unknown };
    made_by: Maker | null;
    written_by: string | null;
    jobs: Job[];
    sources: Excerpt[];
    rests_on: string[];
    used_in: string[];
    versions: Version[];
    superseded_by: string | null;
    shown: Showing[];
    usage: Use | null;
    fact: Fact | null;
    quotes: Quote[];
    feedback: Feedback[];
    walk: LineageWalk | null;
}

/** A memory near another: `step` is negative for what it rests on, positive for what was made of it. */
export interface LineageStep {
    ref: string;
    step: number;
    beside: string;
    text: string | null;
    origin: string | null;
    at: Date | null;
}

/** What lies some steps before and after a memory, the nearest first: up to 200 of them. */
export interface LineageWalk {
    steps: LineageStep[];
    beyond: number;
}

/** What created a memory: the model, the prompt and the extractor, each with its version. */
export interface Maker {
    model: string;
    prompt: string;
    extractor: string;
}

/** An answer from memory, as far as memories prove it. Without a sentence it is `refused`, and false. */
export interface MemoryAnswer {
    question: string;
    text: string;
    sentences: AnswerSentence[];
    refused: Refusal | null;
    cited: Recalled[];
    given: string[];
    withheld: string[];
    without: string[];
    dropped: SentenceFault[];
    certainty: Certainty | null;
    model: string | null;
    usage: Usage | null;
    as_of: Date | null;
    missing: string | null;
}

/** One change of a space. It says what changed, never what it says: follow the ref to read that. */
export interface MemoryChange {
    space: string;
    number: number;
    at: Date;
    kind: ChangeKind;
    ref: string;
    session_id: string | null;
}

/** A question with what must, and what must not, be among the first items that recall returns. */
export interface MemoryTest {
    id: string;
    question: string;
    must: string[];
    must_not: string[];
    as_of: Date | null;
    limit: number;
    kinds: RefKind[];
    tags: string[];
    note: string;
    about: string | null;
    created_at: Date | null;
}

/** How one memory test went. `absent` did not come back and should have, `unwanted` did and should not have. */
export interface MemoryTestResult {
    test: MemoryTest;
    passed: boolean;
    absent: string[];
    unwanted: string[];
    items: CameBack[];
}

/** A message as the caller passes it. Unless given, its origin follows from its role. */
export interface Message {
    role: Role | string;
    content: string;
    name: string | null;
    tool_calls: ({ [name: string]: unknown })[];
    tool_call_id: string | null;
    is_error: boolean;
    metadata: { [name: string]: unknown };
    origin: string | null;
    idempotency_key: string | null;
    trace_parent: string | null;
    said_at: Date | null;
    tags: string[];
}

/** Whether events are processed as they come, or one by one on request. */
export type Mode = "auto" | "stepping";

/** A new key. Its text can only be read here. */
export interface NewKey {
    key: string;
    info: KeyInfo;
}

/** A new webhook. Its secret can only be read here. */
export interface NewWebhook {
    secret: string;
    info: WebhookInfo;
}

/** An erasure that some place has not confirmed yet. */
export interface OpenErasure {
    space: string;
    id: string;
    sinks: string[];
}

/** What is still to be confirmed in any space, and the key that receipts of this installation are signed with. */
export interface OpenErasures {
    waiting: OpenErasure[];
    public_key: string;
}

/** One change to a state. Which fields are used depends on the kind. */
export interface Operation {
    kind: OperationKind;
    chunk: Chunk | null;
    targets: string[];
    position: number | null;
    child: { [name: string]: unknown } | null;
    operations: Operation[];
}

/** The kinds of changes from one state to the next. */
export type OperationKind = "ADD" | "UPDATE" | "DELETE" | "REORDER" | "REPLACE" | "BATCH_REPLACE" | "BATCH";

/** How an attempt ended. Finding nothing worth keeping is a success. */
export type Outcome = "succeeded" | "succeeded_no_output" | "failed";

/** A document in an outline, without its text, and how many documents stand below it. */
export interface OutlineEntry {
    document: DocumentEntry;
    children: number;
}

/** A page of the documents below one, ordered by name. */
export interface OutlinePage {
    items: OutlineEntry[];
    next: string | null;
}

/** What was erased of a person, in each space that held anything, and what cannot be claimed to be gone. */
export interface PersonErased {
    spaces: ErasedInSpace[];
    looked: PersonWay[];
    spaces_searched: number;
    not_claimed: string[];
    dry_run: boolean;
}

/** What was found of a person, in each space that holds anything, and what cannot be claimed. */
export interface PersonFound {
    spaces: PersonInSpace[];
    looked: PersonWay[];
    spaces_searched: number;
    not_claimed: string[];
}

/** What a space holds of a person. */
export interface PersonInSpace {
    space: string;
    messages: number;
    facts: number;
    session_memories: number;
    documents: number;
    threads: number;
    others: number;
    speaker: number;
    words: number;
    entities: number;
    refs: string[];
    thread_ids: string[];
    other_ids: string[];
}

/** One thing that a space holds of a person, with its text. */
export interface PersonItem {
    space: string;
    kind: string;
    id: string;
    number: number;
    ways: PersonWay[];
    at: Date | null;
    speaker: string | null;
    text: string;
}

/** A page of what is held of a person, by space, kind and id. */
export interface PersonItems {
    items: PersonItem[];
    next: string | null;
    not_claimed: string[];
}

/** How a person is looked for. */
export type PersonWay = "speaker" | "words" | "entities";

/**
 * What would be learnt: the claims that would stand, wait for a person, or be refused, and what it cost to
 * look.
 */
export interface Preview {
    stands: PreviewedClaim[];
    held: PreviewedClaim[];
    refused: PreviewedClaim[];
    notes: string[];
    malformed: number;
    suspicious: number[];
    model: string;
    usage: Usage;
}

/** A claim, and what would become of it. */
export interface PreviewedClaim {
    claim: ClaimedFact;
    settlement: string | null;
    reason: string | null;
    detail: string;
}

/** Problem details (RFC 9457). `code` names the error, `hint` the next step. */
export interface Problem {
    type: string;
    title: string;
    status: number;
    detail: string;
    hint: string;
    code: string;
    /** With code Stale: the version that is current. */
    current: number | null;
    /** With code Invalid: what is wrong, and where. */
    errors: ({ at: string; message: string; [more: string]: unknown })[];
}

/** What one event did: the thread after it, and the chunks that were added and removed. */
export interface Processed {
    thread: Thread;
    event: QueuedEvent;
    operations: Operation[];
    added: Chunk[];
    removed: string[];
}

/** Messages for a model, and a report on every chunk. */
export interface Prompt {
    messages: ({ [name: string]: string })[];
    prefix_length: number;
    tokens: number;
    report: Shown[];
}

/** Why a memory was shown: as the answer to a question, or as a block in a prompt. */
export type Purpose = "recall" | "context";

/** An event in the queue of a thread, with its position. */
export interface QueuedEvent {
    id: string;
    number: number;
    event: Event;
    queued_at: Date;
}

/** The exact words of a message that a fact rests on; `context` if they are only needed to understand others. */
export interface Quote {
    session_id: string;
    number: number;
    text: string;
    context: boolean;
}

/** Why a chunk is in a prompt, or is not. */
export type Reason = "pinned" | "newest" | "over budget" | "empty";

/** The answer to a question: the memories found within the budget, the best first. */
export interface Recall {
    question: string;
    items: Recalled[];
    certainty: Certainty | null;
    tokens: number;
    budget: number | null;
    as_of: Date | null;
    missing: string | null;
    candidates: Candidate[];
}

/** One memory that was found. `score`, between 0 and 1, ranks it; `also` names memories that say the same. */
export interface Recalled {
    ref: string;
    text: string;
    origin: string;
    at: Date;
    score: number;
    tokens: number;
    label: string;
    certainty: Certainty | null;
    speaker: string | null;
    session_id: string | null;
    fact: Fact | null;
    also: string[];
    sources: SourceMessage[];
    excerpts: Excerpt[];
    tags: string[];
    metadata: { [name: string]: unknown };
    space: string;
    superseded_by: string | null;
    confidential: boolean;
    section: string;
}

/** A message in the log: its session, its number there, when it was stored, and when it was taken back. */
export interface Record {
    session_id: string;
    number: number;
    recorded_at: Date;
    message: Message;
    retracted_at: Date | null;
}

/** The answer of a model for a job; `run` identifies the question. */
export interface RecordedAnswer {
    run: string;
    position: number;
    content: string;
    agent_id: string;
    model: string;
    prompt: string;
    recorded_at: Date;
}

/** The kinds of memory that can be recalled. */
export type RefKind = "message" | "fact" | "session_memory" | "document";

/** Why a question was not answered. */
export type Refusal = "nothing_found" | "not_held" | "not_proven" | "declined";

/** What would change if everything were learnt again: `same` counts the facts that would stay as they are. */
export interface Relearning {
    id: string;
    status: RelearningStatus;
    created_at: Date;
    model: string;
    sessions: number;
    same: number;
    usage: Usage;
    new: ClaimedFact[];
    gone: Fact[];
    changed: ChangedFact[];
    held: number;
    refused: number;
    applied_at: Date | null;
}

/** What became of a proposal. */
export type RelearningStatus = "proposed" | "applied" | "undone";

/** What `remember` stored: the session, and a ref for each message. */
export interface Remembered {
    session: SessionInfo;
    refs: string[];
}

/** How a chunk may be shortened. The system never removes CRITICAL chunks. */
export type Retention = "CRITICAL" | "COMPRESSIBLE" | "BATCH_COMPRESSIBLE" | "DISPOSABLE" | "EPHEMERAL";

/** What a rule is about. What was made of it goes with it. */
export type RetentionKind = "message" | "session_memory" | "fact" | "document" | "thread";

/** One rule: what is older than so many days is erased. */
export interface RetentionRule {
    kind: RetentionKind;
    older_than: number;
    origin: string | null;
    set_by: string;
    set_at: Date | null;
}

/** A claim with the reason why it was not believed at once, and what was decided about it. */
export interface Review {
    id: string;
    status: ReviewStatus;
    reason: string;
    detail: string;
    claim: ClaimedFact;
    session_id: string;
    created_at: Date;
    decided_at: Date | null;
    decided_by: string | null;
    note: string | null;
    fact_id: string | null;
}

/** What became of a claim that was not believed at once. */
export type ReviewStatus = "held" | "refused" | "approved" | "rejected";

/** Who a message speaks as, in the terms of the model APIs. */
export type Role = "user" | "assistant" | "system" | "tool";

/** What one run did. `held` says why nothing was claimed, if something prevented it. */
export interface RunReport {
    claimed: number;
    outcomes: { [name: string]: number };
    settled: { [name: string]: number };
    for_review: { [name: string]: number };
    refused: { [name: string]: number };
    lost: number;
    scanned: number;
    marked: number;
    held: string | null;
}

/**
 * What a key allows. `keys` creates and revokes keys; `operate` covers jobs, settings, spending, the names of
 * all spaces and the access record. Neither gives access to content.
 */
export type Scope = "read" | "write" | "steer" | "erase" | "keys" | "operate";

/** Why a sentence of the model was dropped. */
export type SentenceFault = "uncited" | "unknown_ref" | "foreign_name" | "foreign_number" | "other_words" | "denied";

/** A session in a list: the name of its conversation, its agent, and when its first and last message were said. */
export interface SessionEntry {
    session: SessionInfo;
    conversation: string;
    agent: string;
    begun_at: Date | null;
    last_at: Date | null;
    summary: string | null;
    state: SessionState;
    error: string | null;
}

/** A bounded section of a conversation, with its mark and how far it has been learnt from. */
export interface SessionInfo {
    space: string;
    id: string;
    conversation_id: string;
    agent_id: string;
    ordinal: number;
    learns: boolean;
    created_at: Date;
    ended_at: Date | null;
    end_reason: EndReason | null;
    last_number: number;
    invalidated_at: number | null;
    marked_at: Date | null;
    marked_by: Trigger | null;
    processed_until: number | null;
    tags: string[];
    metadata: { [name: string]: unknown };
}

/** What was learnt from a session so far. */
export interface SessionLearnt {
    session_id: string;
    done: boolean;
    until: number;
    new: string[];
    held: string[];
    refused: string[];
    error: string | null;
}

/** The result of extracting from one entire session; the next extraction replaces it. */
export interface SessionMemory {
    space: string;
    session_id: string;
    raw_memory: string;
    summary: string;
    slug: string;
    until: number;
    source_updated_at: Date;
    generated_at: Date;
    made_by: Maker;
    said_from: Date | null;
    said_until: Date | null;
}

/** How far learning from a session has come. */
export type SessionState = "open" | "marked" | "learnt" | "failed" | "ephemeral";

/** A setting in force. `value` and `default` are written as in a file of settings; a secret is `"***"`. */
export interface SettingEntry {
    name: string;
    value: string;
    default: string;
    origin: string;
}

/** One entry of the ledger: what was shown, when, and to which session, if any. */
export interface Showing {
    id: string;
    purpose: Purpose;
    session_id: string | null;
    shown_at: Date;
    tokens: number;
    digest: string;
    refs: string[];
}

/** How one chunk appears in a prompt. */
export interface Shown {
    chunk_id: string;
    included: boolean;
    reason: Reason;
    tokens: number;
}

/** One entry of the ledger, the conversation and the agent that it was shown to, and what it said. */
export interface ShownBlock {
    showing: Showing;
    conversation: string;
    agent: string;
    memories: ShownMemory[];
}

/** A memory that was shown, in the version that was. `text` is the beginning of it, null if it was erased since. */
export interface ShownMemory {
    ref: string;
    text: string | null;
    origin: string | null;
}

/** A page of what was shown, the newest first. */
export interface ShownPage {
    items: ShownBlock[];
    next: string | null;
}

/** One contribution to a candidate's rank: its value between 0 and 1, and what it added to the score. */
export interface Signal {
    raw: number;
    normalised: number;
    added: number;
}

/** A place that texts of a space may be in, and when it confirmed that nothing of an erasure is left there. */
export interface SinkState {
    sink: string;
    confirmed_at: Date | null;
}

/** What a version of a document can rest on. */
export type SourceKind = "session_memory" | "fact" | "message";

/** A message that a memory rests on. */
export interface SourceMessage {
    session_id: string;
    number: number;
}

/** A page of spaces, by name. */
export interface SpacePage {
    items: SpaceSummary[];
    next: string | null;
}

/** How a space stands. `failed` and `held` are counted up to 100. */
export interface SpaceSummary {
    name: string;
    queued_at: Date | null;
    failed: number;
    held: number;
}

/** What was spent on a day, in all or under one name: a kind of job, a model or a space. */
export interface Spending {
    day: string;
    name: string;
    usage: Usage;
}

/** One state of a thread with its chunks, in order. */
export interface State {
    info: StateInfo;
    chunks: Chunk[];
}

/** What created a state. */
export type StateCause = "initial" | "fork" | "event_dispatch" | "compaction" | "truncation" | "manual";

/** The difference between two states: chunks that were added, removed, or only moved. */
export interface StateDiff {
    added: Chunk[];
    removed: Chunk[];
    moved: string[];
}

/** One state of a thread, without its chunks: what created it, from which event, in which step. */
export interface StateInfo {
    thread_id: string;
    number: number;
    id: string;
    previous: number | null;
    source: StateCause;
    event_id: string | null;
    event_type: string | null;
    step_id: string | null;
    operations: string[];
    total_tokens: number;
    recorded_at: Date;
}

/** What one step did, and what remains to be done. */
export interface StepResult {
    dispatch_result: DispatchResult | null;
    event_processed: boolean;
    compaction_performed: boolean;
    truncation_performed: boolean;
    has_pending_operations: boolean;
    queued_event_count: number;
}

/** What an event does to the queue behind it: `terminate` stops processing after it. */
export type Strategy = "queue" | "interrupt" | "terminate" | "silent";

/** The subtype of a chunk in the working flow. */
export type SubType = "COMPACTED" | "USER" | "THINKING" | "RESPONSE" | "AGENT_ACTION" | "ACTION_RESPONSE";

/** What a sweep erased in one space. */
export interface Swept {
    erasures: string[];
    went: Forgotten;
    more: boolean;
    dry_run: boolean;
}

/** The working memory of one session: its mode, the numbers of its state and queue, and who is stepping. */
export interface Thread {
    space: string;
    id: string;
    session_id: string | null;
    mode: Mode;
    state_number: number;
    applied: number;
    last_event: number;
    last_position: number;
    total_tokens: number;
    compressible_tokens: number;
    pending_compaction: boolean;
    pending_truncation: boolean;
    step_id: string | null;
    step_token: number;
    step_until: Date | null;
    created_at: Date;
    forked_from: string | null;
    forked_at: number | null;
}

/** One thing that happened. `text` is the beginning of what was said or written; `count`, how many were shown. */
export interface TimelineEntry {
    at: Date;
    kind: TimelineKind;
    ref: string;
    text: string;
    who: string;
    session_id: string | null;
    count: number | null;
}

/** What happened. */
export type TimelineKind = "message" | "fact" | "correction" | "retired" | "document" | "showing" | "erasure";

/** A page of the timeline, the newest first. */
export interface TimelinePage {
    items: TimelineEntry[];
    next: string | null;
}

/** The length of a state in tokens, and what should be done about it. */
export interface TokenUsage {
    total_tokens: number;
    compressible_tokens: number;
    suggest_compaction: boolean;
    force_compaction: boolean;
    needs_truncation: boolean;
    chunks_to_compact: Chunk[];
    chunks_to_truncate: string[];
}

/** A part of a session. `earlier` and `later` are true if there is more of it before and after. */
export interface Transcript {
    session: SessionInfo;
    lines: TranscriptRow[];
    earlier: boolean;
    later: boolean;
}

/** A message, and what became of it. `documents` are those that name the message itself as a source. */
export interface TranscriptRow {
    record: Record;
    facts: LineFact[];
    documents: string[];
    claims: LineClaim[];
    shown: number;
}

/** The four reasons why a session is marked. */
export type Trigger = "idle" | "turn_threshold" | "compaction" | "reset";

/** What model calls cost: calls, tokens, and millionths of a dollar. */
export interface Usage {
    calls: number;
    input_tokens: number;
    output_tokens: number;
    cost: number;
}

/** How often a memory was used, and when last. */
export interface Use {
    times: number;
    last: Date;
}

/** One version of a fact or a document, and when it was valid. */
export interface Version {
    ref: string;
    text: string;
    since: Date;
    until: Date | null;
}

/** A webhook without its secret. One with a `space` is told only of that space. */
export interface WebhookInfo {
    id: string;
    url: string;
    space: string | null;
    created_at: Date;
    disabled_at: Date | null;
    disabled_because: string | null;
}

/** What an agent is for; `makes_memory` in `rules` says which kinds are learnt from. */
export type AgentKind = "primary" | "subagent" | "memory_writer" | "memory_search" | "consolidator";

/** The content of a document's next version, and its position in the tree. `parent` null is the top. */
export interface DocumentDraftInput {
    slug: string;
    title: string;
    description?: string;
    body?: string;
    parent?: string | null;
    links?: readonly string[];
    tags?: readonly string[];
    metadata?: { [name: string]: unknown };
}

/** Something that happened to an agent, to be processed into its working memory. */
export interface EventInput {
    type: string;
    payload?: { [name: string]: unknown };
    strategy?: Strategy | null;
}

/** One statement, with the session it was learnt from. */
export interface FactInput {
    id: string;
    content: string;
    source?: string;
    tags?: readonly string[];
    metadata?: { [name: string]: unknown };
    created_at?: When | null;
    kind?: FactKind | string;
    origin?: string;
    entities?: readonly string[];
    subject?: string | null;
    slot?: string | null;
    valid_from?: When | null;
    valid_to?: When | null;
    happened_from?: When | null;
    happened_to?: When | null;
    speaker?: string | null;
    scope?: string | null;
    flags?: readonly string[];
    expires_at?: When | null;
    pinned_at?: When | null;
    evidence?: Evidence;
    recorded_at?: When | null;
    retired_at?: When | null;
    retired_by?: string | null;
    version?: number;
    made_by?: MakerInput | null;
}

/** How a space, or one agent in it, learns. What is not set is left to the settings. */
export interface LearningRulesInput {
    /** What to learn, what never, and in which language, in plain words. */
    instructions?: string;
    /** The name of the person whose memory it is. */
    owner?: string | null;
    /** The time zone in which times are told to the model, such as Europe/Berlin. */
    time_zone?: string | null;
    /** Attributes of your own that have one value at a time, each with a short description. */
    slots?: { [name: string]: string };
    /**
     * Kinds of facts of your own, such as `recipe`, each with a short description. They tell an agent nothing
     * to do.
     */
    kinds?: { [name: string]: string };
    /** Kinds of facts that a person approves first. */
    hold_kinds?: readonly (FactKind | string)[];
    /**
     * After how many days facts of a kind are no longer recalled, counted from when they were last said. An
     * event never expires.
     */
    expires_after?: { [name: string]: number };
    /** Marks that hold a claim, such as `health`; null for those of the settings. */
    held_flags?: readonly string[] | null;
}

/** What created a memory: the model, the prompt and the extractor, each with its version. */
export interface MakerInput {
    model: string;
    prompt: string;
    extractor: string;
}

/** A question with what must, and what must not, be among the first items that recall returns. */
export interface MemoryTestInput {
    id?: string;
    question: string;
    must?: readonly string[];
    must_not?: readonly string[];
    as_of?: When | null;
    limit?: number;
    kinds?: readonly RefKind[];
    tags?: readonly string[];
    note?: string;
    about?: string | null;
    created_at?: When | null;
}

/** A message as the caller passes it. Unless given, its origin follows from its role. */
export interface MessageInput {
    role: "user" | "assistant" | "system" | "tool" | "developer";
    content: string | readonly ({ type: string; [more: string]: unknown })[] | null;
    name?: string | null;
    tool_calls?: readonly ({ [name: string]: unknown })[] | null;
    tool_call_id?: string | null;
    is_error?: boolean | null;
    metadata?: { [name: string]: unknown } | null;
    origin?: string | null;
    idempotency_key?: string | null;
    trace_parent?: string | null;
    said_at?: When | null;
    tags?: readonly string[] | null;
}

/** Which end of a list comes first. */
export type Order = "newest" | "oldest";

/** What spending is listed by, for each day. */
export type SpendingBy = "day" | "kind" | "model" | "space";

export interface MemoryPageJobsOptions extends CallOptions {
    /** Only jobs that are queued, running, failed, or dead, which were given up. */
    status?: JobStatus;
    /** Only jobs of this kind. */
    kind?: JobKind | null;
    /** How many jobs to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface MemoryHeldOptions extends CallOptions {
    /** Only claims, or only changes. */
    kind?: HeldKind | null;
    /** How many items to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface MemorySpendingOptions extends CallOptions {
    since?: When | null;
    until?: When | null;
    /** List each day in all, by kind, by model, or by space: those that cost most. */
    by?: SpendingBy;
    /** By space, how many of each day. */
    limit?: number;
}

export interface MemoryPageSpacesOptions extends CallOptions {
    /** Only spaces whose names begin with it. */
    prefix?: string;
    /** How many spaces to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface MemoryListSpacesOptions extends CallOptions {
    /** How many names to return at most. */
    limit?: number;
    /** Only spaces that follow this one: the last name of the previous page. */
    after?: string;
}

export interface MemoryLearnOptions extends CallOptions {
    /** Only these kinds of jobs. */
    only?: readonly JobKind[] | null;
}

export interface MemoryAccessOptions extends CallOptions {
    /** Only what was done in this space. */
    space?: string | null;
    /** Only what was done with the key of this prefix. */
    key?: string | null;
    /** Only what was done by this person, or for them. */
    person?: string | null;
    /** Only calls of this verb, such as `space.recall`. */
    verb?: string | null;
    /** Only what read or changed this: a ref, or `kind:id` for every version of a fact or a document. */
    ref?: string | null;
    /** Only what was done from this time on. */
    since?: When | null;
    /** Only what was done up to this time. A day means its end. */
    until?: When | null;
    /** How many entries to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface MemoryFindPersonOptions extends CallOptions {
    aliases?: readonly string[];
    by?: readonly PersonWay[];
    /** How many refs to return at most, for each space. Everything is counted. */
    limit?: number;
}

export interface MemoryExportPersonOptions extends CallOptions {
    aliases?: readonly string[];
    by?: readonly PersonWay[];
    /** How many items to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the page before. */
    after?: string;
}

export interface MemoryForgetPersonOptions extends CallOptions {
    aliases?: readonly string[];
    by?: readonly PersonWay[];
    /** Why, for the record: a number of a request, say, and not the name. */
    reason?: string;
    /** Count and name what would go, and remove nothing. */
    dry_run?: boolean;
}

export interface MemoryLiftLegalHoldOptions extends CallOptions {
    /** Who lifts it, for the record; the user who runs the program, if left out. */
    by?: string | null;
}

export interface MemoryLegalHoldsOptions extends CallOptions {
    /** How many holds to return at most. */
    limit?: number;
}

/** What can be asked of a memory as a whole. */
export interface MemoryVerbs {
    /** Finish erasures that were interrupted in any space, and list what some place has still to confirm. */
    openErasures(options?: CallOptions): Promise<OpenErasures>;
    /**
     * List the jobs of all spaces that are queued, running, failed or given up, the last queued first. A page
     * costs the same however many jobs there are.
     */
    pageJobs(options?: MemoryPageJobsOptions): Paged<JobPage, Job>;
    /**
     * List what waits for a person in all spaces, the newest first: claims under review, and changes of
     * documents. What is decided while a page is read may be missing in it.
     */
    held(options?: MemoryHeldOptions): Paged<HeldPage, HeldItem>;
    /** List what models cost on each day, in all, by kind of work, by model, or by space. */
    spending(options?: MemorySpendingOptions): Promise<Spending[]>;
    /**
     * List spaces by name, each with what failed in it and what waits for a person. A page costs the same
     * however many spaces there are, and however much they hold.
     */
    pageSpaces(options?: MemoryPageSpacesOptions): Paged<SpacePage, SpaceSummary>;
    /**
     * Count the jobs that are not done by status, and what waits for a person, in all spaces. Jobs are counted
     * as their states change, so it costs the same however many there are.
     */
    counters(options?: CallOptions): Promise<Counters>;
    /** List the settings in force, each with its default and where it comes from. Secrets are masked. */
    settings(options?: CallOptions): Promise<SettingEntry[]>;
    /** List the names of all spaces that hold anything, in order. */
    listSpaces(options?: MemoryListSpacesOptions): Paged<string[], string>;
    /** Count the jobs that are not done by status, what was spent today, and violations of invariants. */
    audit(options?: CallOptions): Promise<Audit>;
    /**
     * Learn once from everything that is marked, in all spaces, and report what came of it. It waits for what
     * this process has already begun in the background, and the report includes what was learnt there since the
     * last call. It does not wait for other processes. What changed is then sent to webhooks, unless `only` is
     * given.
     */
    learn(options?: MemoryLearnOptions): Promise<RunReport>;
    /**
     * List who read, wrote, erased or made keys, the newest first: the access record. A page looks at 20,000
     * entries at most, so a narrow one may be short, even empty, and still have a `next`. Questions and texts
     * are never recorded. An entry goes after as many days as `access_keep_days` says.
     */
    access(options?: MemoryAccessOptions): Paged<AccessPage, AccessEntry>;
    /**
     * Count and name what is held of a person, in every space that the caller may see. It reads every text. A
     * name that is part of another word is not matched. A key is asked for each of its spaces; without one, it
     * is all spaces.
     */
    findPerson(name: string, options?: MemoryFindPersonOptions): Promise<PersonFound>;
    /**
     * Return the texts that are held of a person, in every space that the caller may see. It reads every text.
     * A name that is part of another word is not matched. A key is asked for each of its spaces; without one,
     * it is all spaces.
     */
    exportPerson(name: string, options?: MemoryExportPersonOptions): Paged<PersonItems, PersonItem>;
    /**
     * Erase what is held of a person, in every space that the caller may see, with one receipt for each. A
     * space under a legal hold is left as it is, and named. A key is asked for each of its spaces; without one,
     * it is all spaces.
     */
    forgetPerson(name: string, options?: MemoryForgetPersonOptions): Promise<PersonErased>;
    /**
     * Lift a legal hold on a space. Erasures that waited for it are finished then. A key needs `operate`: one
     * that may only erase cannot lift what forbids it to.
     */
    liftLegalHold(space: string, holdId: string, reason: string, options?: MemoryLiftLegalHoldOptions): Promise<LegalHold>;
    /** List the legal holds that stand, in all spaces, the newest first. */
    legalHolds(options?: MemoryLegalHoldsOptions): Promise<LegalHold[]>;
}

export interface SpaceRememberOptions extends CallOptions {
    idempotency_key?: string | null;
    /** The conversation that they belong to: any name that stays the same, such as `telegram-42`. */
    conversation?: string;
    /** An open session to append to, instead of the conversation's current one. */
    session_id?: string | null;
    /** The agent that takes part in the conversation. */
    agent?: string;
    /** Tags for each of the messages, in addition to their own. */
    tags?: readonly string[];
    /** Metadata for each of the messages. A message's own value under a key takes precedence. */
    metadata?: { [name: string]: unknown } | null;
}

export interface SpaceRecallOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    budget?: number | null;
    as_of?: When | null;
    session_id?: string | null;
    limit?: number;
    kinds?: readonly RefKind[];
    least?: Level | null;
    /** Also return every candidate, with its signals and what became of it. */
    explain?: boolean;
}

export interface SpaceAskOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    budget?: number | null;
    as_of?: When | null;
    session_id?: string | null;
    /** How many memories the model is given at most. */
    limit?: number;
    kinds?: readonly RefKind[];
    least?: Level | null;
    /** Answer as if these memories, and what rests on them alone, were not there. Nothing counts as used then. */
    without?: readonly string[];
    /** After how many seconds to give up. */
    deadline?: number;
}

export interface SpaceContextOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    budget?: number | null;
    as_of?: When | null;
    session_id?: string | null;
}

export interface SpaceExplainOptions extends CallOptions {
    /** With more than 1, also what lies up to so many steps before and after it. */
    depth?: number;
}

export interface SpaceCorrectOptions extends CallOptions {
    /** From when on the fact is no longer recalled. As before, if left out. */
    expires_at?: When | null;
}

export interface SpaceShownOptions extends CallOptions {
    /** Only what this session was shown. */
    session_id?: string | null;
    /** Only what had been shown by this time. A day means its end. */
    as_of?: When | null;
    /** How many entries to return at most. */
    limit?: number;
}

export interface SpaceForgetOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    /**
     * The agent whose conversation it is, `assistant` if left out; with a filter alone, only what comes from
     * it.
     */
    agent?: string | null;
    /** Every message of a conversation; with a filter, only what fits it. */
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    /** Every message of a session. */
    session_id?: string | null;
    /** Everything that was said or written before this time. A day means its beginning. */
    before?: When | null;
    /** Which kinds of memory to forget of what fits a filter. What was made of them goes, too. */
    kinds?: readonly RefKind[];
    /** A thread of working memory, with its states and events. */
    thread_id?: string | null;
    /** All that the space holds. */
    everything?: boolean;
    /** Of a document, only the text of the version that `ref` names. It must be a past version. */
    version_only?: boolean;
    /** Also forget lines of other sessions that repeat it after they were shown it. */
    echoes?: boolean;
    /** Who asks for it, for the record; the user who runs the program, if left out. */
    by?: string | null;
    /** Why, for the record: a number of a request, say, and nothing of what is forgotten. */
    reason?: string;
    /** Count and name what would go, and remove nothing. */
    dry_run?: boolean;
    /** Count nothing, instead of raising `NotFound`, if there is nothing to forget. */
    missing_ok?: boolean;
}

export interface SpaceJobsOptions extends CallOptions {
    /** How many jobs to return at most. */
    limit?: number;
}

export interface SpaceLearnOptions extends CallOptions {
    /** Only these kinds of jobs. */
    only?: readonly JobKind[] | null;
}

export interface SpaceErasuresOptions extends CallOptions {
    /** How many erasures to return at most. */
    limit?: number;
}

export interface SpaceTimelineOptions extends CallOptions {
    /** Only what is of one of these kinds. */
    kinds?: readonly TimelineKind[];
    /** Only what had happened by this time. A day means its end. */
    as_of?: When | null;
    /** How many entries to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface SpacePreviewOptions extends CallOptions {
    /** Rules to try, in place of those that are set. */
    rules?: LearningRulesInput | null;
    /** The conversation that they would belong to: its channel is told to the model. */
    conversation?: string;
    /** The agent whose rules apply. */
    agent?: string;
}

export interface SpacePinsOptions extends CallOptions {
    /** What was pinned at this time. A day means its end. */
    as_of?: When | null;
    /** How many facts to return at most. */
    limit?: number;
}

export interface SpaceFeedbackOptions extends CallOptions {
    /** Why, in their words. */
    note?: string | null;
    /** Who says so. It is kept, and not checked. */
    by?: string;
}

export interface SpaceSessionOptions extends CallOptions {
    /** The agent that takes part in it. */
    agent?: string;
    /** What the agent is for. An agent keeps the kind that it first had. */
    kind?: AgentKind;
    /** Learn nothing from the session. It ends an open one of the other sort. */
    ephemeral?: boolean;
    /** Tags for the session, in place of those that it has. */
    tags?: readonly string[] | null;
    /** Metadata for the session, in place of what it has. */
    metadata?: { [name: string]: unknown } | null;
}

export interface SpaceFindSessionOptions extends CallOptions {
    /** The agent that takes part in it. */
    agent?: string;
}

export interface SpaceSessionsOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    /** How many sessions to return at most. */
    limit?: number;
    /** Only sessions older than this one: the last id of the previous page. */
    before?: string;
    /** Only sessions that are open, marked, learnt, failed or ephemeral. */
    state?: SessionState | null;
    /** Only sessions of conversations whose names begin with this. */
    conversation_prefix?: string | null;
}

export interface SpaceChangesOptions extends CallOptions {
    /** Only changes with a higher number; 0 for the oldest that is kept. Without it, the newest ones. */
    after?: number | null;
    /** How many changes to return at most. */
    limit?: number;
    /** For how many seconds to wait for a change if there is none. */
    wait?: number;
}

export interface SpacePageJobsOptions extends CallOptions {
    /** Only jobs in this state. */
    status?: JobStatus | null;
    /** Only jobs of this kind. */
    kind?: JobKind | null;
    /** How many jobs to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface SpaceSpendingOptions extends CallOptions {
    /** The first day; 30 days before the last, if left out. */
    since?: When | null;
    /** The last day; today, if left out. */
    until?: When | null;
}

export interface SpacePageShownOptions extends CallOptions {
    /** Only what this session was shown. */
    session_id?: string | null;
    /** Only this entry. */
    showing_id?: string | null;
    /** Only what had been shown by this time. A day means its end. */
    as_of?: When | null;
    /** How many entries to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface SpaceAddFileOptions extends CallOptions {
    idempotency_key?: string | null;
    /** Its text, if you have that. */
    text?: string | null;
    /** Its bytes, instead of the text: UTF-8, UTF-16 with a byte order mark, or PDF. In JSON as base64. */
    data?: string | null;
    /** `text/plain`, `text/markdown`, `text/html` or `application/pdf`; by the suffix of the name, if left out. */
    media_type?: string | null;
}

export interface SpaceFindPersonOptions extends CallOptions {
    aliases?: readonly string[];
    by?: readonly PersonWay[];
    /** How many refs to return at most, for each space. Everything is counted. */
    limit?: number;
}

export interface SpaceExportPersonOptions extends CallOptions {
    aliases?: readonly string[];
    by?: readonly PersonWay[];
    /** How many items to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the page before. */
    after?: string;
}

export interface SpaceForgetPersonOptions extends CallOptions {
    aliases?: readonly string[];
    by?: readonly PersonWay[];
    /** Why, for the record: a number of a request, say, and not the name. */
    reason?: string;
    /** Count and name what would go, and remove nothing. */
    dry_run?: boolean;
}

export interface SpaceRelearnOptions extends CallOptions {
    /** The model, as PROVIDER:NAME. The one that learns here, if left out. */
    model?: string;
    /** The model of the second reading. The same model, if left out. */
    second_model?: string;
    /** What to learn, in place of the instructions in the rules, of the space and of its agents; empty for none. */
    instructions?: string | null;
    /** A system prompt for the model, in place of ours. The second reading keeps its own. */
    prompt?: string;
    /** Only show what would change. Otherwise it is applied at once. */
    dry_run?: boolean;
}

/** One space: the memory of a user, a project or a team. */
export interface SpaceVerbs<Session> {
    /**
     * Store a text of the user, or messages, for good. When it returns, the messages are durable. They are
     * learnt from in the background.
     */
    remember(messages: string | readonly MessageInput[], options?: SpaceRememberOptions): Promise<Remembered>;
    /** Find what answers a question, the best first. If nothing answers it, `missing` says why. */
    recall(question: string, options?: SpaceRecallOptions): Promise<Recall>;
    /**
     * Answer a question from memory with the model, each sentence with the memories that say so. A sentence
     * that no memory proves is dropped, and without one left the answer is `refused`. What is cited counts as
     * used. `budget` is for the memories that the model reads: 4,000 tokens, if left out.
     */
    ask(question: string, options?: SpaceAskOptions): Promise<MemoryAnswer>;
    /**
     * Return a block of memory to begin a prompt with. It stays the same, byte for byte, until memory changes.
     * Make one when a session starts or was compacted.
     */
    context(question?: string, options?: SpaceContextOptions): Promise<Block>;
    /**
     * Follow a memory to its messages, job, model and prompt, and on to where it was shown. With a `depth`,
     * `walk` has up to 200 memories near it, and counts the others.
     */
    explain(ref: string, options?: SpaceExplainOptions): Promise<Lineage>;
    /**
     * Write what a fact or a document shall say from now on, as a new version. A fact is `stated` then. It
     * keeps kind, origin and sources, so that forgetting those still reaches it. Earlier versions remain.
     */
    correct(ref: string, text: string, options?: SpaceCorrectOptions): Promise<Corrected>;
    /**
     * Count memories as used, and with them the session memories they rest on. Returns how many of them exist.
     * What is used is kept longer by consolidation.
     */
    used(refs: readonly string[], options?: CallOptions): Promise<number>;
    /** Read the ledger: what was shown to which session and when, the newest first. */
    shown(options?: SpaceShownOptions): Promise<Showing[]>;
    /**
     * Remove something for good, with everything that was made of it, and count what went. It is recorded
     * first, finished by any process if this one dies, and answered with a receipt.
     */
    forget(ref?: string | null, options?: SpaceForgetOptions): Promise<Forgotten>;
    /** List the background jobs of the space, the newest first: status, cost, and why one failed. */
    jobs(options?: SpaceJobsOptions): Promise<Job[]>;
    /** Queue a consolidation of the space; a worker carries it out. */
    consolidate(options?: CallOptions): Promise<boolean>;
    /**
     * Learn once from everything that is marked in the space, and report what came of it. The report includes
     * what this process learnt in the background since the last call. With a model this happens by itself: call
     * it to wait for it.
     */
    learn(options?: SpaceLearnOptions): Promise<RunReport>;
    /**
     * List what was forgotten in the space, the newest first: who asked, which places confirmed, and the
     * receipt. It holds no text. It stays when the whole space is forgotten. What was interrupted is finished
     * first.
     */
    erasures(options?: SpaceErasuresOptions): Promise<Erasure[]>;
    /**
     * List what was said, learnt, retired, written, shown and forgotten in the space, the newest first. A page
     * costs the same however much is stored. One with few kinds may be shorter than its limit.
     */
    timeline(options?: SpaceTimelineOptions): Paged<TimelinePage, TimelineEntry>;
    /**
     * Learn from messages without storing anything, and return what would stand, be held or be refused. Only
     * its cost is counted for the day. The model is told what the space knows, as when it learns.
     */
    preview(messages: string | readonly MessageInput[], options?: SpacePreviewOptions): Promise<Preview>;
    /**
     * Pin a fact: `context` has it as long as it holds, next to what the user wants. A corrected fact stays
     * pinned; one that takes its place is not.
     */
    pin(ref: string, options?: CallOptions): Promise<Fact>;
    /** Take the pin of a fact back. */
    unpin(ref: string, options?: CallOptions): Promise<Fact>;
    /** List the facts that are pinned and hold, in the order they were pinned. */
    pins(options?: SpacePinsOptions): Promise<Fact[]>;
    /**
     * Say that a fact was useful, is wrong, or is outdated, and keep who said so. `useful` counts it as used.
     * `wrong` puts it under review: it is not recalled until it is approved. `outdated` ends it now.
     */
    feedback(ref: string, verdict: FactVerdict, options?: SpaceFeedbackOptions): Promise<Feedback>;
    /**
     * Return the active session of a conversation, opening one if there is none. The space, the agent and the
     * conversation are created at first use.
     */
    session(conversation: string, options?: SpaceSessionOptions): Promise<Session>;
    /** Return the newest session of a conversation, or null. Nothing is created. It may have ended. */
    findSession(conversation: string, options?: SpaceFindSessionOptions): Promise<Session | null>;
    /** List the sessions of the space, the newest first. */
    sessions(options?: SpaceSessionsOptions): Paged<SessionEntry[], SessionEntry>;
    /** Return a session as it stands now. */
    getSession(sessionId: string, options?: CallOptions): Promise<Session>;
    /**
     * List what changed in the space, in order: kinds and refs, never a text. Go on with the number of the last
     * one as `after`. With `wait`, it returns as soon as something changes.
     */
    changes(options?: SpaceChangesOptions): Paged<MemoryChange[], MemoryChange>;
    /** List the jobs of the space by status and kind, the last queued first. */
    pageJobs(options?: SpacePageJobsOptions): Paged<JobPage, Job>;
    /** Return a job with its failed attempts and what models answered. */
    job(kind: JobKind, key: string, options?: CallOptions): Promise<JobDetail>;
    /** Let a job of any kind that failed or was given up start over. Returns false if it did neither. */
    retryJob(kind: JobKind, key: string, options?: CallOptions): Promise<boolean>;
    /** Return what failed in the space and what waits for a person. */
    summary(options?: CallOptions): Promise<SpaceSummary>;
    /** List what models cost for the space on each day. */
    spending(options?: SpaceSpendingOptions): Promise<Spending[]>;
    /** List what was shown to whom, the newest first, each memory with its text in the version that was shown. */
    pageShown(options?: SpacePageShownOptions): Paged<ShownPage, ShownBlock>;
    /**
     * Store a file as passages that can be recalled and followed to their place in it. The same bytes again
     * change nothing. Of another version the passages that stayed are kept, new ones added, and those that are
     * gone taken back; one that was forgotten by itself stays away. What a file says is data, never a wish of
     * the user. It is the conversation `file:NAME:` of the assistant.
     */
    addFile(name: string, options?: SpaceAddFileOptions): Promise<AddedFile>;
    /**
     * Count and name what the space holds of a person. It reads every text. A name that is part of another word
     * is not matched.
     */
    findPerson(name: string, options?: SpaceFindPersonOptions): Promise<PersonInSpace>;
    /**
     * Return the texts that the space holds of a person. It reads every text. A name that is part of another
     * word is not matched.
     */
    exportPerson(name: string, options?: SpaceExportPersonOptions): Paged<PersonItems, PersonItem>;
    /**
     * Erase what the space holds of a person, with everything that was made of it, and return a receipt. Whole
     * messages and whole documents go, also those in which others speak of the person: look first.
     */
    forgetPerson(name: string, options?: SpaceForgetPersonOptions): Promise<ErasedInSpace>;
    /**
     * Learn from the whole log again, beside what is known, and return what would change. It follows the rules
     * of the space. Claims are checked as ever, whatever the prompt says.
     */
    relearn(options?: SpaceRelearnOptions): Promise<Relearning>;
    /** Apply a proposed relearning as one change. */
    applyRelearning(relearningId: string, options?: CallOptions): Promise<Relearning>;
    /** Undo an applied relearning: the facts are as they were before it. */
    undoRelearning(relearningId: string, options?: CallOptions): Promise<Relearning>;
}

export interface SessionRecallOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    budget?: number | null;
    as_of?: When | null;
    limit?: number;
    kinds?: readonly RefKind[];
    least?: Level | null;
    /** Also return every candidate, with its signals and what became of it. */
    explain?: boolean;
}

export interface SessionContextOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    budget?: number | null;
    as_of?: When | null;
}

export interface SessionShownOptions extends CallOptions {
    /** Only what had been shown by this time. A day means its end. */
    as_of?: When | null;
    /** How many entries to return at most. */
    limit?: number;
}

export interface SessionForgetOptions extends CallOptions {
    /** Count and name what would go, and remove nothing. */
    dry_run?: boolean;
}

export interface SessionAppendOptions extends CallOptions {
    idempotency_key?: string | null;
}

export interface SessionReadOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    /** Only messages with a higher number. */
    after?: number;
    /** How many messages to return at most. */
    limit?: number;
    /** Only the last so many of them, in order. */
    last?: number | null;
}

export interface SessionTranscriptOptions extends CallOptions {
    /** The number of the message in the middle; the last ones, if left out. */
    around?: number | null;
    /** How many messages to return at most. */
    limit?: number;
}

export interface SessionResetOptions extends CallOptions {
    /** Record that the context had grown too long to go on. */
    emergency?: boolean;
}

export interface SessionLearntOptions extends CallOptions {
    /** For how many seconds to wait at most. */
    wait?: number;
}

/** One session of a conversation. */
export interface SessionVerbs<Session> {
    /** Find what answers a question, the best first. If nothing answers it, `missing` says why. */
    recall(question: string, options?: SessionRecallOptions): Promise<Recall>;
    /**
     * Return a block of memory to begin a prompt with. It stays the same, byte for byte, until memory changes.
     * Make one when a session starts or was compacted.
     */
    context(question?: string, options?: SessionContextOptions): Promise<Block>;
    /** Read the ledger: what was shown to which session and when, the newest first. */
    shown(options?: SessionShownOptions): Promise<Showing[]>;
    /**
     * Remove something for good, with everything that was made of it, and count what went. It is recorded
     * first, finished by any process if this one dies, and answered with a receipt.
     */
    forget(options?: SessionForgetOptions): Promise<Forgotten>;
    /**
     * Store messages in one transaction and return their numbers. When it returns, they are durable. A message
     * whose idempotency key is known keeps its number.
     */
    append(messages: string | readonly MessageInput[], options?: SessionAppendOptions): Promise<number[]>;
    /** Return the messages of the session, in order. */
    read(options?: SessionReadOptions): Paged<Record[], Record>;
    /**
     * Take a message back. Returns false if it was taken back before. It stays in the log, in `transcript` and
     * in archives. Recall, context, timeline and read show it no more, except as of a time before. Nothing is
     * learnt from it, and what rests on it goes. A thread keeps what it has taken in. `forget` erases.
     */
    retract(number: number, options?: CallOptions): Promise<boolean>;
    /**
     * Return the messages around one, each with the facts, documents and claims made of it. It takes the same
     * few queries however long the session is.
     */
    transcript(options?: SessionTranscriptOptions): Promise<Transcript>;
    /**
     * Signal the end of a turn. Returns whether the session was marked to be learnt from. A session is marked
     * when more than five messages have not been learnt from.
     */
    endTurn(options?: CallOptions): Promise<boolean>;
    /** Signal that the agent is idle. Returns whether the session was marked to be learnt from. */
    idle(options?: CallOptions): Promise<boolean>;
    /** End the session and return the next one of its conversation. */
    reset(options?: SessionResetOptions): Promise<Session>;
    /** Signal that the context was compacted: end the session and return the next one. */
    compacted(options?: CallOptions): Promise<Session>;
    /** End the session, with none to follow. */
    end(options?: CallOptions): Promise<Session>;
    /**
     * Learn from the session again after learning failed. Returns false if it had not failed. With a model,
     * also learns again from a session that was only quoted because there was none.
     */
    retry(options?: CallOptions): Promise<boolean>;
    /** Return what was learnt of the session as a whole, or null. */
    summary(options?: CallOptions): Promise<SessionMemory | null>;
    /** Count what an answer cites of what its session was shown, and return the answer without the citations. */
    cited(answer: string, options?: CallOptions): Promise<string>;
    /**
     * Wait until all that was said in the session so far has been learnt from, and return what came of it. It
     * marks the session if need be, as `idle` does, and returns early if learning was given up. `done` says
     * whether it was worth the wait.
     */
    learnt(options?: SessionLearntOptions): Promise<SessionLearnt>;
}

export interface FactsAllOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    /** The facts that held at this time. A day means its end. */
    as_of?: When | null;
    /** How many facts to return at most. */
    limit?: number;
    /** Only facts that follow this one: the last id of the previous page. */
    after?: string;
}

export interface FactsPageOptions extends CallOptions {
    /** Only facts that hold, that ended, or versions that were retired; all of them, if left out. */
    state?: FactState | null;
    /** Only facts about this. */
    subject?: string | null;
    /** Only facts about the value of this slot, such as `home`. */
    slot?: string | null;
    /** Only facts of this kind. */
    kind?: FactKind | null;
    /** Only facts of this origin. */
    origin?: string | null;
    /**
     * The newest or the oldest first: by when they were recorded, or retired ones alone by when they were
     * retired.
     */
    order?: Order;
    /** What was known at this time. A day means its end. */
    as_of?: When | null;
    /** How many facts to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface FactsSearchOptions extends CallOptions {
    origins?: readonly string[] | null;
    tags?: readonly string[];
    agent?: string | null;
    conversation?: string | null;
    speaker?: string | null;
    since?: When | null;
    until?: When | null;
    where?: { [name: string]: unknown } | null;
    /** How many facts to return at most. */
    limit?: number;
    /** Search what was known at this time. A day means its end. */
    as_of?: When | null;
}

export interface FactsSaveOptions extends CallOptions {
    /** The version that it replaces, 0 for none. Any version, if left out. */
    expected?: number | null;
}

/** The facts of a space. */
export interface FactsVerbs {
    /** List facts, ordered by id. */
    all(options?: FactsAllOptions): Paged<Fact[], Fact>;
    /**
     * List facts by time, also those that were retired, each with what took its place. Each version of a fact
     * is one row. A page costs the same however many facts there are.
     */
    page(options?: FactsPageOptions): Paged<FactPage, FactEntry>;
    /** Return the facts that share words with a query, the best match first. */
    search(query: string, options?: FactsSearchOptions): Promise<Fact[]>;
    /** Return the facts whose metadata has a value under a key, the oldest first. */
    byMetadata(key: string, value: string, options?: CallOptions): Promise<Fact[]>;
    /** Count the facts that hold now. */
    count(options?: CallOptions): Promise<number>;
    /** Return a fact as it stands now. */
    get(factId: string, options?: CallOptions): Promise<Fact>;
    /** Store a fact and return it as stored. */
    save(fact: FactInput, options?: FactsSaveOptions): Promise<Fact>;
    /** Return every version of a fact, the oldest first. The last may be retired. */
    versions(factId: string, options?: CallOptions): Promise<Fact[]>;
    /** Return the messages that a learnt fact rests on. */
    sources(factId: string, options?: CallOptions): Promise<SourceMessage[]>;
    /** Return the exact words that a learnt fact rests on, each time it was said. */
    quotes(factId: string, options?: CallOptions): Promise<Quote[]>;
}

export interface ReviewsAllOptions extends CallOptions {
    /** Only claims with this status: held, refused, approved or rejected. */
    status?: ReviewStatus;
    /** How many claims to return at most. */
    limit?: number;
    /** Only claims that follow this one: the last id of the previous page. */
    after?: string;
}

export interface ReviewsProposeOptions extends CallOptions {
    /** What the fact shall say, in one sentence. The text of the message, if left out. */
    statement?: string | null;
    /** What kind of fact it is to be. */
    kind?: FactKind;
}

export interface ReviewsApproveOptions extends CallOptions {
    /** What the fact shall say instead, in one sentence. */
    statement?: string | null;
    /** Why: kept with the decision. */
    note?: string | null;
}

export interface ReviewsRejectOptions extends CallOptions {
    /** Why: kept with the decision. */
    note?: string | null;
}

export interface ReviewsApproveAllOptions extends CallOptions {
    /** Why: kept with each decision. */
    note?: string | null;
}

export interface ReviewsRejectAllOptions extends CallOptions {
    /** Why: kept with each decision. */
    note?: string | null;
}

/** The claims of a space that need review. */
export interface ReviewsVerbs {
    /** List claims that were not believed at once, the newest first, each with its quotes and the reason. */
    all(options?: ReviewsAllOptions): Paged<Review[], Review>;
    /** Count the claims in the inbox by status. */
    count(options?: CallOptions): Promise<{ [name: string]: number }>;
    /** Return a claim with its quotes, the reason why it was not believed, and what was decided. */
    get(reviewId: string, options?: CallOptions): Promise<Review>;
    /**
     * Put what a message says into the inbox, as a claim for a person to decide about. A message is proposed
     * once: then the claim is returned as it stands, decided or not.
     */
    propose(ref: string, options?: ReviewsProposeOptions): Promise<Review>;
    /**
     * Believe a claim, as it is or in other words: it becomes a fact that is `stated`, with the user's
     * authority. It replaces or ends what the claim says it does. A claim that was refused can be approved,
     * too.
     */
    approve(reviewId: string, options?: ReviewsApproveOptions): Promise<Review>;
    /** Decide that a claim is not believed. It stays listed as rejected. */
    reject(reviewId: string, options?: ReviewsRejectOptions): Promise<Review>;
    /** Believe some claims as they are, all or none. */
    approveAll(reviewIds: readonly string[], options?: ReviewsApproveAllOptions): Promise<Review[]>;
    /** Decide that some claims are not believed, all or none. */
    rejectAll(reviewIds: readonly string[], options?: ReviewsRejectAllOptions): Promise<Review[]>;
}

export interface RulesSetOptions extends CallOptions {
    /** The agent that they are for; the whole space, if left out. */
    agent?: string | null;
}

/** The rules by which a space learns. */
export interface RulesVerbs {
    /** Return the rules by which the space, or an agent in it, learns. */
    get(agent?: string | null, options?: CallOptions): Promise<LearningRules>;
    /**
     * Set the rules by which the space, or an agent in it, learns from now on, and return them as stored. The
     * model that learns follows them. They never make it believed without proof.
     */
    set(rules: LearningRulesInput, options?: RulesSetOptions): Promise<LearningRules>;
}

export interface DocumentsTreeOptions extends CallOptions {
    as_of?: When | null;
    /** Only documents whose paths begin with this, such as `~/memory/people/`. */
    path_prefix?: string;
    /** How many documents to return at most, in the order of their paths; all, if left out. */
    limit?: number | null;
}

export interface DocumentsSearchOptions extends CallOptions {
    as_of?: When | null;
    /** How many documents to return at most. */
    limit?: number;
}

export interface DocumentsFindOptions extends CallOptions {
    as_of?: When | null;
}

export interface DocumentsChildrenOptions extends CallOptions {
    as_of?: When | null;
}

export interface DocumentsOutlineOptions extends CallOptions {
    as_of?: When | null;
    /** How many documents to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface DocumentsGetOptions extends CallOptions {
    /** The document as it stood at this time. A day means its end. */
    as_of?: When | null;
}

export interface DocumentsCreateOptions extends CallOptions {
    idempotency_key?: string | null;
    /** Its id; one is made, if left out. */
    document_id?: string | null;
    /** The agent that wrote it: then it is the assistant's word, not the user's. */
    agent?: string | null;
}

export interface DocumentsUpdateOptions extends CallOptions {
    idempotency_key?: string | null;
    /** Why the user changed it. It is kept with the version. */
    reason?: string;
    /** The agent that changed it: then it is the assistant's word from now on, not the user's. */
    agent?: string | null;
}

export interface DocumentsDeleteOptions extends CallOptions {
    idempotency_key?: string | null;
    /** Do nothing, instead of raising `NotFound`, if the document does not exist. */
    missing_ok?: boolean;
}

export interface DocumentsHistoryOptions extends CallOptions {
    /** How many versions to return at most. */
    limit?: number;
    /** Only what follows: the `next` of the previous page. */
    after?: string;
}

export interface DocumentsBlameOptions extends CallOptions {
    /** The version; the newest, if left out. */
    version?: number | null;
}

export interface DocumentsChangesOptions extends CallOptions {
    /** How many change sets to return at most. */
    limit?: number;
}

export interface DocumentsApproveOptions extends CallOptions {
    /** Only the changes of these documents; the others are discarded. All of them, if left out. */
    paths?: readonly string[] | null;
    /** By path, what a document shall say instead of what was proposed. */
    texts?: { [name: string]: string } | null;
}

/** The documents of a space. */
export interface DocumentsVerbs {
    /** Return every document by its path, without its text. */
    tree(options?: DocumentsTreeOptions): Promise<{ [name: string]: DocumentEntry }>;
    /** Return the documents that share words with a query, the best match first. */
    search(query: string, options?: DocumentsSearchOptions): Promise<Document[]>;
    /** Follow a path to a document. Returns null where it leads nowhere. */
    find(path: string, options?: DocumentsFindOptions): Promise<Document | null>;
    /** Return the children of a document, or the top of the tree, ordered by name. */
    children(documentId?: string | null, options?: DocumentsChildrenOptions): Promise<Document[]>;
    /**
     * Return the children of a document, or the top of the tree, without texts, each with how many stand below
     * it.
     */
    outline(documentId?: string | null, options?: DocumentsOutlineOptions): Paged<OutlinePage, OutlineEntry>;
    /** Return a document. */
    get(documentId: string, options?: DocumentsGetOptions): Promise<Document>;
    /** Write a new document. Secrets are cut out of its text first. */
    create(draft: DocumentDraftInput, options?: DocumentsCreateOptions): Promise<Document>;
    /** Write the next version of a document. */
    update(documentId: string, draft: DocumentDraftInput, expected: number, options?: DocumentsUpdateOptions): Promise<Document>;
    /** Return the version that was written or deleted with an idempotency key, or null. */
    written(key: string, options?: CallOptions): Promise<Document | null>;
    /**
     * End a document that has no children and that no other links to. Its versions remain; `forget` erases
     * them.
     */
    delete(documentId: string, expected: number, options?: DocumentsDeleteOptions): Promise<void>;
    /** Write an old version again as the newest. */
    restore(documentId: string, version: number, expected: number | null, options?: CallOptions): Promise<Document>;
    /** Return every version of a document, the oldest first: what it said, who wrote it, and why. */
    versions(documentId: string, options?: CallOptions): Promise<Document[]>;
    /** List the versions of a document without their texts, the newest first: when, by whom, and why. */
    history(documentId: string, options?: DocumentsHistoryOptions): Paged<HistoryPage, DocumentEntry>;
    /**
     * Return each line of a document with the version that brought it, and its author and sources. Up to 200
     * versions are compared; what is older counts as brought by the last of them.
     */
    blame(documentId: string, options?: DocumentsBlameOptions): Promise<Blame>;
    /** Compare two versions of a document, line by line. */
    diff(documentId: string, before: number, after: number, options?: CallOptions): Promise<string>;
    /** Return what a version rests on: session memories, facts and messages. */
    sources(documentId: string, version: number, options?: CallOptions): Promise<DocumentSource[]>;
    /** Return the memory of the space as files by name, as of the last consolidation. */
    files(options?: CallOptions): Promise<{ [name: string]: string }>;
    /** List what consolidations changed, or propose to change, the newest first. */
    changes(options?: DocumentsChangesOptions): Promise<ChangeSet[]>;
    /** Apply a change set that was held for review, whole or in part, as it was proposed or in other words. */
    approve(run: string, options?: DocumentsApproveOptions): Promise<void>;
    /** Discard a change set that was held for review, with its text. */
    reject(run: string, options?: CallOptions): Promise<void>;
    /** Restore the tree to what it was before a run. */
    undo(run: string, options?: CallOptions): Promise<void>;
}

export interface ThreadsOpenOptions extends CallOptions {
    /** The session that it is the working memory of. */
    session_id?: string | null;
    /** Process events as they come (auto), or one by one (stepping). */
    mode?: Mode | null;
}

export interface ThreadsAllOptions extends CallOptions {
    /** How many threads to return at most. */
    limit?: number;
    /** Only threads that follow this one: the last id of the previous page. */
    after?: string;
}

export interface ThreadsStatesOptions extends CallOptions {
    /** Only states with a higher number. */
    after?: number | null;
    /** How many states to return at most; all of them, if left out. */
    limit?: number | null;
}

export interface ThreadsForkOptions extends CallOptions {
    /** The id of the new thread; one is made, if left out. */
    into?: string | null;
    /** Auto or stepping. */
    mode?: Mode | null;
}

/** The working memory of a space. */
export interface ThreadsVerbs {
    /** Return a thread, creating it if there is none with this id. */
    open(threadId?: string | null, options?: ThreadsOpenOptions): Promise<Thread>;
    /** List the threads of the space, ordered by id. */
    all(options?: ThreadsAllOptions): Paged<Thread[], Thread>;
    /** Return a thread as it stands now. */
    get(threadId: string, options?: CallOptions): Promise<Thread>;
    /** Queue an event. In auto mode, process it and whatever its length makes necessary. */
    dispatch(threadId: string, event: EventInput, options?: CallOptions): Promise<DispatchResult>;
    /** Process one event. If none is waiting, truncate or compact if that is due. */
    step(threadId: string, options?: CallOptions): Promise<StepResult>;
    /** Change how a thread takes its events. Back in auto mode, process what has been waiting. */
    setMode(threadId: string, mode: Mode, options?: CallOptions): Promise<DispatchResult>;
    /** Return the events that wait, in the order in which they will be processed. */
    queue(threadId: string, options?: CallOptions): Promise<QueuedEvent[]>;
    /** Return the events that could not be processed and were set aside, with the reason. */
    failedEvents(threadId: string, options?: CallOptions): Promise<FailedEvent[]>;
    /** Return the states that a thread has had, in order and without the chunks. */
    states(threadId: string, options?: ThreadsStatesOptions): Paged<StateInfo[], StateInfo>;
    /** Return one state of a thread with its chunks. */
    state(threadId: string, number?: number | null, options?: CallOptions): Promise<State>;
    /** Compare two states of a thread. */
    diff(threadId: string, before: number, after: number, options?: CallOptions): Promise<StateDiff>;
    /** Return the current state as messages within a token budget, with a report on every chunk. */
    prompt(threadId: string, budget: number, options?: CallOptions): Promise<Prompt>;
    /** Compare the length of a thread with the thresholds for compaction and truncation. */
    usage(threadId: string, options?: CallOptions): Promise<TokenUsage>;
    /**
     * Open a new thread that begins where this one was at a state. It is forgotten with the conversation that
     * this thread works on.
     */
    fork(threadId: string, at: number, options?: ThreadsForkOptions): Promise<Thread>;
    /** Rebuild the current state from the events alone, without a model. */
    replay(threadId: string, options?: CallOptions): Promise<Chunk[]>;
}

export interface KeysCreateOptions extends CallOptions {
    /** The spaces that it opens; all of them, if left out. */
    spaces?: readonly string[] | null;
    /** When it stops working; never, if left out. */
    expires_at?: When | null;
}

export interface KeysRotateOptions extends CallOptions {
    /** For how many seconds the old key still works. */
    overlap?: number;
}

/** The API keys that give callers of a server access to this memory. */
export interface KeysVerbs {
    /** Create a key. Its text is returned here and can never be read again. */
    create(name: string, scopes: readonly Scope[], options?: KeysCreateOptions): Promise<NewKey>;
    /** List all keys, the oldest first, with those that expired or were revoked. */
    all(options?: CallOptions): Promise<KeyInfo[]>;
    /** Replace a key with one that allows the same. The old one expires after an overlap. */
    rotate(prefix: string, options?: KeysRotateOptions): Promise<NewKey>;
    /** Revoke a key, in this process at once and in others within seconds. */
    revoke(prefix: string, options?: CallOptions): Promise<void>;
}

export interface MemoryTestsAddOptions extends CallOptions {
    /** Texts or refs that must be among the first items. A text counts if an item contains it, in any case. */
    must?: readonly string[];
    /** Texts or refs that must not be among them. */
    must_not?: readonly string[];
    /** Ask what was known at this time. A day means its end. */
    as_of?: When | null;
    /** How many items to look at. */
    limit?: number;
    /** Which kinds of memory to ask. */
    kinds?: readonly RefKind[];
    /** Ask only what has all of these tags. */
    tags?: readonly string[];
    /** Why the test is there. */
    note?: string;
    /** The fact or document that it was made from. When the text of that is forgotten, the test is removed. */
    about?: string | null;
    /** A name for the test. One with the same name is replaced. */
    test_id?: string | null;
}

export interface MemoryTestsAllOptions extends CallOptions {
    /** How many tests to return at most. */
    limit?: number;
    /** Only tests that follow this one: the last id of the previous page. */
    after?: string;
}

export interface MemoryTestsRunOptions extends CallOptions {
    /** Only the tests with these ids. */
    only?: readonly string[] | null;
    /** Run these instead of those that the space keeps. They are not stored. */
    tests?: readonly MemoryTestInput[] | null;
}

/** The memory tests of a space. */
export interface MemoryTestsVerbs {
    /** Keep a memory test and return it as stored. */
    add(question: string, options?: MemoryTestsAddOptions): Promise<MemoryTest>;
    /** List the memory tests of the space, ordered by id. */
    all(options?: MemoryTestsAllOptions): Paged<MemoryTest[], MemoryTest>;
    /** Remove a memory test. */
    remove(testId: string, options?: CallOptions): Promise<void>;
    /**
     * Ask the question of each memory test, and compare what comes back with what must and must not. It only
     * recalls: no language model is called, and nothing goes into the ledger or counts as used.
     */
    run(options?: MemoryTestsRunOptions): Promise<MemoryTestResult[]>;
}

export interface SpaceRetentionSetOptions extends CallOptions {
    origin?: string | null;
}

export interface SpaceRetentionRemoveOptions extends CallOptions {
    origin?: string | null;
}

export interface SpaceRetentionSweepOptions extends CallOptions {
    /** Count and name what would go, and remove nothing. */
    dry_run?: boolean;
}

export interface SpaceRetentionHoldOptions extends CallOptions {
    /** Who places it, for the record; the user who runs the program, if left out. */
    by?: string | null;
}

export interface SpaceRetentionHoldsOptions extends CallOptions {
    /** How many holds to return at most. */
    limit?: number;
}

/** How long a space keeps what, and legal holds on it. */
export interface SpaceRetentionVerbs {
    /** List the rules by which the space erases what is old, with the one that the settings make for all spaces. */
    all(options?: CallOptions): Promise<RetentionRule[]>;
    /**
     * Let what is older than so many days be erased from now on, and return the rule. A worker erases it with a
     * receipt, or `sweep` at once. What was made of it goes, too. A rule of the same kind and origin is
     * replaced.
     */
    set(kind: RetentionKind, olderThan: number, options?: SpaceRetentionSetOptions): Promise<RetentionRule>;
    /** Remove the rule of a kind and origin. */
    remove(kind: RetentionKind, options?: SpaceRetentionRemoveOptions): Promise<void>;
    /** Erase now what the rules say and facts that have expired, as a worker does by itself. */
    sweep(options?: SpaceRetentionSweepOptions): Promise<Swept>;
    /** Place a legal hold: nothing of the space is erased until every hold on it is lifted. */
    hold(reason: string, options?: SpaceRetentionHoldOptions): Promise<LegalHold>;
    /** List the legal holds on the space, the newest first, with those that were lifted. */
    holds(options?: SpaceRetentionHoldsOptions): Promise<LegalHold[]>;
}

export interface WebhooksCreateOptions extends CallOptions {
    /** The space whose changes are sent; those of all spaces, if left out. */
    space?: string | null;
}

export interface WebhooksDeliveriesOptions extends CallOptions {
    /** Only those of this space. */
    space?: string | null;
    /** How many deliveries to return at most. */
    limit?: number;
}

/** The webhooks that receive changes. */
export interface WebhooksVerbs {
    /**
     * Create a webhook. Its secret is returned here and can never be read again. It is told of what changes
     * from now on. A worker sends the changes; those of a space arrive in order.
     */
    create(url: string, options?: WebhooksCreateOptions): Promise<NewWebhook>;
    /** List all webhooks, the oldest first, with those that were disabled. */
    all(options?: CallOptions): Promise<WebhookInfo[]>;
    /** Delete a webhook with its deliveries. A request that is on its way still arrives. */
    delete(webhookId: string, options?: CallOptions): Promise<void>;
    /** List what was sent to a webhook, the last tried first: when, how often, and what it answered. */
    deliveries(webhookId: string, options?: WebhooksDeliveriesOptions): Promise<Delivery[]>;
}
