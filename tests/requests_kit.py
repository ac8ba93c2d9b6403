"""A request for every operation, with every field that a caller may send."""

from datetime import UTC, datetime
from typing import Any

from bethink.features.access import operations as access
from bethink.features.context_log import operations as context_log
from bethink.features.files import operations as files
from bethink.features.keys import operations as keys
from bethink.features.memory_tests import operations as tests
from bethink.features.memory_tests.records import MemoryTest
from bethink.features.people import operations as people
from bethink.features.people.records import PersonMatchKind
from bethink.features.relearning import operations as relearning
from bethink.features.retention import operations as retention
from bethink.features.retention.records import RetentionKind
from bethink.features.webhooks import operations as webhooks
from bethink.model.access import Scope
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact, FactStatus
from bethink.model.held import PendingKind
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
from bethink.model.operations.base import Empty, Operation, Request
from bethink.model.pages import Order, cursor_of
from bethink.model.recall import Certainty, FactVerdict
from bethink.model.records import AgentKind, Message, RestartReason, Role, SessionState
from bethink.model.refs import Ref, RefKind
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
    text="Anna drinks tea.",
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
    review_kinds=(FactKind.PREFERENCE, OwnKind("recipe")),
    review_flags=("health",),
)
NARROW: dict[str, Any] = {
    "origin": ("user", "tool:web"),
    "tags": ("tea", "Grün, ja"),
    "agent": "scout",
    "conversation": "talk",
    "speaker": "Anna",
    "since": NOON,
    "until": NOON,
    "where": {"k": "v&w=1", "n": {"gte": 3, "ne": None}, "list": [1, 2.5, True]},
}
"""Every field that narrows."""

_VIEW: dict[str, Any] = {"as_of": NOON, "known_at": NOON}
_SESSION: dict[str, Any] = {"session_id": "ses_1"}
_DOCUMENT: dict[str, Any] = {"document_id": "doc_1"}
_THREAD: dict[str, Any] = {"thread_id": "thread_1"}
_PERSON: dict[str, Any] = {"name": "Anna", "aliases": ("Annie",), "match": (PersonMatchKind.WORDS,)}

FULL: list[tuple[Operation[Any, Any], Request]] = [
    (memory.REMEMBER, memory.RememberRequest(
        messages=TALK, conversation="talk", agent="scout", idempotency_key="k", tags=("tea",), metadata={"k": [1]},
        **_SESSION)),
    (memory.RECALL, memory.RecallRequest(
        question="tea?", budget=100, **_VIEW, limit=3, kinds=(RefKind.FACT,), explain=True,
        min_certainty=Certainty.FAIR, **NARROW, **_SESSION)),
    (memory.ASK, memory.AskRequest(
        question="tea?", budget=100, **_VIEW, limit=3, kinds=(RefKind.FACT,), min_certainty=Certainty.FAIR,
        spaces=("team",), exclude=(Ref(RefKind.FACT, "f1", 1),), timeout=5.0, **NARROW, **_SESSION)),
    (memory.CONTEXT, memory.ContextRequest(
        question="tea?", budget=100, citations=False, kinds=(RefKind.FACT,), **_VIEW, **NARROW, **_SESSION)),
    (memory.EXPLAIN, memory.ExplainRequest(ref=Ref(RefKind.MESSAGE, "ses_1", 7), depth=3, **_VIEW)),
    (memory.CORRECT, memory.CorrectRequest(ref=Ref(RefKind.FACT, "f1", 1), text="Anna drinks mate.", expires_at=NOON)),
    (memory.MARK_USED, memory.MarkUsedRequest(refs=(Ref(RefKind.FACT, "a:b/c", 2),))),
    (memory.FORGET, memory.ForgetRequest(
        ref=Ref(RefKind.DOCUMENT, "doc_1", 2), version_only=True, agent="scout", dry_run=True, include_repeats=True,
        actor="kari", reason="request 12", missing_ok=True)),
    (memory.REFRESH_DOCUMENTS, Empty()),
    (memory.LEARN_SPACE, service.LearnRequest(kinds=(JobKind.EXTRACT,))),
    (files.ADD_FILE, files.AddFileRequest(
        name="tea.md", data=b"\xff\xfeT\x00e\x00a\x00", media_type="text/markdown", idempotency_key="k")),
    (erasures.LIST_ERASURES, erasures.ListErasuresRequest(limit=3, after=cursor_of(1, "ers_1"))),
    (erasures.LIST_OPEN_ERASURES, Empty()),
    (erasures.GET_PUBLIC_KEY, Empty()),
    (retention.LIST_RETENTION, Empty()),
    (retention.SET_RETENTION, retention.SetRetentionRequest(
        kind=RetentionKind.FACT, older_than=365, origin="tool:web")),
    (retention.REMOVE_RETENTION, retention.RemoveRetentionRequest(kind=RetentionKind.FACT, origin="tool:web")),
    (retention.RUN_RETENTION, retention.RunRetentionRequest(dry_run=True)),
    (retention.PLACE_HOLD, retention.PlaceHoldRequest(reason="case 12", actor="kari")),
    (retention.LIST_HOLDS, retention.ListHoldsRequest(limit=3)),
    (retention.LIFT_HOLD, retention.LiftHoldRequest(space="alice", hold_id="hld_1", reason="closed", actor="kari")),
    (retention.LIST_ALL_HOLDS, retention.ListHoldsRequest(limit=3)),
    (people.FIND_IN_SPACE, people.FindPersonRequest(limit=3, **_PERSON)),
    (people.EXPORT_FROM_SPACE, people.ExportPersonRequest(limit=3, after=cursor_of("alice", 3), **_PERSON)),
    (people.FORGET_IN_SPACE, people.ForgetPersonRequest(reason="request 12", dry_run=True, **_PERSON)),
    (people.FIND_PERSON, people.FindPersonRequest(limit=3, **_PERSON)),
    (people.EXPORT_PERSON, people.ExportPersonRequest(limit=3, after=cursor_of("alice", 3), **_PERSON)),
    (people.FORGET_PERSON, people.ForgetPersonRequest(reason="request 12", dry_run=True, **_PERSON)),
    (timeline.TIMELINE, timeline.TimelineRequest(
        kinds=(TimelineKind.MESSAGE, TimelineKind.FACT), **_VIEW, limit=3, after=cursor_of(1, 0, "f1", 2))),
    (context_log.LIST_CONTEXT_LOG, context_log.ListContextLogRequest(
        entry_id="shw_1", **_VIEW, limit=3, after=cursor_of(1, "shw_2"), **_SESSION)),
    (relearning.PROPOSE_RELEARNING, relearning.ProposeRelearningRequest(
        model="openai:a", verify_model="openai:b", instructions="Learn names.", prompt="Read this.", dry_run=False)),
    (relearning.APPLY_RELEARNING, relearning.RelearningRequest(relearning_id="rel_1")),
    (relearning.UNDO_RELEARNING, relearning.RelearningRequest(relearning_id="rel_1")),
    (steering.PREVIEW_RULES, steering.PreviewRulesRequest(
        messages=TALK, rules=RULES, conversation="talk", agent="scout")),
    (steering.PIN_FACT, steering.PinFactRequest(ref=Ref(RefKind.FACT, "f1", 1))),
    (steering.UNPIN_FACT, steering.PinFactRequest(ref=Ref(RefKind.FACT, "f1", 1))),
    (steering.RATE_FACT, steering.RateFactRequest(
        ref=Ref(RefKind.FACT, "f1", 1), verdict=FactVerdict.WRONG, note="She moved.", actor="Anna")),
    (sessions.OPEN_SESSION, sessions.OpenSessionRequest(
        conversation="talk", agent="scout", kind=AgentKind.SUBAGENT, ephemeral=True, tags=("tea",),
        metadata={"k": [1]})),
    (sessions.FIND_SESSION, sessions.FindSessionRequest(conversation="talk", agent="scout")),
    (sessions.LIST_SESSIONS, sessions.ListSessionsRequest(
        limit=3, state=SessionState.FAILED, after="ses_1", conversation_prefix="talk/", **NARROW)),
    (sessions.GET_SESSION, sessions.SessionRequest(**_SESSION)),
    (sessions.APPEND, sessions.AppendRequest(messages=TALK, idempotency_key="k", **_SESSION)),
    (
        sessions.READ_MESSAGES,
        sessions.ReadMessagesRequest(after=7, limit=3, last=2, visible=True, **NARROW, **_SESSION),
    ),
    (sessions.RETRACT, sessions.RetractRequest(number=3, **_SESSION)),
    (sessions.TRANSCRIPT, sessions.TranscriptRequest(around=17, limit=3, **_SESSION)),
    (sessions.CHECKPOINT, sessions.CheckpointRequest(force=True, **_SESSION)),
    (sessions.RESTART_SESSION, sessions.RestartRequest(reason=RestartReason.EMERGENCY, **_SESSION)),
    (sessions.END_SESSION, sessions.SessionRequest(**_SESSION)),
    (sessions.RELEARN_SESSION, sessions.SessionRequest(**_SESSION)),
    (sessions.SESSION_SUMMARY, sessions.SessionRequest(**_SESSION)),
    (sessions.STRIP_CITATIONS, sessions.StripCitationsRequest(reply="Tea [1].", **_SESSION)),
    (facts.LIST_FACTS, facts.ListFactsRequest(**_VIEW, limit=3, after="f1", **NARROW)),
    (facts.FACT_HISTORY, facts.FactHistoryRequest(
        status=FactStatus.REPLACED, subject="Anna", slot="drink", kind=FactKind.DECISION, origin="user",
        order=Order.OLDEST, **_VIEW, limit=3, after=cursor_of(1, "f1", 2))),
    (facts.SEARCH_FACTS, facts.SearchFactsRequest(query="tea", **_VIEW, limit=3, **NARROW)),
    (facts.COUNT_FACTS, Empty()),
    (facts.GET_FACT, facts.FactRequest(fact_id="f/1 ä")),
    (facts.SAVE_FACT, facts.SaveFactRequest(fact=FACT, if_version=1)),
    (facts.FACT_VERSIONS, facts.FactRequest(fact_id="f1")),
    (facts.FACT_SOURCES, facts.FactRequest(fact_id="f1")),
    (facts.FACT_QUOTES, facts.FactRequest(fact_id="f1")),
    (reviews.LIST_REVIEWS, reviews.ListReviewsRequest(status=ReviewStatus.REFUSED, limit=3, after="rev_1")),
    (reviews.COUNT_REVIEWS, Empty()),
    (reviews.GET_REVIEW, reviews.ReviewRequest(review_id="rev_1")),
    (reviews.PROPOSE_REVIEW, reviews.ProposeRequest(
        ref=Ref(RefKind.MESSAGE, "ses_1", 7), text="Anna drinks mate.", kind=FactKind.PREFERENCE)),
    (reviews.APPROVE_REVIEW, reviews.ApproveReviewRequest(review_id="rev_1", text="Tea.", note="She said so.")),
    (reviews.REJECT_REVIEW, reviews.RejectReviewRequest(review_id="rev_1", note="A joke.")),
    (reviews.APPROVE_REVIEWS, reviews.DecideReviewsRequest(review_ids=("rev_1", "rev_2"), note="All true.")),
    (reviews.REJECT_REVIEWS, reviews.DecideReviewsRequest(review_ids=("rev_1", "rev_2"), note="All false.")),
    (rules.GET_RULES, rules.GetRulesRequest(agent="scout")),
    (rules.SET_RULES, rules.SetRulesRequest(agent="scout", rules=RULES)),
    (documents.LIST_DOCUMENTS, documents.ListDocumentsRequest(
        **_VIEW, prefix="~/memory", limit=3, after=cursor_of("~/memory/people"))),
    (documents.SEARCH_DOCUMENTS, documents.SearchDocumentsRequest(query="tea", **_VIEW, limit=3)),
    (documents.FIND_DOCUMENT, documents.FindDocumentRequest(path="~/memory/people", **_VIEW)),
    (documents.LIST_CHILDREN, documents.ListChildrenRequest(**_VIEW, **_DOCUMENT)),
    (documents.OUTLINE, documents.OutlineRequest(**_VIEW, limit=3, after=cursor_of("anna"), **_DOCUMENT)),
    (documents.GET_DOCUMENT, documents.GetDocumentRequest(**_VIEW, **_DOCUMENT)),
    (documents.CREATE_DOCUMENT, documents.CreateDocumentRequest(
        draft=DRAFT, agent="scout", idempotency_key="k", **_DOCUMENT)),
    (documents.UPDATE_DOCUMENT, documents.UpdateDocumentRequest(
        draft=DRAFT, if_version=1, reason="She moved.", agent="scout", idempotency_key="k", **_DOCUMENT)),
    (documents.DELETE_DOCUMENT, documents.DeleteDocumentRequest(
        if_version=1, missing_ok=True, idempotency_key="k", **_DOCUMENT)),
    (documents.RESTORE_DOCUMENT, documents.RestoreDocumentRequest(version=1, if_version=None, **_DOCUMENT)),
    (documents.DOCUMENT_VERSIONS, documents.DocumentRequest(**_DOCUMENT)),
    (documents.DOCUMENT_HISTORY, documents.DocumentHistoryRequest(limit=3, after=cursor_of(4), **_DOCUMENT)),
    (documents.BLAME, documents.BlameRequest(version=3, **_DOCUMENT)),
    (documents.DIFF_DOCUMENT, documents.DiffDocumentRequest(before=0, after=1, **_DOCUMENT)),
    (documents.DOCUMENT_SOURCES, documents.DocumentSourcesRequest(version=1, **_DOCUMENT)),
    (documents.READ_ALL_DOCUMENTS, Empty()),
    (documents.LIST_DOCUMENT_CHANGES, documents.ListDocumentChangesRequest(limit=3, after=cursor_of(1, "run_1"))),
    (documents.APPROVE_DOCUMENT_CHANGE, documents.ApproveDocumentChangeRequest(
        run="run_1", paths=("~/memory/tea",), texts={"~/memory/tea": "She likes tea."})),
    (documents.REJECT_DOCUMENT_CHANGE, documents.DocumentChangeRequest(run="run_1")),
    (documents.UNDO_DOCUMENT_CHANGE, documents.DocumentChangeRequest(run="run_1")),
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
        question="Who drinks „Käse“?", must=("Anna", "fact:f1:1"), must_not=("Bob",), **_VIEW, limit=3,
        kinds=(RefKind.FACT,), tags=("tea",), note="She said so.", about=Ref(RefKind.FACT, "f1", 2), test_id="tea")),
    (tests.LIST_TESTS, tests.ListTestsRequest(limit=3, after="tea")),
    (tests.REMOVE_TEST, tests.TestRequest(test_id="tea/1 ä")),
    (tests.RUN_TESTS, tests.RunTestsRequest(
        only=("tea",), tests=(MemoryTest(question="Tea?", must_not=("Bob",), **_VIEW, created_at=NOON),))),
    (changes.LIST_CHANGES, changes.ListChangesRequest(after=7, limit=3, wait=0.01)),
    (changes.WAIT_UNTIL_LEARNED, changes.WaitUntilLearnedRequest(timeout=0.01, **_SESSION)),
    (webhooks.CREATE_WEBHOOK, webhooks.CreateWebhookRequest(url="https://93.184.215.14/hook", space="alice")),
    (webhooks.LIST_WEBHOOKS, Empty()),
    (webhooks.DELETE_WEBHOOK, webhooks.WebhookRequest(webhook_id="whk_1")),
    (webhooks.LIST_DELIVERIES, webhooks.ListDeliveriesRequest(webhook_id="whk_1", space="alice", limit=3)),
    (operations.LIST_JOBS, operations.ListJobsRequest(
        status=JobStatus.FAILED, kind=JobKind.INDEX, limit=3, after=cursor_of(1, "index", "alice", "space"))),
    (operations.LIST_PENDING, operations.ListPendingRequest(
        kind=PendingKind.CLAIM, limit=3, after=cursor_of(1, "alice", "claim", "rev_1"))),
    (operations.LIST_SPENDING, operations.ListSpendingRequest(by=SpendingBy.MODEL, since=NOON, until=NOON, limit=3)),
    (operations.LIST_SPACES, operations.ListSpacesRequest(prefix="al", limit=3, after=cursor_of("alice"))),
    (operations.GET_HEALTH, Empty()),
    (operations.LIST_SETTINGS, Empty()),
    (operations.LIST_SPACE_JOBS, operations.ListSpaceJobsRequest(
        status=JobStatus.DONE, kind=JobKind.EXTRACT, limit=3, after=cursor_of(1, "extract", "ses_1"))),
    (operations.GET_JOB, operations.JobRequest(kind=JobKind.WRITE, key="agt_1")),
    (operations.RETRY_JOB, operations.JobRequest(kind=JobKind.WRITE, key="agt_1")),
    (operations.GET_SPACE_HEALTH, Empty()),
    (operations.LIST_SPACE_SPENDING, operations.ListSpaceSpendingRequest(since=NOON, until=NOON)),
    (
        access.LIST_ACCESS,
        access.ListAccessRequest(
            space="alice", key="0123456789ab", person="kari", operation="space.recall", ref="fact:f:1", since=NOON,
            until=NOON, limit=5, after=cursor_of(1, "acc_1"),
        ),
    ),
    (service.AUDIT, Empty()),
    (service.LEARN, service.LearnRequest(kinds=(JobKind.EXTRACT,))),
    (keys.CREATE_KEY, keys.CreateKeyRequest(
        name="reader", scopes=(Scope.READ, Scope.WRITE), spaces=("alice", "bob"), expires_at=NOON)),
    (keys.LIST_KEYS, Empty()),
    (keys.ROTATE_KEY, keys.RotateKeyRequest(prefix="0123456789ab", overlap=1.5)),
    (keys.REVOKE_KEY, keys.KeyRequest(prefix="0123456789ab")),
]  # fmt: skip
