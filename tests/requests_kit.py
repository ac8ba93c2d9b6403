"""A request for every verb, with every field that a caller may send set to something."""

from datetime import UTC, datetime
from typing import Any

from bethink.features.access import operations as access
from bethink.features.context_log import operations as context_log
from bethink.features.files import operations as files
from bethink.features.keys import operations as keys
from bethink.features.memory_tests import operations as tests
from bethink.features.memory_tests.records import MemoryTest
from bethink.features.people import operations as people
from bethink.features.people.records import PersonWay
from bethink.features.relearning import operations as relearning
from bethink.features.retention import operations as retention
from bethink.features.retention.records import RetentionKind
from bethink.features.webhooks import operations as webhooks
from bethink.model.access import Scope
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact
from bethink.model.held import HeldKind
from bethink.model.jobs import JobKind, JobStatus, SpendingBy
from bethink.model.kinds import FactKind, OwnKind
from bethink.model.operations import (
    changes,
    documents,
    erasures,
    facts,
    memory,
    reviews,
    rules,
    sessions,
    steering,
    threads,
    timeline,
)
from bethink.model.operations import installation as service
from bethink.model.operations import monitoring as operations
from bethink.model.operations.base import Empty, Request, Verb
from bethink.model.pages import FactState, Order, cursor_of
from bethink.model.recall import FactVerdict, Level, Ref, RefKind
from bethink.model.records import AgentKind, Message, Role, SessionState
from bethink.model.reviews import ReviewStatus
from bethink.model.steering import LearningRules
from bethink.model.timeline import TimelineKind
from bethink.model.working import Event, Mode

NOON = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
TALK = (
    Message(role=Role.USER, content="„Käse“ 🧀", said_at=NOON, metadata={"n": [1, 2.5, None]}, tags=("tea",)),
    Message(role=Role.TOOL, name="search", content="", tool_call_id="c1", is_error=True, tool_calls=[{"id": "c1"}]),
)
DRAFT = DocumentDraft(
    slug="people", title="People", body="Anna", parent="doc_top", links=("doc_top",), tags=("tea",), metadata={"n": 1}
)
FACT = Fact(
    id="f1",
    content="Anna drinks tea.",
    tags=("drink",),
    metadata={"k": "v"},
    kind=FactKind.DECISION,
    subject="Anna",
    slot="drink",
    valid_from=NOON,
    expires_at=NOON,
)
RULES = LearningRules(
    instructions="Learn what Anna eats.\nNever her address.",
    owner="Anna",
    time_zone="Europe/Oslo",
    slots={"favourite_tea": "the tea she drinks most"},
    kinds={"recipe": "how she cooks something"},
    expires_after={"recipe": 30, "goal": 365},
    hold_kinds=(FactKind.PREFERENCE, OwnKind("recipe")),
    held_flags=("health",),
)
NARROW: dict[str, Any] = {
    "origins": ("user", "tool:web"),
    "tags": ("tea", "Grün, ja"),
    "agent": "scout",
    "conversation": "talk",
    "speaker": "Anna",
    "since": NOON,
    "until": NOON,
    "where": {"k": "v&w=1", "n": {"gte": 3, "ne": None}, "list": [1, 2.5, True]},
}
"""Every field that narrows."""

_SESSION: dict[str, Any] = {"session_id": "ses_1"}
_DOCUMENT: dict[str, Any] = {"document_id": "doc_1"}
_THREAD: dict[str, Any] = {"thread_id": "thread_1"}
_PERSON: dict[str, Any] = {"name": "Anna", "aliases": ("Annie",), "by": (PersonWay.WORDS,)}

FULL: list[tuple[Verb[Any, Any], Request]] = [
    (memory.REMEMBER, memory.RememberRequest(
        messages=TALK, conversation="talk", agent="scout", idempotency_key="k", tags=("tea",), metadata={"k": [1]},
        **_SESSION)),
    (memory.RECALL, memory.RecallRequest(
        question="tea?", budget=100, as_of=NOON, limit=3, kinds=(RefKind.FACT,), explain=True, least=Level.FAIR,
        **NARROW,
        **_SESSION)),
    (memory.ASK, memory.AskRequest(
        question="tea?", budget=100, as_of=NOON, limit=3, kinds=(RefKind.FACT,), least=Level.FAIR,
        without=(Ref(RefKind.FACT, "f1", 1),), deadline=5.0, **NARROW, **_SESSION)),
    (memory.CONTEXT, memory.ContextRequest(question="tea?", budget=100, as_of=NOON, **NARROW, **_SESSION)),
    (memory.EXPLAIN, memory.ExplainRequest(ref=Ref(RefKind.MESSAGE, "ses_1", 7), depth=3)),
    (memory.CORRECT, memory.CorrectRequest(ref=Ref(RefKind.FACT, "f1", 1), text="Anna drinks mate.", expires_at=NOON)),
    (memory.USED, memory.UsedRequest(refs=(Ref(RefKind.FACT, "a:b/c", 2),))),
    (memory.SHOWN, memory.ShownRequest(as_of=NOON, limit=3, **_SESSION)),
    (memory.FORGET, memory.ForgetRequest(
        ref=Ref(RefKind.DOCUMENT, "doc_1", 2), version_only=True, agent="scout", dry_run=True, echoes=True, by="kari",
        reason="request 12", missing_ok=True)),
    (memory.JOBS, memory.JobsRequest(limit=3)),
    (memory.CONSOLIDATE, Empty()),
    (memory.LEARN_SPACE, service.LearnRequest(only=(JobKind.EXTRACT,))),
    (files.ADD_FILE, files.AddFileRequest(
        name="tea.md", data=b"\xff\xfeT\x00e\x00a\x00", media_type="text/markdown", idempotency_key="k")),
    (erasures.ERASURES, erasures.ErasuresRequest(limit=3)),
    (erasures.OPEN_ERASURES, Empty()),
    (retention.LIST_RETENTION, Empty()),
    (retention.SET_RETENTION, retention.SetRetentionRequest(
        kind=RetentionKind.FACT, older_than=365, origin="tool:web")),
    (retention.REMOVE_RETENTION, retention.RemoveRetentionRequest(kind=RetentionKind.FACT, origin="tool:web")),
    (retention.SWEEP, retention.SweepRequest(dry_run=True)),
    (retention.HOLD, retention.HoldRequest(reason="case 12", by="kari")),
    (retention.HOLDS, retention.HoldsRequest(limit=3)),
    (retention.LIFT, retention.LiftRequest(space="alice", hold_id="hld_1", reason="closed", by="kari")),
    (retention.ALL_HOLDS, retention.HoldsRequest(limit=3)),
    (people.FIND_IN_SPACE, people.FindPersonRequest(limit=3, **_PERSON)),
    (people.EXPORT_FROM_SPACE, people.ExportPersonRequest(limit=3, after=cursor_of("alice", 3), **_PERSON)),
    (people.FORGET_IN_SPACE, people.ForgetPersonRequest(reason="request 12", dry_run=True, **_PERSON)),
    (people.FIND_PERSON, people.FindPersonRequest(limit=3, **_PERSON)),
    (people.EXPORT_PERSON, people.ExportPersonRequest(limit=3, after=cursor_of("alice", 3), **_PERSON)),
    (people.FORGET_PERSON, people.ForgetPersonRequest(reason="request 12", dry_run=True, **_PERSON)),
    (timeline.TIMELINE, timeline.TimelineRequest(
        kinds=(TimelineKind.MESSAGE, TimelineKind.FACT), as_of=NOON, limit=3, after=cursor_of(1, 0, "f1", 2))),
    (context_log.PAGE_SHOWN, context_log.PageShownRequest(
        showing_id="shw_1", as_of=NOON, limit=3, after=cursor_of(1, "shw_2"), **_SESSION)),
    (relearning.RELEARN, relearning.RelearnRequest(
        model="openai:a", second_model="openai:b", instructions="Learn names.", prompt="Read this.", dry_run=False)),
    (relearning.APPLY_RELEARNING, relearning.RelearningRequest(relearning_id="rel_1")),
    (relearning.UNDO_RELEARNING, relearning.RelearningRequest(relearning_id="rel_1")),
    (steering.PREVIEW, steering.PreviewRequest(messages=TALK, rules=RULES, conversation="talk", agent="scout")),
    (steering.PIN, steering.PinRequest(ref=Ref(RefKind.FACT, "f1", 1))),
    (steering.UNPIN, steering.PinRequest(ref=Ref(RefKind.FACT, "f1", 1))),
    (steering.PINS, steering.PinsRequest(as_of=NOON, limit=3)),
    (steering.FEEDBACK, steering.FeedbackRequest(
        ref=Ref(RefKind.FACT, "f1", 1), verdict=FactVerdict.WRONG, note="She moved.", by="Anna")),
    (sessions.OPEN_SESSION, sessions.OpenSessionRequest(
        conversation="talk", agent="scout", kind=AgentKind.SUBAGENT, ephemeral=True, tags=("tea",),
        metadata={"k": [1]})),
    (sessions.FIND_SESSION, sessions.FindSessionRequest(conversation="talk", agent="scout")),
    (sessions.LIST_SESSIONS, sessions.ListSessionsRequest(
        limit=3, state=SessionState.FAILED, before="ses_1", conversation_prefix="talk/", **NARROW)),
    (sessions.GET_SESSION, sessions.SessionRequest(**_SESSION)),
    (sessions.APPEND, sessions.AppendRequest(messages=TALK, idempotency_key="k", **_SESSION)),
    (sessions.READ_MESSAGES, sessions.ReadRequest(after=7, limit=3, last=2, **NARROW, **_SESSION)),
    (sessions.RETRACT, sessions.RetractRequest(number=3, **_SESSION)),
    (sessions.TRANSCRIPT, sessions.TranscriptRequest(around=17, limit=3, **_SESSION)),
    (sessions.END_TURN, sessions.SessionRequest(**_SESSION)),
    (sessions.IDLE, sessions.SessionRequest(**_SESSION)),
    (sessions.RESET, sessions.ResetRequest(emergency=True, **_SESSION)),
    (sessions.COMPACTED, sessions.SessionRequest(**_SESSION)),
    (sessions.END, sessions.SessionRequest(**_SESSION)),
    (sessions.RETRY, sessions.SessionRequest(**_SESSION)),
    (sessions.SESSION_MEMORY, sessions.SessionRequest(**_SESSION)),
    (sessions.CITED, sessions.CitedRequest(answer="Tea [1].", **_SESSION)),
    (facts.LIST_FACTS, facts.ListFactsRequest(as_of=NOON, limit=3, after="f1", **NARROW)),
    (facts.PAGE_FACTS, facts.PageFactsRequest(
        state=FactState.RETIRED, subject="Anna", slot="drink", kind=FactKind.DECISION, origin="user",
        order=Order.OLDEST, as_of=NOON, limit=3, after=cursor_of(1, "f1", 2))),
    (facts.SEARCH_FACTS, facts.SearchFactsRequest(query="tea", as_of=NOON, limit=3, **NARROW)),
    (facts.FACTS_BY_METADATA, facts.FactsByMetadataRequest(key="k", value="v")),
    (facts.COUNT_FACTS, Empty()),
    (facts.GET_FACT, facts.FactRequest(fact_id="f/1 ä")),
    (facts.SAVE_FACT, facts.SaveFactRequest(fact=FACT, expected=1)),
    (facts.FACT_VERSIONS, facts.FactRequest(fact_id="f1")),
    (facts.FACT_SOURCES, facts.FactRequest(fact_id="f1")),
    (facts.FACT_QUOTES, facts.FactRequest(fact_id="f1")),
    (reviews.LIST_REVIEWS, reviews.ListReviewsRequest(status=ReviewStatus.REFUSED, limit=3, after="rev_1")),
    (reviews.COUNT_REVIEWS, Empty()),
    (reviews.GET_REVIEW, reviews.ReviewRequest(review_id="rev_1")),
    (reviews.PROPOSE_REVIEW, reviews.ProposeRequest(
        ref=Ref(RefKind.MESSAGE, "ses_1", 7), statement="Anna drinks mate.", kind=FactKind.PREFERENCE)),
    (reviews.APPROVE_REVIEW, reviews.ApproveReviewRequest(review_id="rev_1", statement="Tea.", note="She said so.")),
    (reviews.REJECT_REVIEW, reviews.RejectReviewRequest(review_id="rev_1", note="A joke.")),
    (reviews.APPROVE_REVIEWS, reviews.DecideReviewsRequest(review_ids=("rev_1", "rev_2"), note="All true.")),
    (reviews.REJECT_REVIEWS, reviews.DecideReviewsRequest(review_ids=("rev_1", "rev_2"), note="All false.")),
    (rules.GET_RULES, rules.GetRulesRequest(agent="scout")),
    (rules.SET_RULES, rules.SetRulesRequest(agent="scout", rules=RULES)),
    (documents.TREE, documents.ListDocumentsRequest(as_of=NOON, path_prefix="~/memory", limit=3)),
    (documents.SEARCH_DOCUMENTS, documents.SearchDocumentsRequest(query="tea", as_of=NOON, limit=3)),
    (documents.FIND_DOCUMENT, documents.FindDocumentRequest(path="~/memory/people", as_of=NOON)),
    (documents.CHILDREN, documents.ChildrenRequest(as_of=NOON, **_DOCUMENT)),
    (documents.OUTLINE, documents.OutlineRequest(as_of=NOON, limit=3, after=cursor_of("anna"), **_DOCUMENT)),
    (documents.GET_DOCUMENT, documents.GetDocumentRequest(as_of=NOON, **_DOCUMENT)),
    (documents.CREATE_DOCUMENT, documents.CreateDocumentRequest(
        draft=DRAFT, agent="scout", idempotency_key="k", **_DOCUMENT)),
    (documents.UPDATE_DOCUMENT, documents.UpdateDocumentRequest(
        draft=DRAFT, expected=1, reason="She moved.", agent="scout", idempotency_key="k", **_DOCUMENT)),
    (documents.WRITTEN, documents.WrittenRequest(key="k")),
    (documents.DELETE_DOCUMENT, documents.DeleteDocumentRequest(
        expected=1, missing_ok=True, idempotency_key="k", **_DOCUMENT)),
    (documents.RESTORE_DOCUMENT, documents.RestoreDocumentRequest(version=1, expected=None, **_DOCUMENT)),
    (documents.DOCUMENT_VERSIONS, documents.DocumentRequest(**_DOCUMENT)),
    (documents.DOCUMENT_HISTORY, documents.DocumentHistoryRequest(limit=3, after=cursor_of(4), **_DOCUMENT)),
    (documents.BLAME, documents.BlameRequest(version=3, **_DOCUMENT)),
    (documents.DIFF_DOCUMENT, documents.DiffDocumentRequest(before=0, after=1, **_DOCUMENT)),
    (documents.DOCUMENT_SOURCES, documents.DocumentSourcesRequest(version=1, **_DOCUMENT)),
    (documents.FILES, Empty()),
    (documents.LIST_CHANGES, documents.ListChangesRequest(limit=3)),
    (documents.APPROVE, documents.ApproveChangeRequest(
        run="run_1", paths=("~/memory/tea",), texts={"~/memory/tea": "She likes tea."})),
    (documents.REJECT, documents.ChangeRequest(run="run_1")),
    (documents.UNDO, documents.ChangeRequest(run="run_1")),
    (threads.OPEN_THREAD, threads.OpenThreadRequest(mode=Mode.STEPPING, **_THREAD, **_SESSION)),
    (threads.LIST_THREADS, threads.ListThreadsRequest(limit=3, after="thread_1")),
    (threads.GET_THREAD, threads.ThreadRequest(**_THREAD)),
    (threads.DISPATCH, threads.DispatchRequest(event=Event(type="USER_MESSAGE", payload={"text": "tea"}), **_THREAD)),
    (threads.STEP, threads.ThreadRequest(**_THREAD)),
    (threads.SET_MODE, threads.SetModeRequest(mode=Mode.STEPPING, **_THREAD)),
    (threads.QUEUE, threads.ThreadRequest(**_THREAD)),
    (threads.FAILED_EVENTS, threads.ThreadRequest(**_THREAD)),
    (threads.STATES, threads.StatesRequest(after=3, limit=3, **_THREAD)),
    (threads.STATE, threads.StateRequest(number=3, **_THREAD)),
    (threads.DIFF_STATES, threads.DiffStatesRequest(before=1, after=2, **_THREAD)),
    (threads.PROMPT, threads.PromptRequest(budget=100, **_THREAD)),
    (threads.TOKEN_USAGE, threads.ThreadRequest(**_THREAD)),
    (threads.FORK, threads.ForkRequest(at=1, into="thread_2", mode=Mode.STEPPING, **_THREAD)),
    (threads.REPLAY, threads.ThreadRequest(**_THREAD)),
    (tests.ADD_TEST, tests.AddTestRequest(
        question="Who drinks „Käse“?", must=("Anna", "fact:f1:1"), must_not=("Bob",), as_of=NOON, limit=3,
        kinds=(RefKind.FACT,), tags=("tea",), note="She said so.", about=Ref(RefKind.FACT, "f1", 2), test_id="tea")),
    (tests.LIST_TESTS, tests.ListTestsRequest(limit=3, after="tea")),
    (tests.REMOVE_TEST, tests.TestRequest(test_id="tea/1 ä")),
    (tests.RUN_TESTS, tests.RunTestsRequest(
        only=("tea",), tests=(MemoryTest(question="Tea?", must_not=("Bob",), as_of=NOON, created_at=NOON),))),
    (changes.CHANGES, changes.ChangesRequest(after=7, limit=3, wait=0.01)),
    (changes.LEARNT, changes.LearntRequest(wait=0.01, **_SESSION)),
    (webhooks.CREATE_WEBHOOK, webhooks.CreateWebhookRequest(url="https://93.184.215.14/hook", space="alice")),
    (webhooks.LIST_WEBHOOKS, Empty()),
    (webhooks.DELETE_WEBHOOK, webhooks.WebhookRequest(webhook_id="whk_1")),
    (webhooks.DELIVERIES, webhooks.DeliveriesRequest(webhook_id="whk_1", space="alice", limit=3)),
    (operations.PAGE_JOBS, operations.PageJobsRequest(
        status=JobStatus.FAILED, kind=JobKind.INDEX, limit=3, after=cursor_of(1, "index", "alice", "space"))),
    (operations.HELD, operations.HeldRequest(
        kind=HeldKind.CLAIM, limit=3, after=cursor_of(1, "alice", "claim", "rev_1"))),
    (operations.SPENDING, operations.SpendingRequest(by=SpendingBy.MODEL, since=NOON, until=NOON, limit=3)),
    (operations.PAGE_SPACES, operations.PageSpacesRequest(prefix="al", limit=3, after=cursor_of("alice"))),
    (operations.COUNTERS, Empty()),
    (operations.SETTINGS, Empty()),
    (operations.PAGE_SPACE_JOBS, operations.PageSpaceJobsRequest(
        status=JobStatus.DONE, kind=JobKind.EXTRACT, limit=3, after=cursor_of(1, "extract", "ses_1"))),
    (operations.GET_JOB, operations.JobRequest(kind=JobKind.WRITE, key="agt_1")),
    (operations.RETRY_JOB, operations.JobRequest(kind=JobKind.WRITE, key="agt_1")),
    (operations.SUMMARY, Empty()),
    (operations.SPACE_SPENDING, operations.SpaceSpendingRequest(since=NOON, until=NOON)),
    (
        access.ACCESS,
        access.AccessRequest(
            space="alice", key="0123456789ab", person="kari", verb="space.recall", ref="fact:f:1", since=NOON,
            until=NOON, limit=5, after=cursor_of(1, "acc_1"),
        ),
    ),
    (service.LIST_SPACES, service.ListSpacesRequest(limit=3, after="alice")),
    (service.AUDIT, Empty()),
    (service.LEARN, service.LearnRequest(only=(JobKind.EXTRACT,))),
    (keys.CREATE_KEY, keys.CreateKeyRequest(
        name="reader", scopes=(Scope.READ, Scope.WRITE), spaces=("alice", "bob"), expires_at=NOON)),
    (keys.LIST_KEYS, Empty()),
    (keys.ROTATE_KEY, keys.RotateKeyRequest(prefix="0123456789ab", overlap=1.5)),
    (keys.REVOKE_KEY, keys.KeyRequest(prefix="0123456789ab")),
]  # fmt: skip
