// Written by tools/make_typescript.py from the table of operations and the OpenAPI document. Do not edit.

/** A time. Text is in ISO 8601. A date means its end, or its start for fields that begin something. */
export type When = Date | string;

/** Options of every method. */
export interface CallOptions {
    /** Cancels the call, which rejects with the reason of the signal. */
    signal?: AbortSignal;
}

/** A page of a list. `next` is the cursor of the next page, empty on the last one: pass it as `after`. */
export interface Page<Item> {
    items: Item[];
    next: string;
}

/** Await it for a page, or iterate with `for await` over the items of this page and all later pages. */
export type Paged<Result, Item> = Promise<Result> & AsyncIterable<Item>;

/** An entry of the access log: who did what to which memories, without text or questions. */
export interface AccessEntry {
    id: string;
    at: Date;
    interface: Interface;
    operation: string;
    space: string;
    key: string;
    person: string;
    refs: string[];
}

/** A file in memory: the session of its passages, the SHA-256 of its bytes, and counts of its passages. */
export interface AddedFile {
    session: SessionInfo;
    sha256: string;
    media_type: string;
    added: number;
    unchanged: number;
    retracted: number;
    cut: number;
    deleted_before: number;
}

/** An answer that is supported by memories. If it has no sentences, `refusal` is the reason. */
export interface Answer {
    question: string;
    text: string;
    sentences: AnswerSentence[];
    refusal: Refusal | null;
    cited: Match[];
    sources: string[];
    searches: string[];
    excluded: string[];
    ignored: string[];
    rejected_sentences: SentenceFault[];
    certainty: Certainty;
    model: string | null;
    usage: Usage | null;
    as_of: Date | null;
    known_at: Date | null;
    note: string | null;
}

/** A sentence of an answer, and the memories that support it. */
export interface AnswerSentence {
    text: string;
    refs: string[];
    working: string | null;
}

/** Health of learning: pending and abandoned jobs, costs, and violations. */
export interface Audit {
    counts: { [name: string]: { [name: string]: number } };
    overdue: number;
    expired_leases: number;
    facts_without_source: number;
    broken_sessions: number;
    spaces_checked: number;
    spent_today: Usage;
    daily_budget: number | null;
    violations: number;
}

/** Author of a version, with a reason: a user, an agent, or a job with the token of its lease. */
export interface Author {
    kind: string;
    id: string;
    reason: string;
    token: number | null;
    run: string;
}

/** The lines of a document version, and the versions that introduced them, newest first. */
export interface Blame {
    document_id: string;
    version: number;
    lines: BlamedLine[];
    versions: BlamedVersion[];
}

/** A line of a document, and the version that introduced it. */
export interface BlamedLine {
    text: string;
    version: number;
    earlier: boolean;
}

/** A version that introduced lines, with its time, author and sources. */
export interface BlamedVersion {
    version: number;
    at: Date;
    author: Author;
    sources: DocumentSource[];
}

/** A memory that was considered, with its signals, its rank after each stage, and its outcome. */
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
export type Certainty = "high" | "fair" | "weak";

/** A change in a space. It contains no text: use the ref to read the item. */
export interface Change {
    space: string;
    number: number;
    at: Date;
    kind: ChangeKind;
    ref: string;
    session_id: string | null;
}

/** Kind of a change. */
export type ChangeKind = "session.learned" | "session.forgotten" | "message.retracted" | "fact.added" | "fact.corrected" | "fact.replaced" | "fact.ended" | "fact.restored" | "fact.pinned" | "fact.unpinned" | "fact.forgotten" | "review.pending" | "review.refused" | "document.changed" | "document.deleted" | "document.forgotten" | "space.forgotten" | "space.imported" | "space.restored";

/** Document changes that a run applied or proposes. */
export interface ChangeSet {
    run: string;
    status: ChangeStatus;
    changes: DocumentChange[];
    created_at: Date;
    settled_at: Date | null;
}

/** The status of a change set. */
export type ChangeStatus = "pending" | "applied" | "rejected" | "superseded" | "undone";

/** An existing fact, and the claim that would replace it, from the same words or for the same slot. */
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

/** Type of a chunk, which determines the defaults of other fields. */
export type ChunkType = "SYSTEM" | "AGENT" | "WORKFLOW" | "DELEGATION" | "ENVIRONMENT" | "WORKING_FLOW" | "OUTPUT";

/** Effect of a claim on existing facts. */
export type ClaimChange = "new" | "same" | "replaces" | "corrects" | "ends" | "forget";

/** A claimed fact, with its quotes and its effect on the facts listed by id. */
export interface ClaimedFact {
    fact: Fact;
    quotes: Quote[];
    change: ClaimChange;
    existing_ids: string[];
    later_ids: string[];
    rests_on: string[];
}

/** A memory block for a prompt. Its text stays identical until memory changes, and may be empty. */
export interface ContextBlock {
    text: string;
    tokens: number;
    items: Match[];
    digest: string;
}

/** An entry of the context log: the refs that were shown, when, and to which session, if any. */
export interface ContextEntry {
    id: string;
    purpose: Purpose;
    session_id: string | null;
    shown_at: Date;
    tokens: number;
    digest: string;
    refs: string[];
}

/** An entry of the context log with its conversation, its agent, and the texts of its memories. */
export interface ContextLogEntry {
    id: string;
    purpose: Purpose;
    session_id: string | null;
    shown_at: Date;
    tokens: number;
    digest: string;
    refs: string[];
    conversation: string;
    agent: string;
    memories: ShownMemory[];
}

/** A correction: the new version, the one it replaced, and the stored text. */
export interface Correction {
    ref: string;
    previous: string;
    text: string;
}

/** A person's decision about quoted words: who decided what and when, and the text that is valid since. */
export interface Decision {
    kind: DecisionKind;
    actor: string;
    decided_at: Date;
    fact_id: string | null;
    text: string | null;
}

/** Decision of a person about quoted words. */
export type DecisionKind = "corrected" | "approved" | "rejected" | "reported_wrong" | "ended" | "forgotten" | "deleted";

/**
 * Counts of deleted items, or with `dry_run` of items to delete. `documents` counts versions without their
 * text.
 */
export interface Deletion {
    messages: number;
    facts: number;
    session_summaries: number;
    documents: number;
    threads: number;
    others: number;
    tests: number;
    mentioning_tests: string[];
    dry_run: boolean;
    erasure_id: string;
    refs: string[];
    document_paths: string[];
    exposed_sessions: string[];
    pending: string[];
    receipt: string;
}

/** The delivery status of one change. */
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
    /** Ref of this version: `document:ID:VERSION`. */
    ref: string;
}

/** A change of one document. With `draft` null it is deleted; with `expected` null it does not exist yet. */
export interface DocumentChange {
    path: string;
    draft: DocumentDraft | null;
    document_id: string | null;
    expected: number | null;
    sources: DocumentSource[];
}

/** The content of a document's next version, and its position in the tree. `parent` is null at the top. */
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

/** A document in the tree, without its text and links. `documents.get` returns those. */
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
    /** Ref of this version: `document:ID:VERSION`. */
    ref: string;
}

/** One source of a version. A message is identified by its session and its number. */
export interface DocumentSource {
    kind: SourceKind;
    id: string;
    number: number;
}

/** Why a session ended. */
export type EndReason = "closed" | "reset" | "emergency" | "compaction" | "restored";

/** A deletion request and its progress. */
export interface Erasure {
    space: string;
    id: string;
    requested_by: string;
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

/** Evidence for a fact. */
export type Evidence = "quoted" | "confirmed" | "stated" | "imported";

/** A source message of a memory, cut to the relevant part. */
export interface Excerpt {
    source: SourceMessage;
    text: string;
    origin: string;
    said_at: Date;
    confidential: boolean;
}

/** A statement, with the session it was learned from. */
export interface Fact {
    id: string;
    text: string;
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
    event_from: Date | null;
    event_to: Date | null;
    speaker: string | null;
    scope: string | null;
    flags: string[];
    expires_at: Date | null;
    pinned_at: Date | null;
    evidence: Evidence;
    recorded_at: Date | null;
    replaced_at: Date | null;
    replaced_by: string | null;
    status: FactStatus;
    doubted_by: string | null;
    version: number;
    created_by: Maker | null;
    /** Ref of this version: `fact:ID:VERSION`. */
    ref: string;
}

/** A version of a fact in a list, with its status and its replacement. */
export interface FactEntry {
    fact: Fact;
    status: FactStatus;
    replaced_by: string | null;
    replaced_by_text: string | null;
    doubted_by: string | null;
    doubted_by_text: string | null;
}

/** Built-in kind of a fact. The last three instruct an agent, so only a user's own words can create one. */
export type FactKind = "detail" | "knowledge" | "decision" | "goal" | "event" | "preference" | "instruction" | "procedure";

/** State of a version of a fact at the moment that was asked about, which is now by default. */
export type FactStatus = "current" | "upcoming" | "doubtful" | "ended" | "replaced" | "corrected" | "pending" | "earlier";

/** A person's verdict on a fact. */
export type FactVerdict = "useful" | "wrong" | "outdated";

/** A failed attempt of a job, with its error. */
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

/** Outcome of a candidate: shown, or the reason for leaving it out. */
export type Fate = "shown" | "unrelated" | "uncertain" | "beyond_limit" | "over_budget" | "duplicate" | "superseded" | "ended" | "erased" | "question";

/** Feedback on a version of a fact. `review_id` is the review that it opened, if any. */
export interface Feedback {
    id: string;
    ref: string;
    verdict: FactVerdict;
    actor: string;
    rated_at: Date;
    note: string | null;
    review_id: string | null;
}

/** Reaction when a person says in a conversation that something should be forgotten. */
export type ForgetPolicy = "ask" | "delete" | "ignore";

/** Pending work in all spaces. `jobs` has the number of unfinished jobs by kind and status. */
export interface Health {
    jobs: { [name: string]: { [name: string]: number } };
    pending: number;
}

/** Interface through which a request was made. */
export type Interface = "library" | "cli" | "mcp" | "hook" | "http" | "web" | "probe";

/** Current state of a job: ids, times and counts, without content. */
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

/** A job with its failed attempts and model answers, newest first. */
export interface JobDetail {
    job: Job;
    failures: FailedAttempt[];
    answers: RecordedAnswer[];
}

/**
 * Kind of a job: learn from a session, write a transcript into documents, consolidate what a space has learned,
 * or index its content.
 */
export type JobKind = "extract" | "write" | "consolidate" | "index";

/** The status of a job. `waiting` checks its session later, `failed` is retried, and `abandoned` is not. */
export type JobStatus = "waiting" | "queued" | "running" | "failed" | "done" | "abandoned";

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

/** Report of a run. `blocked` says why no job was leased, if something prevented it. `str()` sums it up. */
export interface LearnReport {
    leased: number;
    outcomes: { [name: string]: number };
    settled: { [name: string]: number };
    for_review: { [name: string]: number };
    refused: { [name: string]: number };
    leases_lost: number;
    scanned: number;
    queued: number;
    blocked: string | null;
}

/** Facts and claims learned from a session so far. */
export interface LearnedSession {
    session_id: string;
    done: boolean;
    until: number;
    new: string[];
    pending: string[];
    rejected: string[];
    error: string | null;
}

/** Learning rules of a space, or of one agent in it. Unset fields use the settings. */
export interface LearningRules {
    instructions: string;
    owner: string | null;
    time_zone: string | null;
    slots: { [name: string]: string };
    kinds: { [name: string]: string };
    review_kinds: (FactKind | string)[];
    expires_after: { [name: string]: number };
    review_flags: string[] | null;
    forget_requests: ForgetPolicy;
}

/** A legal hold on a space, with its reason. It stays listed after it was lifted. */
export interface LegalHold {
    space: string;
    id: string;
    reason: string;
    placed_by: string;
    placed_at: Date;
    lifted_by: string;
    lifted_at: Date | null;
    lift_reason: string;
}

/** A claim that quotes a message and was not accepted automatically. */
export interface LineClaim {
    review_id: string;
    status: ReviewStatus;
    reason: string;
}

/** The newest version of a fact that is based on a message. */
export interface LineFact {
    ref: string;
    text: string;
    retired: boolean;
}

/** Sources, history and uses of a memory. `text` is null if it was deleted. */
export interface Lineage {
    ref: string;
    text: string | null;
    origin: string | null;
    at: Date | null;
    metadata: { [name: string]: unknown };
    created_by: Maker | null;
    written_by: string | null;
    jobs: Job[];
    sources: Excerpt[];
    source_refs: string[];
    derived: string[];
    versions: Version[];
    replaced_by: string | null;
    because_of: string | null;
    because_text: string | null;
    hidden_by: string | null;
    hidden_at: Date | null;
    context_log: ContextEntry[];
    usage: Use | null;
    fact: Fact | null;
    quotes: Quote[];
    feedback: Feedback[];
    walk: LineageWalk | null;
}

/** A memory related to another: `step` is negative for sources, positive for derived memories. */
export interface LineageStep {
    ref: string;
    step: number;
    via: string;
    text: string | null;
    origin: string | null;
    at: Date | null;
}

/** Sources and derived memories several steps away, nearest first, at most 200. */
export interface LineageWalk {
    steps: LineageStep[];
    beyond: number;
}

/** Creator of a memory: the model, the prompt and the extractor, each with its version. */
export interface Maker {
    model: string;
    prompt: string;
    extractor: string;
}

/** One memory that was found. `score`, between 0 and 1, ranks it; `duplicates` names memories that say the same. */
export interface Match {
    ref: string;
    text: string;
    origin: string;
    said_at: Date;
    score: number;
    tokens: number;
    label: string;
    certainty: Certainty;
    probability: number;
    speaker: string | null;
    session_id: string | null;
    fact: Fact | null;
    duplicates: string[];
    sources: SourceMessage[];
    excerpts: Excerpt[];
    tags: string[];
    metadata: { [name: string]: unknown };
    space: string;
    replaced_by: string | null;
    status: FactStatus | null;
    because_of: string | null;
    because_text: string | null;
    confidential: boolean;
    section: string;
    reply_to: Excerpt | null;
}

/** A question with texts that must or must not be among the first results of recall. */
export interface MemoryTest {
    id: string;
    question: string;
    must: string[];
    must_not: string[];
    as_of: Date | null;
    known_at: Date | null;
    limit: number;
    kinds: RefKind[];
    tags: string[];
    note: string;
    about: string | null;
    created_at: Date | null;
}

/** The result of one memory test. `absent` lists missing texts, `unwanted` lists returned texts of `must_not`. */
export interface MemoryTestResult {
    test: MemoryTest;
    passed: boolean;
    absent: string[];
    unwanted: string[];
    items: RecalledItem[];
}

/** A message as the caller passes it. By default, its origin follows from its role. */
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

/** Processing of events: automatic, or one at a time on request. */
export type Mode = "auto" | "stepping";

/** A new key. Its secret is shown only once. */
export interface NewKey {
    key: string;
    info: KeyInfo;
}

/** A new webhook with its secret, which is returned only once. */
export interface NewWebhook {
    secret: string;
    info: WebhookInfo;
}

/** An erasure with unconfirmed storage locations. */
export interface OpenErasure {
    space: string;
    id: string;
    sinks: string[];
}

/** The kinds of changes from one state to the next. */
export type OperationKind = "ADD" | "UPDATE" | "DELETE" | "REORDER" | "REPLACE" | "BATCH_REPLACE" | "BATCH";

/** Outcome of an attempt. An attempt that learns nothing is a success. */
export type Outcome = "succeeded" | "succeeded_no_output" | "failed";

/** A document in an outline, without its text, and the number of its children. */
export interface OutlineEntry {
    document: DocumentEntry;
    children: number;
}

/** A claim or change set that needs review. `text` is the claim; `paths` are the documents that would change. */
export interface PendingItem {
    space: string;
    kind: PendingKind;
    id: string;
    created_at: Date;
    text: string;
    reason: string;
    paths: string[];
}

/** Kind of a pending item. */
export type PendingKind = "claim" | "changes";

/** Deleted data about a person in each space with matches, and the limits of the search. */
export interface PersonDeletion {
    spaces: SpaceDeletion[];
    matched_by: PersonMatchKind[];
    spaces_searched: number;
    limitations: string[];
    dry_run: boolean;
}

/** Data about a person in one space. */
export interface PersonInSpace {
    space: string;
    messages: number;
    facts: number;
    session_summaries: number;
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

/** One item about a person, with its text. */
export interface PersonItem {
    space: string;
    kind: string;
    id: string;
    number: number;
    matched_by: PersonMatchKind[];
    at: Date | null;
    speaker: string | null;
    text: string;
}

/** A page of data about a person, ordered by space, kind and id. */
export interface PersonItems {
    items: PersonItem[];
    next: string;
    limitations: string[];
}

/** Ways to match a person. */
export type PersonMatchKind = "speaker" | "words" | "entities";

/** Data about a person in each space with matches, and the limits of the search. */
export interface PersonMatches {
    spaces: PersonInSpace[];
    matched_by: PersonMatchKind[];
    spaces_searched: number;
    limitations: string[];
}

/** Claims that would be accepted, need review or be rejected, and the cost of the preview. */
export interface Preview {
    accepted: PreviewedClaim[];
    pending: PreviewedClaim[];
    rejected: PreviewedClaim[];
    notes: string[];
    malformed: number;
    suspicious: number[];
    model: string;
    usage: Usage;
}

/** A claim and its outcome. */
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
    /** With code VersionConflictError: the current version. */
    current: number | null;
    /** With code InvalidRequestError: the invalid fields. */
    errors: ({ at: string; message: string; [more: string]: unknown })[];
}

/** Result of one event: the thread after it, and the chunks that were added and removed. */
export interface Processed {
    thread: Thread;
    event: QueuedEvent;
    operations: StateOperation[];
    added: Chunk[];
    removed: string[];
}

/** Messages for a model, and a report on every chunk. */
export interface Prompt {
    messages: ({ [name: string]: string })[];
    prefix_length: number;
    tokens: number;
    report: PromptChunk[];
}

/** A chunk of working memory, and whether a prompt includes it. */
export interface PromptChunk {
    chunk_id: string;
    included: boolean;
    reason: Reason;
    tokens: number;
}

/** Purpose of an entry of the context log: an answer to a question, or a block in a prompt. */
export type Purpose = "recall" | "context";

/** An event in the queue of a thread, with its position. */
export interface QueuedEvent {
    id: string;
    number: number;
    event: Event;
    queued_at: Date;
}

/** Exact words of a message that a fact is based on. `context` marks words that only clarify other quotes. */
export interface Quote {
    session_id: string;
    number: number;
    text: string;
    context: boolean;
}

/** Reason for including or omitting a chunk. */
export type Reason = "pinned" | "newest" | "over budget" | "empty";

/** The matches for a question within the budget, best first. */
export interface RecallResult {
    question: string;
    items: Match[];
    certainty: Certainty;
    tokens: number;
    budget: number | null;
    as_of: Date | null;
    known_at: Date | null;
    note: string | null;
    candidates: Candidate[];
}

/** One result of recall for a memory test. Replaced memories do not count. */
export interface RecalledItem {
    ref: string;
    text: string;
    at: Date;
    superseded_by: string | null;
}

/** A stored message: its session, its number there, and when it was stored and retracted. */
export interface Record {
    session_id: string;
    number: number;
    recorded_at: Date;
    message: Message;
    retracted_at: Date | null;
}

/** A model's answer for a job. `run` identifies the request. */
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
export type RefKind = "message" | "fact" | "session_summary" | "document";

/** Why a question was not answered. */
export type Refusal = "nothing_found" | "not_in_memory" | "not_proven" | "declined";

/** Changes from learning everything again. `same` counts the facts that would not change. */
export interface Relearning {
    id: string;
    status: RelearningStatus;
    created_at: Date;
    model: string;
    sessions: number;
    same: number;
    usage: Usage;
    new: ClaimedFact[];
    removed: Fact[];
    changed: ChangedFact[];
    settled: SettledClaim[];
    pending: number;
    rejected: number;
    applied_at: Date | null;
    applied: RelearningCounts | null;
}

/** Numbers of facts that an applied relearning changed. */
export interface RelearningCounts {
    added: number;
    replaced: number;
    removed: number;
    restated: number;
    skipped: number;
}

/** Status of a proposal. */
export type RelearningStatus = "proposed" | "applied" | "undone";

/** Result of `remember`: the session, and a ref for each message. */
export interface Remembered {
    session: SessionInfo;
    refs: string[];
}

/** Retention of a chunk. CRITICAL chunks are never removed automatically. */
export type Retention = "CRITICAL" | "COMPRESSIBLE" | "BATCH_COMPRESSIBLE" | "DISPOSABLE" | "EPHEMERAL";

/** Kinds of items a rule deletes. Derived data is deleted too. */
export type RetentionKind = "message" | "session_summary" | "fact" | "document" | "thread";

/** Result of one retention run in a space. */
export interface RetentionReport {
    erasures: string[];
    deletion: Deletion;
    more: boolean;
    dry_run: boolean;
}

/** A rule that deletes items older than N days. */
export interface RetentionRule {
    kind: RetentionKind;
    older_than: number;
    origin: string | null;
    set_by: string;
    set_at: Date | null;
}

/** A claim that needs a person's approval, with the reason and the decision. */
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

/** Status of a claim that was not accepted automatically. */
export type ReviewStatus = "pending" | "refused" | "approved" | "rejected";

/** Role of a message, as in the model APIs. */
export type Role = "user" | "assistant" | "system" | "tool";

/**
 * Permission of a key. `keys` creates and revokes keys; `operate` covers jobs, settings, spending, the names of
 * all spaces and the access log. Neither gives access to content.
 */
export type Scope = "read" | "write" | "steer" | "erase" | "keys" | "operate";

/** Reason for rejecting a sentence of the model. */
export type SentenceFault = "uncited" | "unknown_ref" | "foreign_name" | "foreign_number" | "wrong_calculation" | "other_words" | "denied";

/** A session in a list: its conversation, its agent, and the times of its first and last message. */
export interface SessionEntry {
    session: SessionInfo;
    conversation: string;
    agent: string;
    started_at: Date | null;
    last_at: Date | null;
    summary: string | null;
    state: SessionState;
    error: string | null;
}

/** A section of a conversation, with its learning progress. */
export interface SessionInfo {
    space: string;
    id: string;
    conversation_id: string;
    agent_id: string;
    ordinal: number;
    is_learned_from: boolean;
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

/** Learning state of a session. */
export type SessionState = "open" | "queued" | "learned" | "failed" | "ephemeral";

/** Summary of a session, with notes. The next extraction replaces it. */
export interface SessionSummary {
    space: string;
    session_id: string;
    raw_memory: string;
    summary: string;
    slug: string;
    until: number;
    source_updated_at: Date;
    generated_at: Date;
    created_by: Maker;
    said_from: Date | null;
    said_until: Date | null;
}

/** An effective setting. `value` and `default` are formatted as in a settings file; a secret is `"***"`. */
export interface SettingEntry {
    name: string;
    value: string;
    default: string;
    origin: string;
}

/** A claim about words that a person has decided. Relearning lists it and does not apply it. */
export interface SettledClaim {
    claim: ClaimedFact;
    decision: Decision;
}

/** A memory in the version that was shown. `text` is its beginning, or null if it was deleted since. */
export interface ShownMemory {
    ref: string;
    text: string | null;
    origin: string | null;
}

/** One contribution to a candidate's rank: its value between 0 and 1, and its share of the score. */
export interface Signal {
    raw: number;
    normalized: number;
    added: number;
}

/** A storage location with text of a space, and when it confirmed that all erased text is removed. */
export interface SinkState {
    sink: string;
    confirmed_at: Date | null;
}

/** Type of a source of a document version. */
export type SourceKind = "session_summary" | "fact" | "message";

/** A source message of a memory. */
export interface SourceMessage {
    session_id: string;
    number: number;
}

/** Deleted data about a person in one space. */
export interface SpaceDeletion {
    space: string;
    deletion: Deletion;
    refused: string;
}

/** Health of a space. `failed` and `pending` are counted up to 100. */
export interface SpaceInfo {
    name: string;
    queued_at: Date | null;
    failed: number;
    pending: number;
}

/** Cost of a day, in total or for one kind of job, model or space. */
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

/** Cause of a state. */
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

/** One change to a state. Which fields are used depends on the kind. */
export interface StateOperation {
    kind: OperationKind;
    chunk: Chunk | null;
    targets: string[];
    position: number | null;
    child: { [name: string]: unknown } | null;
    operations: StateOperation[];
}

/** Result of one step, and the remaining work. */
export interface StepResult {
    dispatch_result: DispatchResult | null;
    event_processed: boolean;
    compaction_performed: boolean;
    truncation_performed: boolean;
    has_pending_operations: boolean;
    queued_event_count: number;
}

/** Effect of an event on the queue: `terminate` stops processing after it. */
export type Strategy = "queue" | "interrupt" | "terminate" | "silent";

/** The subtype of a chunk in the working flow. */
export type SubType = "COMPACTED" | "USER" | "THINKING" | "RESPONSE" | "AGENT_ACTION" | "ACTION_RESPONSE";

/** Working memory of a session: its mode, the numbers of its state and queue, and the lease of a step. */
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

/**
 * An entry of the timeline. `text` is the beginning of a message or version; `count` is the number of shown
 * items.
 */
export interface TimelineEntry {
    at: Date;
    kind: TimelineKind;
    ref: string;
    text: string;
    who: string;
    session_id: string | null;
    count: number | null;
    status: FactStatus | null;
}

/** Kind of a timeline entry. */
export type TimelineKind = "message" | "fact" | "correction" | "retired" | "document" | "showing" | "erasure";

/** The length of a state in tokens, and the recommended actions. */
export interface TokenUsage {
    total_tokens: number;
    compressible_tokens: number;
    suggest_compaction: boolean;
    force_compaction: boolean;
    needs_truncation: boolean;
    chunks_to_compact: Chunk[];
    chunks_to_truncate: string[];
}

/** A part of a session. `earlier` and `later` say whether there are more messages before and after. */
export interface Transcript {
    session: SessionInfo;
    lines: TranscriptRow[];
    earlier: boolean;
    later: boolean;
}

/** A message, and the items derived from it. `documents` are those that cite the message itself. */
export interface TranscriptRow {
    record: Record;
    facts: LineFact[];
    documents: string[];
    claims: LineClaim[];
    shown_count: number;
}

/** A document in the tree, with its path. */
export interface TreeEntry {
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
    path: string;
    /** Ref of this version: `document:ID:VERSION`. */
    ref: string;
}

/** The four reasons for marking a session for learning. */
export type Trigger = "idle" | "turn_threshold" | "compaction" | "reset";

/** Cost of model calls: number of calls, tokens, and millionths of a dollar. */
export interface Usage {
    calls: number;
    input_tokens: number;
    output_tokens: number;
    cost: number;
}

/** Number of uses of a memory, and the time of the last one. */
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

/** A webhook without its secret. With `space`, only changes of that space are sent. */
export interface WebhookInfo {
    id: string;
    url: string;
    space: string | null;
    created_at: Date;
    disabled_at: Date | null;
    disable_reason: string | null;
}

/** Purpose of an agent. `makes_memory` in `rules` says which kinds are learned from. */
export type AgentKind = "primary" | "subagent" | "memory_writer" | "memory_search" | "consolidator";

/** The content of a document's next version, and its position in the tree. `parent` is null at the top. */
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

/** A statement, with the session it was learned from. */
export interface FactInput {
    id: string;
    text: string;
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
    event_from?: When | null;
    event_to?: When | null;
    speaker?: string | null;
    scope?: string | null;
    flags?: readonly string[];
    expires_at?: When | null;
    pinned_at?: When | null;
    evidence?: Evidence;
    recorded_at?: When | null;
    replaced_at?: When | null;
    replaced_by?: string | null;
    status?: FactStatus;
    doubted_by?: string | null;
    version?: number;
    created_by?: MakerInput | null;
    /** Ignored, so that a result can be sent back. */
    ref?: string | null;
}

/** Learning rules of a space, or of one agent in it. Unset fields use the settings. */
export interface LearningRulesInput {
    /** Instructions in plain words: what to learn, what to ignore, and in which language. */
    instructions?: string;
    /** Name of the person the memory belongs to. */
    owner?: string | null;
    /** Time zone of the dates shown to the model, such as Europe/Berlin. */
    time_zone?: string | null;
    /** Custom attributes with one value at a time, each with a short description. */
    slots?: { [name: string]: string };
    /** Custom kinds of facts, such as `recipe`, each with a short description. They are never instructions. */
    kinds?: { [name: string]: string };
    /** Kinds of facts that require a person's approval. */
    review_kinds?: readonly (FactKind | string)[];
    /** Days until facts of a kind expire, counted from the last message that states them. Events never expire. */
    expires_after?: { [name: string]: number };
    /** Claim flags that require review, such as `health`. null uses the settings. */
    review_flags?: readonly string[] | null;
    /** What happens when a person says that something should be forgotten: `ask`, `delete` or `ignore`. */
    forget_requests?: ForgetPolicy;
}

/** Creator of a memory: the model, the prompt and the extractor, each with its version. */
export interface MakerInput {
    model: string;
    prompt: string;
    extractor: string;
}

/** A question with texts that must or must not be among the first results of recall. */
export interface MemoryTestInput {
    id?: string;
    question: string;
    must?: readonly string[];
    must_not?: readonly string[];
    as_of?: When | null;
    known_at?: When | null;
    limit?: number;
    kinds?: readonly RefKind[];
    tags?: readonly string[];
    note?: string;
    about?: string | null;
    created_at?: When | null;
}

/** A message as the caller passes it. By default, its origin follows from its role. */
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

/** Sort order of a list. */
export type Order = "newest" | "oldest";

/** Why a session was continued in a new one. */
export type RestartReason = "reset" | "compaction" | "emergency";

/** Grouping of daily costs. */
export type SpendingBy = "day" | "kind" | "model" | "space";

export interface MemoryLearnOptions extends CallOptions {
    /** Kinds of jobs to run (default: all). */
    kinds?: readonly JobKind[] | null;
}

/** Operations on the whole memory. */
export interface MemoryOperations {
    /** The spaces of a memory. */
    readonly spaces: Spaces;
    /** Administration of the whole memory. */
    readonly admin: Admin;
    /**
     * Run all queued learning jobs in all spaces once, and return a report. Waits for background jobs of this
     * process and includes their results since the last call in the report. Does not wait for other processes.
     * Afterwards, unless `kinds` is set, changes are sent to webhooks.
     */
    learn(options?: MemoryLearnOptions): Promise<LearnReport>;
}

export interface SpacesListOptions extends CallOptions {
    /** Start of the space names (default: all spaces). */
    prefix?: string;
    /** Maximum number of spaces (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The spaces of a memory. */
export interface Spaces {
    /**
     * List spaces, ordered by name, each with counts of failed jobs and pending reviews. The cost of a page
     * does not depend on the number or size of spaces.
     */
    list(options?: SpacesListOptions): Paged<Page<SpaceInfo>, SpaceInfo>;
}

/** Administration of the whole memory. */
export interface Admin {
    /** The background jobs of all spaces. */
    readonly jobs: Jobs;
    /** The costs of models, in all spaces. */
    readonly costs: Costs;
    /** Pending reviews in all spaces. */
    readonly reviews: PendingReviews;
    /** Unfinished deletions in all spaces. */
    readonly erasures: Erasures;
    /** The access log: who read or changed what. */
    readonly access: AccessLog;
    /** The API keys of a server. */
    readonly keys: Keys;
    /** Data about a person, in all spaces. */
    readonly people: People;
    /** The legal holds on all spaces. */
    readonly holds: Holds;
    /** The webhooks that receive changes. */
    readonly webhooks: Webhooks;
    /**
     * Return counts of unfinished jobs by status and of pending reviews, in all spaces. Bethink updates the
     * counts as jobs change, so the cost does not depend on the number of jobs.
     */
    health(options?: CallOptions): Promise<Health>;
    /** Return the effective settings, each with its default and source. Secrets are masked. */
    settings(options?: CallOptions): Promise<SettingEntry[]>;
    /** Return counts of unfinished jobs, today's cost and violations of invariants. */
    audit(options?: CallOptions): Promise<Audit>;
}

export interface JobsListOptions extends CallOptions {
    /** Status of the jobs: `queued`, `running`, `failed` or `abandoned` (default `abandoned`). */
    status?: JobStatus;
    /** Kind of the jobs (default: any). */
    kind?: JobKind | null;
    /** Maximum number of jobs (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The background jobs of all spaces. */
export interface Jobs {
    /**
     * List jobs of all spaces by status. Most recently queued first. The cost of a page does not depend on the
     * number of jobs.
     */
    list(options?: JobsListOptions): Paged<Page<Job>, Job>;
}

export interface CostsListOptions extends CallOptions {
    /** First day (default: 30 days before the last). */
    since?: When | null;
    /** Last day (default: today). */
    until?: When | null;
    /** Grouping of each day: `day` (default: the total), `kind`, `model` or `space`. */
    by?: SpendingBy;
    /** Maximum number of spaces for each day if grouped by space, highest cost first (default 20). */
    limit?: number;
}

/** The costs of models, in all spaces. */
export interface Costs {
    /** Return the daily cost of models in all spaces: in total, by kind of job, by model or by space. */
    list(options?: CostsListOptions): Promise<Page<Spending>>;
}

export interface PendingReviewsListOptions extends CallOptions {
    /** Kind of the items: `claim` or `changes` (default: both). */
    kind?: PendingKind | null;
    /** Maximum number of items (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** Pending reviews in all spaces. */
export interface PendingReviews {
    /**
     * List claims and document changes that need review in all spaces. Newest first. Items that are decided
     * while a page is read may be missing from the page.
     */
    list(options?: PendingReviewsListOptions): Paged<Page<PendingItem>, PendingItem>;
}

/** Unfinished deletions in all spaces. */
export interface Erasures {
    /** Return the public key that verifies receipts of this installation. Empty without the extra `receipts`. */
    publicKey(options?: CallOptions): Promise<string>;
    /** Finish interrupted deletions in all spaces, and list those that are not confirmed yet. */
    list(options?: CallOptions): Promise<Page<OpenErasure>>;
}

export interface SpaceRememberOptions extends CallOptions {
    /** Key of this request. Repeating the request with the same key stores nothing twice (default: a new key). */
    idempotency_key?: string | null;
    /** Name of the conversation, such as `telegram-42` (default `notes`). */
    conversation?: string;
    /** Id of an open session to append to (default: the active session of the conversation). */
    session_id?: string | null;
    /** Agent in the conversation (default `assistant`). */
    agent?: string;
    /** Tags to add to each message. */
    tags?: readonly string[];
    /** Metadata to add to each message. Values of the message itself take precedence. */
    metadata?: { [name: string]: unknown } | null;
}

export interface SpaceRecallOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`). */
    budget?: number | null;
    /** Id of the requesting session. The context log records the result, and the question itself is excluded. */
    session_id?: string | null;
    /** Kinds of memory to use (default: all). */
    kinds?: readonly RefKind[];
    /** Maximum number of results (default 10). */
    limit?: number;
    /** Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`). */
    min_certainty?: Certainty | null;
    /** Whether to also return all candidates with their signals and outcome (default false). */
    explain?: boolean;
}

export interface SpaceAskOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`). */
    budget?: number | null;
    /** Id of the requesting session. The context log records the result, and the question itself is excluded. */
    session_id?: string | null;
    /** Kinds of memory to use (default: all). */
    kinds?: readonly RefKind[];
    /** Maximum number of memories that the model reads (default 20). */
    limit?: number;
    /** Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`). */
    min_certainty?: Certainty | null;
    /** Names of other spaces to answer from as well, without their confidential memories. */
    spaces?: readonly string[];
    /** Refs of memories to ignore, with data based only on them. Cited memories are then not marked as used. */
    exclude?: readonly string[];
    /** Maximum number of seconds to wait for the model (default 60). */
    timeout?: number;
    /** Called with each sentence of the answer as soon as it is verified, before the promise resolves. */
    onSentence?: (sentence: AnswerSentence) => void;
}

export interface SpaceContextOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`). */
    budget?: number | null;
    /** Id of the requesting session. The context log records the result, and the question itself is excluded. */
    session_id?: string | null;
    /** Kinds of memory to use (default: all). */
    kinds?: readonly RefKind[];
    /**
     * Whether the lines have labels for the model to cite (default true). Pass false if nothing strips them
     * from replies.
     */
    citations?: boolean;
}

export interface SpaceExplainOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of steps to sources and derived data (default 1). */
    depth?: number;
}

export interface SpaceCorrectOptions extends CallOptions {
    /** Time after which the fact is not recalled (default: unchanged). */
    expires_at?: When | null;
}

export interface SpaceForgetOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the conversation (default `assistant`). Without `conversation`, it narrows another filter. */
    agent?: string | null;
    /** Name of a conversation whose messages to delete. Combines with filters. */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /** Id of a session whose messages to delete. */
    session_id?: string | null;
    /** Time before which to delete everything. A date means the start of that day. */
    before?: When | null;
    /** Kinds of memory that the filter deletes, with derived data (default: all). */
    kinds?: readonly RefKind[];
    /** Id of a thread of working memory to delete, with its states and events. */
    thread_id?: string | null;
    /** Whether to delete all data of the space (default false). */
    everything?: boolean;
    /** Whether to delete only the text of the document version in `ref`, a past version (default false). */
    version_only?: boolean;
    /**
     * Whether to also delete messages of other sessions that repeat the text after it was shown (default
     * false).
     */
    include_repeats?: boolean;
    /** Name of the requester, for the record (default: the user who runs the program). */
    actor?: string | null;
    /** Reason for the record, such as a request number. Do not include deleted content. */
    reason?: string;
    /** Whether to count the items without deleting them (default false). */
    dry_run?: boolean;
    /** Whether to return zero counts instead of raising `NotFoundError` for a missing target (default false). */
    missing_ok?: boolean;
}

export interface SpaceSessionOptions extends CallOptions {
    /** Agent in the conversation (default `assistant`). */
    agent?: string;
    /** Kind of the agent, set at its first session (default `primary`). */
    kind?: AgentKind;
    /** Whether to exclude the session from learning (default false). A change ends the open session. */
    ephemeral?: boolean;
    /** Tags that replace those of the session (default: unchanged). */
    tags?: readonly string[] | null;
    /** Metadata that replaces that of the session (default: unchanged). */
    metadata?: { [name: string]: unknown } | null;
}

/** One space: the memory of a user, a project or a team. */
export interface SpaceOperations<Session> {
    /** The sessions of a space. */
    readonly sessions: Sessions<Session>;
    /** The facts of a space. */
    readonly facts: Facts;
    /** The documents of a space. */
    readonly documents: Documents;
    /** The working memory of a space. */
    readonly threads: Threads;
    /** The claims of a space that need review. */
    readonly reviews: Reviews;
    /** Administration of one space. */
    readonly admin: SpaceAdmin;
    /** The files of a space, stored as searchable passages. */
    readonly files: Files;
    /**
     * Store a user message, or a list of messages. The messages are durable when the call returns. Bethink
     * learns from them in the background.
     */
    remember(messages: string | readonly MessageInput[], options?: SpaceRememberOptions): Promise<Remembered>;
    /** Search memory. Best match first. If there is no match, `note` says why. */
    recall(question: string, options?: SpaceRecallOptions): Promise<RecallResult>;
    /**
     * Answer a question from memory, with sources for each sentence. Calls the model, which may ask for two
     * more searches. Sentences without a supporting memory are removed; if none remains, `refusal` is the
     * reason. Cited memories are marked as used. `budget` limits the memories that the model reads (default
     * 4,000 tokens).
     */
    ask(question: string, options?: SpaceAskOptions): Promise<Answer>;
    /**
     * Build the memory block for a prompt. The block is byte-identical until memory changes. Build one when a
     * session starts or is compacted.
     */
    context(question?: string, options?: SpaceContextOptions): Promise<ContextBlock>;
    /**
     * Return the sources, history and uses of a memory. With a `depth` above 1, `walk` lists up to 200 related
     * memories and counts the others.
     */
    explain(ref: string, options?: SpaceExplainOptions): Promise<Lineage>;
    /**
     * Replace the text of a fact or document with a new version. Kind, origin and sources stay the same, so
     * deleting a source still deletes the corrected memory. A corrected fact has the evidence `stated`. Earlier
     * versions remain.
     */
    correct(ref: string, text: string, options?: SpaceCorrectOptions): Promise<Correction>;
    /**
     * Permanently delete a memory and everything derived from it. Returns counts and a receipt. If this process
     * stops, another one finishes the deletion.
     */
    forget(ref?: string | null, options?: SpaceForgetOptions): Promise<Deletion>;
    /**
     * Return the active session of a conversation, or open one. The first call creates the space, the agent and
     * the conversation.
     */
    session(conversation: string, options?: SpaceSessionOptions): Promise<Session>;
}

export interface SessionsFindOptions extends CallOptions {
    /** Agent in the conversation (default `assistant`). */
    agent?: string;
}

export interface SessionsListOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /** Maximum number of sessions (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
    /** State: `open`, `queued`, `learned`, `failed` or `ephemeral` (default: any). */
    state?: SessionState | null;
    /** Start of the conversation name (default: all conversations). */
    conversation_prefix?: string | null;
}

/** The sessions of a space. */
export interface Sessions<Session> {
    /** Return the newest session of a conversation, or null, without opening one. The session may have ended. */
    find(conversation: string, options?: SessionsFindOptions): Promise<Session | null>;
    /** Return a session. */
    get(sessionId: string, options?: CallOptions): Promise<Session>;
    /**
     * Retry learning from a session. Return false if learning had not failed. After a model was set, this also
     * learns from sessions that were processed without a model.
     */
    relearn(sessionId: string, options?: CallOptions): Promise<boolean>;
    /** List the sessions of the space. Newest first. */
    list(options?: SessionsListOptions): Paged<Page<SessionEntry>, SessionEntry>;
}

export interface FactsRateOptions extends CallOptions {
    /** Reason for the rating. */
    note?: string | null;
    /** Name of the person who rates the fact, stored unverified (default `user`). */
    actor?: string;
}

export interface FactsHistoryOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Status: `current`, `upcoming`, `doubtful`, `ended`, `replaced`, `corrected` or `pending` (default: all). */
    status?: FactStatus | null;
    /** Subject of the facts (default: any). */
    subject?: string | null;
    /** Slot of the facts, such as `home` (default: any). */
    slot?: string | null;
    /** Kind of the facts (default: any). */
    kind?: FactKind | null;
    /** Origin of the facts (default: any). */
    origin?: string | null;
    /** `newest` (default) or `oldest` first, by `recorded_at`. */
    order?: Order;
    /** Maximum number of facts (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

export interface FactsSearchOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of facts (default 10). */
    limit?: number;
}

export interface FactsSaveOptions extends CallOptions {
    /** Version that the fact replaces; 0 if the fact is new (default: any version). */
    if_version?: number | null;
}

export interface FactsListOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Whether to list only pinned facts, in the order they were pinned (default false). Excludes filters. */
    pinned?: boolean;
    /** Maximum number of facts (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The facts of a space. */
export interface Facts {
    /**
     * Pin a fact, so that `context` always includes it while it is current. A corrected fact stays pinned. A
     * different fact that replaces it is not pinned.
     */
    pin(ref: string, options?: CallOptions): Promise<Fact>;
    /** Unpin a fact. */
    unpin(ref: string, options?: CallOptions): Promise<Fact>;
    /**
     * Rate a fact as useful, wrong or outdated. `useful` marks the fact as used. `wrong` sends the fact to
     * review and hides it until approval. `outdated` ends the fact now.
     */
    rate(ref: string, verdict: FactVerdict, options?: FactsRateOptions): Promise<Feedback>;
    /**
     * List fact versions by time, including replaced ones, each with its replacement. Each version is one
     * entry. The cost of a page does not depend on the number of facts.
     */
    history(options?: FactsHistoryOptions): Paged<Page<FactEntry>, FactEntry>;
    /** Search facts by words. Best match first. */
    search(query: string, options?: FactsSearchOptions): Promise<Fact[]>;
    /** Return the number of current facts: neither ended, expired nor replaced. */
    count(options?: CallOptions): Promise<number>;
    /** Return the current version of a fact. */
    get(factId: string, options?: CallOptions): Promise<Fact>;
    /** Store a fact and return it as stored. */
    save(fact: FactInput, options?: FactsSaveOptions): Promise<Fact>;
    /**
     * Return all versions of a fact, including replaced ones. Oldest first. An unknown or deleted fact has
     * none.
     */
    versions(factId: string, options?: CallOptions): Promise<Fact[]>;
    /** Return the messages that a learned fact is based on. */
    sources(factId: string, options?: CallOptions): Promise<SourceMessage[]>;
    /** Return the quotes that a learned fact is based on, one for each mention. */
    quotes(factId: string, options?: CallOptions): Promise<Quote[]>;
    /**
     * List current facts, with upcoming and doubtful ones, ordered by id. Facts that have ended, expired or
     * been replaced or corrected are in `history`.
     */
    list(options?: FactsListOptions): Paged<Page<Fact>, Fact>;
}

export interface DocumentsSearchOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of documents (default 10). */
    limit?: number;
}

export interface DocumentsFindOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Idempotency key of the write, instead of a path. */
    idempotency_key?: string | null;
}

export interface DocumentsChildrenOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
}

export interface DocumentsOutlineOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of documents (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

export interface DocumentsGetOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
}

export interface DocumentsCreateOptions extends CallOptions {
    /** Key of this request. Repeating the request with the same key stores nothing twice (default: a new key). */
    idempotency_key?: string | null;
    /** Id of the document (default: a new id). */
    document_id?: string | null;
    /** Agent that wrote the text (default: the user). Text of an agent has the origin `assistant`. */
    agent?: string | null;
}

export interface DocumentsUpdateOptions extends CallOptions {
    /** Key of this request. Repeating the request with the same key stores nothing twice (default: a new key). */
    idempotency_key?: string | null;
    /** Reason for the change, stored with the version. */
    reason?: string;
    /** Agent that changed the text (default: the user). The document then has the origin `assistant`. */
    agent?: string | null;
}

export interface DocumentsDeleteOptions extends CallOptions {
    /** Key of this request. Repeating the request with the same key stores nothing twice (default: a new key). */
    idempotency_key?: string | null;
    /** Whether to ignore a missing document instead of raising `NotFoundError` (default false). */
    missing_ok?: boolean;
}

export interface DocumentsHistoryOptions extends CallOptions {
    /** Maximum number of versions (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

export interface DocumentsBlameOptions extends CallOptions {
    /** Version of the document (default: the newest). */
    version?: number | null;
}

export interface DocumentsListOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Start of the path, such as `~/memory/people/` (default: all paths). */
    prefix?: string;
    /** Maximum number of documents (default: all). */
    limit?: number | null;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The documents of a space. */
export interface Documents {
    /** Changes that were made or proposed to documents. */
    readonly changes: DocumentChanges;
    /** Queue an update of the documents from learned data. A worker runs it. */
    refresh(options?: CallOptions): Promise<boolean>;
    /** Search documents by words. Best match first. */
    search(query: string, options?: DocumentsSearchOptions): Promise<Document[]>;
    /** Return the document at a path or written with an idempotency key, or null. */
    find(path?: string | null, options?: DocumentsFindOptions): Promise<Document | null>;
    /** Return the children of a document or of the top of the tree, ordered by name. */
    children(documentId?: string | null, options?: DocumentsChildrenOptions): Promise<Document[]>;
    /** Return child documents without text, each with the number of its own children. */
    outline(documentId?: string | null, options?: DocumentsOutlineOptions): Paged<Page<OutlineEntry>, OutlineEntry>;
    /** Return a document. */
    get(documentId: string, options?: DocumentsGetOptions): Promise<Document>;
    /** Create a document. Secrets are removed from the text. */
    create(draft: DocumentDraftInput, options?: DocumentsCreateOptions): Promise<Document>;
    /** Write the next version of a document. */
    update(documentId: string, draft: DocumentDraftInput, ifVersion: number, options?: DocumentsUpdateOptions): Promise<Document>;
    /**
     * Delete a document without children or incoming links. Past versions remain readable. `forget` deletes
     * them permanently.
     */
    delete(documentId: string, ifVersion: number, options?: DocumentsDeleteOptions): Promise<void>;
    /** Restore an old version as the newest one. */
    restore(documentId: string, version: number, ifVersion: number | null, options?: CallOptions): Promise<Document>;
    /** Return all versions of a document with text, author and reason. Oldest first. */
    versions(documentId: string, options?: CallOptions): Promise<Document[]>;
    /** List versions of a document with time, author and reason, without text. Newest first. */
    history(documentId: string, options?: DocumentsHistoryOptions): Paged<Page<DocumentEntry>, DocumentEntry>;
    /**
     * Return each line of a document with the version that added it, its author and sources. Compares up to 200
     * versions. Older lines are attributed to the oldest compared version.
     */
    blame(documentId: string, options?: DocumentsBlameOptions): Promise<Blame>;
    /** Return the line-by-line difference between two versions of a document. */
    diff(documentId: string, before: number, after: number, options?: CallOptions): Promise<string>;
    /** Return the sources of a version: session summaries, facts and messages. */
    sources(documentId: string, version: number, options?: CallOptions): Promise<DocumentSource[]>;
    /** Return all memory documents as text by file name, as of the last consolidation. */
    readAll(options?: CallOptions): Promise<{ [name: string]: string }>;
    /** List documents, ordered by path, without their text. */
    list(options?: DocumentsListOptions): Paged<Page<TreeEntry>, TreeEntry>;
}

export interface DocumentChangesApproveOptions extends CallOptions {
    /** Paths of the documents to change (default: all). Changes to other documents are discarded. */
    paths?: readonly string[] | null;
    /** Replacement text for documents, by path. */
    texts?: { [name: string]: string } | null;
}

export interface DocumentChangesListOptions extends CallOptions {
    /** Maximum number of change sets (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** Changes that were made or proposed to documents. */
export interface DocumentChanges {
    /** Approve pending document changes, entirely, in part or with edited text. */
    approve(run: string, options?: DocumentChangesApproveOptions): Promise<void>;
    /** Reject pending document changes and discard their text. */
    reject(run: string, options?: CallOptions): Promise<void>;
    /** Undo the document changes of a run. */
    undo(run: string, options?: CallOptions): Promise<void>;
    /** List applied and pending document changes. Newest first. */
    list(options?: DocumentChangesListOptions): Paged<Page<ChangeSet>, ChangeSet>;
}

export interface ThreadsOpenOptions extends CallOptions {
    /** Id of the session that the thread belongs to (default: none). */
    session_id?: string | null;
    /** `auto` (default) processes events on arrival; `stepping` processes one event for each `step`. */
    mode?: Mode | null;
}

export interface ThreadsStatesOptions extends CallOptions {
    /** Number of the last state before the page (default: start at the first state). */
    after?: number | null;
    /** Maximum number of states (default: all). */
    limit?: number | null;
}

export interface ThreadsForkOptions extends CallOptions {
    /** Id of the new thread (default: a new id). */
    into?: string | null;
    /** Mode of the new thread: `auto` or `stepping` (default `auto`). */
    mode?: Mode | null;
}

export interface ThreadsListOptions extends CallOptions {
    /** Maximum number of threads (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page, or its last id. */
    after?: string;
}

/** The working memory of a space. */
export interface Threads {
    /** Return the thread with this id, or create it. */
    open(threadId?: string | null, options?: ThreadsOpenOptions): Promise<Thread>;
    /** Return a thread. */
    get(threadId: string, options?: CallOptions): Promise<Thread>;
    /** Queue an event. In auto mode, process it, and truncate or compact the thread if necessary. */
    dispatch(threadId: string, event: EventInput, options?: CallOptions): Promise<DispatchResult>;
    /** Process one queued event. Without one, truncate or compact the thread if necessary. */
    step(threadId: string, options?: CallOptions): Promise<StepResult>;
    /** Set the mode of a thread. A change to auto mode processes the queued events. */
    setMode(threadId: string, mode: Mode, options?: CallOptions): Promise<DispatchResult>;
    /** Return the queued events, in order of processing. */
    queue(threadId: string, options?: CallOptions): Promise<QueuedEvent[]>;
    /** Return the events that could not be processed, with the reason. */
    failedEvents(threadId: string, options?: CallOptions): Promise<FailedEvent[]>;
    /** Return the states of a thread without chunks. Oldest first. */
    states(threadId: string, options?: ThreadsStatesOptions): Paged<StateInfo[], StateInfo>;
    /** Return a state of a thread with its chunks. */
    state(threadId: string, number?: number | null, options?: CallOptions): Promise<State>;
    /** Return the difference between two states of a thread. */
    diff(threadId: string, before: number, after: number, options?: CallOptions): Promise<StateDiff>;
    /** Build a prompt from the current state within a token budget, with a report on every chunk. */
    prompt(threadId: string, budget: number, options?: CallOptions): Promise<Prompt>;
    /** Return the token count of a thread and its thresholds for compaction and truncation. */
    tokens(threadId: string, options?: CallOptions): Promise<TokenUsage>;
    /**
     * Create a new thread that starts with a state of this one. Deleting the conversation of this thread also
     * deletes the new thread.
     */
    fork(threadId: string, at: number, options?: ThreadsForkOptions): Promise<Thread>;
    /** Rebuild the current state from the events, without calling a model, and return its chunks. */
    replay(threadId: string, options?: CallOptions): Promise<Chunk[]>;
    /** List the threads of the space, ordered by id. */
    list(options?: ThreadsListOptions): Paged<Page<Thread>, Thread>;
}

export interface ReviewsProposeOptions extends CallOptions {
    /** Statement of the fact, in one sentence (default: the text of the message). */
    text?: string | null;
    /** Kind of the fact (default `knowledge`). */
    kind?: FactKind;
}

export interface ReviewsApproveOptions extends CallOptions {
    /** Replacement text of the fact, in one sentence (default: the text of the claim). */
    text?: string | null;
    /** Reason, stored with the decision. */
    note?: string | null;
}

export interface ReviewsRejectOptions extends CallOptions {
    /** Reason, stored with the decision. */
    note?: string | null;
}

export interface ReviewsApproveManyOptions extends CallOptions {
    /** Reason, stored with each decision. */
    note?: string | null;
}

export interface ReviewsRejectManyOptions extends CallOptions {
    /** Reason, stored with each decision. */
    note?: string | null;
}

export interface ReviewsListOptions extends CallOptions {
    /** Status of the claims: `pending` (default), `refused`, `approved` or `rejected`. */
    status?: ReviewStatus;
    /** Maximum number of claims (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page, or its last id. */
    after?: string;
}

/** The claims of a space that need review. */
export interface Reviews {
    /** Return the number of claims by status. */
    count(options?: CallOptions): Promise<{ [name: string]: number }>;
    /** Return a claim with its quotes, the reason for the review, and the decision. */
    get(reviewId: string, options?: CallOptions): Promise<Review>;
    /**
     * Propose a message as a fact. The claim needs a person's approval. Proposing the same message again
     * returns the existing claim.
     */
    propose(ref: string, options?: ReviewsProposeOptions): Promise<Review>;
    /**
     * Approve a claim, optionally with different text. It becomes a fact with the evidence `stated`. The new
     * fact replaces or ends the facts named in the claim. Refused claims can be approved too.
     */
    approve(reviewId: string, options?: ReviewsApproveOptions): Promise<Review>;
    /** Reject a claim. It stays listed as rejected. */
    reject(reviewId: string, options?: ReviewsRejectOptions): Promise<Review>;
    /** Approve several claims unchanged: all or none. */
    approveMany(reviewIds: readonly string[], options?: ReviewsApproveManyOptions): Promise<Review[]>;
    /** Reject several claims: all or none. */
    rejectMany(reviewIds: readonly string[], options?: ReviewsRejectManyOptions): Promise<Review[]>;
    /** List claims that need review, with quotes and reason. Newest first. */
    list(options?: ReviewsListOptions): Paged<Page<Review>, Review>;
}

export interface SpaceAdminLearnOptions extends CallOptions {
    /** Kinds of jobs to run (default: all). */
    kinds?: readonly JobKind[] | null;
}

/** Administration of one space. */
export interface SpaceAdmin {
    /** The learning rules of a space. */
    readonly rules: Rules;
    /** The background jobs of a space. */
    readonly jobs: SpaceJobs;
    /** The costs of models, for a space. */
    readonly costs: SpaceCosts;
    /** The change feed of a space. */
    readonly changes: Changes;
    /** The timeline of a space. */
    readonly timeline: Timeline;
    /** The deletions in a space, with their receipts. */
    readonly erasures: SpaceErasures;
    /** The memories that were shown to sessions. */
    readonly contextLog: ContextLog;
    /** The memory tests of a space. */
    readonly tests: MemoryTests;
    /** Data about a person, in one space. */
    readonly people: SpacePeople;
    /** Proposals from learning a space again. */
    readonly relearning: Relearnings;
    /** The retention rules of a space. */
    readonly retention: SpaceRetention;
    /** The legal holds on a space. */
    readonly holds: SpaceHolds;
    /**
     * Run all queued learning jobs of the space once, and return a report. The report includes background jobs
     * of this process since the last call. With a model, learning runs automatically: call this to wait for it.
     */
    learn(options?: SpaceAdminLearnOptions): Promise<LearnReport>;
    /** Summarize failed jobs and pending reviews. */
    health(options?: CallOptions): Promise<SpaceInfo>;
    /** Return the bytes of a file with everything in the space, which `bethink import archive` reads. */
    exportArchive(options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
}

export interface RulesPreviewOptions extends CallOptions {
    /** Learning rules to try (default: the stored rules). */
    rules?: LearningRulesInput | null;
    /** Name of the conversation (default `preview`). The model is given its channel. */
    conversation?: string;
    /** Agent whose rules apply (default `assistant`). */
    agent?: string;
}

export interface RulesSetOptions extends CallOptions {
    /** Agent that follows the rules (default: the whole space). */
    agent?: string | null;
}

/** The learning rules of a space. */
export interface Rules {
    /**
     * Preview the facts that Bethink would learn from messages. Nothing is stored. Calls the model with the
     * existing facts, as learning does. The cost counts toward the daily budget.
     */
    preview(messages: string | readonly MessageInput[], options?: RulesPreviewOptions): Promise<Preview>;
    /** Return the learning rules of the space or of one agent. */
    get(agent?: string | null, options?: CallOptions): Promise<LearningRules>;
    /**
     * Set the learning rules of the space or of one agent, and return the stored rules. Rules instruct the
     * learning model from now on. Facts still need quotes.
     */
    set(rules: LearningRulesInput, options?: RulesSetOptions): Promise<LearningRules>;
}

export interface SpaceJobsListOptions extends CallOptions {
    /** Status of the jobs (default: any). */
    status?: JobStatus | null;
    /** Kind of the jobs (default: any). */
    kind?: JobKind | null;
    /** Maximum number of jobs (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The background jobs of a space. */
export interface SpaceJobs {
    /** Return a job with its failed attempts and model responses. */
    get(kind: JobKind, key: string, options?: CallOptions): Promise<JobDetail>;
    /** Retry a failed or abandoned job. Return false for a job in any other status. */
    retry(kind: JobKind, key: string, options?: CallOptions): Promise<boolean>;
    /** List jobs of the space by status and kind. Most recently queued first. */
    list(options?: SpaceJobsListOptions): Paged<Page<Job>, Job>;
}

export interface SpaceCostsListOptions extends CallOptions {
    /** First day (default: 30 days before the last). */
    since?: When | null;
    /** Last day (default: today). */
    until?: When | null;
}

/** The costs of models, for a space. */
export interface SpaceCosts {
    /** Return the daily cost of models for the space. */
    list(options?: SpaceCostsListOptions): Promise<Page<Spending>>;
}

export interface ChangesListOptions extends CallOptions {
    /** Number of the last known change; 0 starts at the oldest retained change (default: the newest changes). */
    after?: number | null;
    /** Maximum number of changes (default 100). */
    limit?: number;
    /** Seconds to wait if there is no change yet (default 0). */
    wait?: number;
}

/** The change feed of a space. */
export interface Changes {
    /**
     * List changes in the space, oldest first: kinds and refs, without text. Continue with the number of the
     * last change as `after`. `wait` returns as soon as something changes.
     */
    list(options?: ChangesListOptions): Paged<Page<Change>, Change>;
    /**
     * Yield each change of the space as it happens: `for await (const change of space.admin.changes.follow())`. It ends
     * with its signal and reconnects by itself. Rejects with `VersionConflictError` if changes after this number have
     * been deleted.
     *
     * @param options.after Number of the last change you have seen; 0 for all that are stored (default: from now on).
     */
    follow(options?: CallOptions & { after?: number }): AsyncGenerator<Change, void, void>;
}

export interface TimelineListOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Kinds of entries (default: all). */
    kinds?: readonly TimelineKind[];
    /** Maximum number of entries (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The timeline of a space. */
export interface Timeline {
    /**
     * List messages, facts, document versions, uses and deletions of the space. Newest first. The cost of a
     * page does not depend on the size of the space. Pages can have fewer entries than `limit`.
     */
    list(options?: TimelineListOptions): Paged<Page<TimelineEntry>, TimelineEntry>;
}

export interface SpaceErasuresListOptions extends CallOptions {
    /** Maximum number of erasures (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The deletions in a space, with their receipts. */
export interface SpaceErasures {
    /**
     * List deletions in the space with actor, confirmations and receipt. Newest first. Entries have no text and
     * remain after the space is deleted. Interrupted deletions are finished first.
     */
    list(options?: SpaceErasuresListOptions): Paged<Page<Erasure>, Erasure>;
}

export interface SessionAppendOptions extends CallOptions {
    /** Key of this request. Repeating the request with the same key stores nothing twice (default: a new key). */
    idempotency_key?: string | null;
}

export interface SessionMessagesOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /** Number of the last message before the page (default: start at the first message). */
    after?: number | null;
    /** Maximum number of messages (default 1,000). */
    limit?: number;
    /** Number of messages to return from the end of the session, in order (default: from the start). */
    last?: number | null;
    /** Whether to leave out the words that a person asked to forget, and messages without any others. */
    visible?: boolean;
}

export interface SessionTranscriptOptions extends CallOptions {
    /** Number of the message in the middle (default: the end of the session). */
    around?: number | null;
    /** Maximum number of messages (default 50). */
    limit?: number;
}

export interface SessionCheckpointOptions extends CallOptions {
    /** Whether to queue the session with fewer than six new messages (default false). */
    force?: boolean;
}

export interface SessionWaitUntilLearnedOptions extends CallOptions {
    /** Maximum number of seconds to wait (default 30). */
    timeout?: number;
}

export interface SessionRecallOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`). */
    budget?: number | null;
    /** Kinds of memory to use (default: all). */
    kinds?: readonly RefKind[];
    /** Maximum number of results (default 10). */
    limit?: number;
    /** Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`). */
    min_certainty?: Certainty | null;
    /** Whether to also return all candidates with their signals and outcome (default false). */
    explain?: boolean;
}

export interface SessionContextOptions extends CallOptions {
    /** Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: readonly string[] | null;
    /** Tags that every item must have. */
    tags?: readonly string[];
    /** Agent of the sessions (default: any). */
    agent?: string | null;
    /** Name of the conversation (default: any). */
    conversation?: string | null;
    /** Speaker of a message, or of a fact's source messages (default: any). */
    speaker?: string | null;
    /** Earliest time of items (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of items (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`. */
    where?: { [name: string]: unknown } | null;
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`). */
    budget?: number | null;
    /** Kinds of memory to use (default: all). */
    kinds?: readonly RefKind[];
    /**
     * Whether the lines have labels for the model to cite (default true). Pass false if nothing strips them
     * from replies.
     */
    citations?: boolean;
}

export interface SessionForgetOptions extends CallOptions {
    /** Whether to count the items without deleting them (default false). */
    dry_run?: boolean;
}

/** One session of a conversation. */
export interface SessionOperations<Session> {
    /**
     * Store messages in one transaction and return their numbers. The messages are durable when the call
     * returns. A repeated idempotency key returns the existing number.
     */
    append(messages: string | readonly MessageInput[], options?: SessionAppendOptions): Promise<number[]>;
    /** Return the messages of the session, in order. */
    messages(options?: SessionMessagesOptions): Paged<Page<Record>, Record>;
    /**
     * Retract a message. Return false if it was already retracted. Recall, context, timeline and `messages`
     * omit the message, except with an earlier `as_of`. Derived data is deleted, and nothing more is learned
     * from the message. It stays in `transcript`, archives and threads; `forget` deletes it permanently.
     */
    retract(number: number, options?: CallOptions): Promise<boolean>;
    /**
     * Return messages of the session, each with the facts, documents and claims derived from it. The cost does
     * not depend on the length of the session.
     */
    transcript(options?: SessionTranscriptOptions): Promise<Transcript>;
    /**
     * Queue the session for learning if it has at least six new messages. Return whether it was queued. Call it
     * after each turn, and with `force` when the agent becomes idle: then one new message is enough.
     */
    checkpoint(options?: SessionCheckpointOptions): Promise<boolean>;
    /**
     * End the session and return the next session of its conversation. Call it after the context was reset or
     * compacted.
     */
    restart(reason?: RestartReason, options?: CallOptions): Promise<Session>;
    /** End the session without opening another. */
    end(options?: CallOptions): Promise<Session>;
    /** Return the summary learned from the session, or null. */
    summary(options?: CallOptions): Promise<SessionSummary | null>;
    /** Mark the memories that an answer cites as used, and return the answer without citations. */
    stripCitations(reply: string, options?: CallOptions): Promise<string>;
    /**
     * Wait until Bethink has learned from all messages of the session, and return the facts and claims. Queues
     * the session if necessary, like `checkpoint({ force: true })`. Returns early if the job was abandoned.
     * `done` is true if learning finished in time.
     */
    waitUntilLearned(options?: SessionWaitUntilLearnedOptions): Promise<LearnedSession>;
    /** Search memory. Best match first. If there is no match, `note` says why. */
    recall(question: string, options?: SessionRecallOptions): Promise<RecallResult>;
    /**
     * Build the memory block for a prompt. The block is byte-identical until memory changes. Build one when a
     * session starts or is compacted.
     */
    context(question?: string, options?: SessionContextOptions): Promise<ContextBlock>;
    /**
     * Permanently delete the messages of this session and everything derived from them. Returns counts and a
     * receipt. If this process stops, another one finishes the deletion.
     */
    forget(options?: SessionForgetOptions): Promise<Deletion>;
}

export interface AccessLogListOptions extends CallOptions {
    /** Name of the space (default: all spaces). */
    space?: string | null;
    /** Prefix of the API key (default: any). */
    key?: string | null;
    /** Person who made the request, or for whom it was made (default: any). */
    person?: string | null;
    /** Name of the operation, such as `space.recall` (default: any). */
    operation?: string | null;
    /** Ref that was read or changed, or `kind:id` for all versions of a fact or document (default: any). */
    ref?: string | null;
    /** Earliest time of entries (default: no limit). A date means the start of that day. */
    since?: When | null;
    /** Latest time of entries (default: no limit). A date means the end of that day. */
    until?: When | null;
    /** Maximum number of entries (default 50). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The access log: who read or changed what. */
export interface AccessLog {
    /**
     * List the access log: who read, wrote or deleted what, and who managed keys. Newest first. A page scans up
     * to 20,000 entries, so a page with filters can be short or empty and still have a `next`. The log contains
     * no questions or texts. The setting `access_log_days` limits the age of entries.
     */
    list(options?: AccessLogListOptions): Paged<Page<AccessEntry>, AccessEntry>;
}

export interface ContextLogListOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Id of the session (default: all sessions). */
    session_id?: string | null;
    /** Id of one entry (default: all entries). */
    entry_id?: string | null;
    /** Maximum number of entries (default 20). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

/** The memories that were shown to sessions. */
export interface ContextLog {
    /**
     * Mark memories as used, with the session summaries they are based on. Returns the number of existing
     * memories. Consolidation retains used memories longer.
     */
    markUsed(refs: readonly string[], options?: CallOptions): Promise<number>;
    /** List the memories shown to sessions, each with its text at that time. Newest first. */
    list(options?: ContextLogListOptions): Paged<Page<ContextLogEntry>, ContextLogEntry>;
}

export interface FilesAddOptions extends CallOptions {
    /** Key of this request. Repeating the request with the same key stores nothing twice (default: a new key). */
    idempotency_key?: string | null;
    /** Text of the file. */
    text?: string | null;
    /** Bytes of the file, instead of `text`: UTF-8, UTF-16 with a byte order mark, or PDF. Base64 in JSON. */
    data?: string | null;
    /** `text/plain`, `text/markdown`, `text/html` or `application/pdf` (default: from the suffix of `name`). */
    media_type?: string | null;
}

/** The files of a space, stored as searchable passages. */
export interface Files {
    /**
     * Store a file as searchable passages, each with its position in the file. Adding the same bytes again
     * changes nothing. A new version adds new passages and retracts removed ones. Passages that were deleted
     * with `forget` stay deleted. The text of a file is data, never an instruction of the user. The passages
     * form the conversation `file:NAME:`.
     */
    add(name: string, options?: FilesAddOptions): Promise<AddedFile>;
}

export interface KeysCreateOptions extends CallOptions {
    /** Names of the spaces that the key can access (default: all spaces). */
    spaces?: readonly string[] | null;
    /** Expiry time (default: never). */
    expires_at?: When | null;
}

export interface KeysRotateOptions extends CallOptions {
    /** Number of seconds that the old key stays valid (default 86,400: one day). */
    overlap?: number;
}

/** The API keys of a server. */
export interface Keys {
    /** Create an API key. The key itself is returned only once. */
    create(name: string, scopes: readonly Scope[], options?: KeysCreateOptions): Promise<NewKey>;
    /** Replace an API key with a new one. The old key expires after `overlap` seconds. */
    rotate(prefix: string, options?: KeysRotateOptions): Promise<NewKey>;
    /** Revoke an API key, in this process immediately and in others within seconds. */
    revoke(prefix: string, options?: CallOptions): Promise<void>;
    /** List all API keys, including expired and revoked ones. Oldest first. */
    list(options?: CallOptions): Promise<Page<KeyInfo>>;
}

export interface MemoryTestsAddOptions extends CallOptions {
    /**
     * Day or moment to read memory at: everything said until then (default: now). A date means the end of that
     * day.
     */
    as_of?: When | null;
    /** Moment at which memory had learned what it answers with (default: now). A date means the end of that day. */
    known_at?: When | null;
    /** Texts or refs that the first results must contain. Texts match in any case. */
    must?: readonly string[];
    /** Texts or refs that the first results must not contain. */
    must_not?: readonly string[];
    /** Number of results to check (default 5). */
    limit?: number;
    /** Kinds of memory to search (default: all). */
    kinds?: readonly RefKind[];
    /** Tags that items must all have. */
    tags?: readonly string[];
    /** Reason for the test. */
    note?: string;
    /** Ref of a fact or document. Deleting its text also removes the test. */
    about?: string | null;
    /** Id of the test (default: a new id). A test with the same id is replaced. */
    test_id?: string | null;
}

export interface MemoryTestsRunOptions extends CallOptions {
    /** Ids of the tests to run (default: all). */
    only?: readonly string[] | null;
    /** Tests to run instead of the stored ones. They are not stored. */
    tests?: readonly MemoryTestInput[] | null;
}

export interface MemoryTestsListOptions extends CallOptions {
    /** Maximum number of tests (default 100). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page, or its last id. */
    after?: string;
}

/** The memory tests of a space. */
export interface MemoryTests {
    /** Store a memory test and return it. */
    add(question: string, options?: MemoryTestsAddOptions): Promise<MemoryTest>;
    /** Remove a memory test. */
    remove(testId: string, options?: CallOptions): Promise<void>;
    /**
     * Run memory tests and return the result of each. Only searches: no model is called, and nothing is added
     * to the context log or marked as used.
     */
    run(options?: MemoryTestsRunOptions): Promise<MemoryTestResult[]>;
    /** List the memory tests of the space, ordered by id. */
    list(options?: MemoryTestsListOptions): Paged<Page<MemoryTest>, MemoryTest>;
}

export interface PeopleFindOptions extends CallOptions {
    /** Other names of the person, such as nicknames, initials or an email address. */
    aliases?: readonly string[];
    /** Ways to match: `speaker`, `words` and `entities` (default: all). */
    match?: readonly PersonMatchKind[];
    /** Maximum number of refs for each space (default 100). Counts include all matches. */
    limit?: number;
}

export interface PeopleExportOptions extends CallOptions {
    /** Other names of the person, such as nicknames, initials or an email address. */
    aliases?: readonly string[];
    /** Ways to match: `speaker`, `words` and `entities` (default: all). */
    match?: readonly PersonMatchKind[];
    /** Maximum number of items (default 1,000). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

export interface PeopleForgetOptions extends CallOptions {
    /** Other names of the person, such as nicknames, initials or an email address. */
    aliases?: readonly string[];
    /** Ways to match: `speaker`, `words` and `entities` (default: all). */
    match?: readonly PersonMatchKind[];
    /** Reason for the record, such as a request number. Do not include the name. */
    reason?: string;
    /** Whether to count the items without deleting them (default false). */
    dry_run?: boolean;
}

/** Data about a person, in all spaces. */
export interface People {
    /**
     * Find all data about a person in all accessible spaces, with counts and refs. Reads every text. Names
     * match only as whole words. Covers the spaces of the key, or all spaces without a key.
     */
    find(name: string, options?: PeopleFindOptions): Promise<PersonMatches>;
    /**
     * Export all data about a person in all accessible spaces, with texts. Reads every text. Names match only
     * as whole words. Covers the spaces of the key, or all spaces without a key.
     */
    export(name: string, options?: PeopleExportOptions): Paged<PersonItems, PersonItem>;
    /**
     * Permanently delete all data about a person in all accessible spaces, with a receipt for each. Spaces
     * under a legal hold stay unchanged and are listed with the reason. Covers the spaces of the key, or all
     * spaces without a key.
     */
    forget(name: string, options?: PeopleForgetOptions): Promise<PersonDeletion>;
}

export interface SpacePeopleFindOptions extends CallOptions {
    /** Other names of the person, such as nicknames, initials or an email address. */
    aliases?: readonly string[];
    /** Ways to match: `speaker`, `words` and `entities` (default: all). */
    match?: readonly PersonMatchKind[];
    /** Maximum number of refs for each space (default 100). Counts include all matches. */
    limit?: number;
}

export interface SpacePeopleExportOptions extends CallOptions {
    /** Other names of the person, such as nicknames, initials or an email address. */
    aliases?: readonly string[];
    /** Ways to match: `speaker`, `words` and `entities` (default: all). */
    match?: readonly PersonMatchKind[];
    /** Maximum number of items (default 1,000). */
    limit?: number;
    /** Cursor of the next page: the `next` of the previous page. */
    after?: string;
}

export interface SpacePeopleForgetOptions extends CallOptions {
    /** Other names of the person, such as nicknames, initials or an email address. */
    aliases?: readonly string[];
    /** Ways to match: `speaker`, `words` and `entities` (default: all). */
    match?: readonly PersonMatchKind[];
    /** Reason for the record, such as a request number. Do not include the name. */
    reason?: string;
    /** Whether to count the items without deleting them (default false). */
    dry_run?: boolean;
}

/** Data about a person, in one space. */
export interface SpacePeople {
    /**
     * Find all data about a person in the space, with counts and refs. Reads every text. Names match only as
     * whole words.
     */
    find(name: string, options?: SpacePeopleFindOptions): Promise<PersonInSpace>;
    /**
     * Export all data about a person in the space, with texts. Reads every text. Names match only as whole
     * words.
     */
    export(name: string, options?: SpacePeopleExportOptions): Paged<PersonItems, PersonItem>;
    /**
     * Permanently delete all data about a person in the space, and return a receipt. Deletes entire messages
     * and documents, even if others only mention the person. Use `find` first.
     */
    forget(name: string, options?: SpacePeopleForgetOptions): Promise<SpaceDeletion>;
}

export interface RelearningsProposeOptions extends CallOptions {
    /** Model as `provider:name` (default: the configured model). */
    model?: string;
    /** Model of the second pass as `provider:name` (default: the same model). */
    verify_model?: string;
    /** Instructions that replace those in the learning rules; empty for none (default: unchanged). */
    instructions?: string | null;
    /** System prompt that replaces the built-in one, except in the second pass (default: built-in). */
    prompt?: string;
    /** Whether to return the changes without applying them (default true). */
    dry_run?: boolean;
}

/** Proposals from learning a space again. */
export interface Relearnings {
    /**
     * Learn from all messages of the space again, and return the changes to its facts. Follows the learning
     * rules of the space. Claims are validated as usual, whatever the prompt says.
     */
    propose(options?: RelearningsProposeOptions): Promise<Relearning>;
    /** Apply a relearning in one transaction. */
    apply(relearningId: string, options?: CallOptions): Promise<Relearning>;
    /** Undo an applied relearning and restore the previous facts. */
    undo(relearningId: string, options?: CallOptions): Promise<Relearning>;
}

export interface SpaceRetentionSetOptions extends CallOptions {
    /** Origin: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: string | null;
}

export interface SpaceRetentionRemoveOptions extends CallOptions {
    /** Origin: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any). */
    origin?: string | null;
}

export interface SpaceRetentionRunOptions extends CallOptions {
    /** Whether to count the items without deleting them (default false). */
    dry_run?: boolean;
}

/** The retention rules of a space. */
export interface SpaceRetention {
    /**
     * Delete items older than N days from now on, with derived data. Return the rule. A worker deletes expired
     * items with a receipt; `retention.run` does so immediately. The rule replaces a rule with the same kind
     * and origin.
     */
    set(kind: RetentionKind, olderThan: number, options?: SpaceRetentionSetOptions): Promise<RetentionRule>;
    /** Remove the retention rule with this kind and origin. */
    remove(kind: RetentionKind, options?: SpaceRetentionRemoveOptions): Promise<void>;
    /** Run the retention rules now: delete old items and expired facts. */
    run(options?: SpaceRetentionRunOptions): Promise<RetentionReport>;
    /** List the retention rules of the space, including the rule from the settings. */
    list(options?: CallOptions): Promise<Page<RetentionRule>>;
}

export interface SpaceHoldsPlaceOptions extends CallOptions {
    /** Name of the person who places the hold (default: the user who runs the program). */
    actor?: string | null;
}

export interface SpaceHoldsListOptions extends CallOptions {
    /** Maximum number of holds (default 100). */
    limit?: number;
}

/** The legal holds on a space. */
export interface SpaceHolds {
    /** Place a legal hold. It blocks all deletions in the space until every hold is lifted. */
    place(reason: string, options?: SpaceHoldsPlaceOptions): Promise<LegalHold>;
    /** List legal holds on the space, including lifted ones. Newest first. */
    list(options?: SpaceHoldsListOptions): Promise<Page<LegalHold>>;
}

export interface HoldsLiftOptions extends CallOptions {
    /** Name of the person who lifts the hold (default: the user who runs the program). */
    actor?: string | null;
}

export interface HoldsListOptions extends CallOptions {
    /** Maximum number of holds (default 100). */
    limit?: number;
}

/** The legal holds on all spaces. */
export interface Holds {
    /**
     * Lift a legal hold on a space. Deletions that it blocked are then finished. The key needs the scope
     * `operate`, so a key that can only delete cannot lift a hold.
     */
    lift(space: string, holdId: string, reason: string, options?: HoldsLiftOptions): Promise<LegalHold>;
    /** List active legal holds in all spaces. Newest first. */
    list(options?: HoldsListOptions): Promise<Page<LegalHold>>;
}

export interface WebhooksCreateOptions extends CallOptions {
    /** Name of the space whose changes are sent (default: all spaces). */
    space?: string | null;
}

export interface WebhooksDeliveriesOptions extends CallOptions {
    /** Name of the space (default: all spaces). */
    space?: string | null;
    /** Maximum number of deliveries (default 100). */
    limit?: number;
}

/** The webhooks that receive changes. */
export interface Webhooks {
    /**
     * Create a webhook. Its secret is returned only once. A worker sends changes from now on. Changes of one
     * space arrive in order.
     */
    create(url: string, options?: WebhooksCreateOptions): Promise<NewWebhook>;
    /** Delete a webhook and its deliveries. A request in progress still arrives. */
    delete(webhookId: string, options?: CallOptions): Promise<void>;
    /** List deliveries to a webhook with attempts and responses. Most recent attempt first. */
    deliveries(webhookId: string, options?: WebhooksDeliveriesOptions): Promise<Page<Delivery>>;
    /** List all webhooks, including disabled ones. Oldest first. */
    list(options?: CallOptions): Promise<Page<WebhookInfo>>;
}
