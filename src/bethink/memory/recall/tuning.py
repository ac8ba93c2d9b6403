"""Every weight and cut-off of recall.

SETS in a comment means: tuned on the odd conversations of LoCoMo, REALTALK, BEAM-100K and LongMemEval, on
MADial, and on the tuning half of our everyday set, one value for all of them (docs/adr/0008-recall.md). Run
`python -m benchmarks.recall --all` before and after you change such a value; it shows both halves. NONE means that no
benchmark covers it: it is a judgment call.
"""

from dataclasses import replace

from bethink.base.frozen import frozen
from bethink.model.recall import Certainty
from bethink.store.candidates import BOUNDS, Bounds


@frozen
class CertaintyWeights:
    """The logistic weights of an answer's certainty, for `certainty.py`."""

    alone: float
    total: float
    """Of the total, compared with the tenth."""
    lead: float
    """Of the lead over the best rival."""
    near: float = 0.0


@frozen
class Tuning:
    """One set of values for all data."""

    # The number of candidates (pipeline.py, matching.py).
    bounds: Bounds = BOUNDS  # `benchmarks.recall --set longmemeval --together`, and `benchmarks.scale`
    pool: int = 100  # SETS: candidates whose texts are read for the final ranking
    pool_per_result: int = 2  # NONE: and at least this many for each result that may be returned
    pool_filtered: int = 10  # NONE: multiplied by this in a filtered search, as neighbors may drop out later
    nearest: int = 2_000  # NONE: vectors compared
    told_later: int = 7  # NONE: days after a time, if nothing was said then and the question asks about nothing else
    messages_at_time: int = 100  # NONE: messages from a time, if the question asks about nothing else

    # Words, and the weight of a word in the messages around it (counts.py, signals/words.py).
    words: float = 1.0  # the other weights are relative to this
    saturation: float = 1.2  # SETS: the occurrences at which a word counts half
    length_share: float = 0.45  # SETS: how much the length of a text matters
    usual_length: float = 40.0  # SETS: in words; the average length in the space did worse
    bytes_per_word: float = 5.6  # NONE
    topic: float = 0.5  # facts: a topic of the question, compared with a word of it; facts only
    related: float = 0.5  # SETS: a related word, compared with the word itself
    after: float = 0.12  # SETS: in the next message
    answering: float = 0.2  # SETS: added to that if the message may answer a question
    before: float = 0.15  # SETS: in the message before
    two_away: float = 0.1  # SETS: in the messages two away

    # The reliability of words and sessions, compared with vectors (fuse.py).
    words_matched: float = 2.0  # SETS, with MiniLM: the words in one text at which they count as much as vectors
    words_covered: float = 0.25  # SETS, with MiniLM: the exponent of the score of the best text

    # Sessions (signals/session.py).
    session: float = 0.525  # SETS
    session_saturation: float = 2.0  # SETS
    session_full: float = 0.5  # SETS: a session with this share of the worth of the question counts fully

    # Vectors (signals/vector.py, signals/window.py).
    vector: float = 1.2  # SETS, with MiniLM
    window: float = 0.6  # SETS, with MiniLM
    foreign: float = 0.05  # MADial-zh and twelve languages: the weight of both in an unsupported language
    near_unrelated: float = 0.18  # SETS: the score of a typical cosine of unrelated texts
    near_related: float = 0.555  # SETS: the score of a typical cosine of an answer
    cosines_from: int = 50  # NONE: similarities needed to estimate the cosine of unrelated texts
    cosines_differ: float = 0.2  # NONE: an embedder whose unrelated texts differ by more has another scale
    cosines_spread: float = 3.8  # everyday: standard deviations up to a typical answer, for three embedders

    # Bounded factors on the total (fuse.py).
    asks: float = 0.6  # SETS
    asks_characters: int = 120  # SETS: a longer message also states something
    date: float = 0.4  # SETS
    date_alone: float = 0.15  # SETS: the weight of the right date for a candidate without other signals
    speaker: float = 0.25  # SETS
    quoted: float = 0.1  # SETS
    entity: float = 0.1  # NONE: the sets have no facts
    learned: float = 0.1  # NONE: as above; it breaks ties between a fact and messages
    recency: float = 0.02  # SETS: it only breaks ties
    recency_now: float = 0.05  # SETS: for a question about the present
    recency_days: float = 30.0  # NONE: the age at which recency counts half
    usage: float = 0.05  # NONE: the sets record no use
    usage_times: float = 3.0  # NONE: the number of uses that counts half

    # Exchanges (signals/exchange.py).
    exchanges: int = 30  # NONE: the best candidates whose neighbors are read and ranked with them
    going_on: int = 2  # NONE: the best candidates whose speakers may go on after the reply, if fairly certain
    exchange: float = 0.4  # SETS: the share of the score of a question that its reply takes over
    exchange_of_user: float = 0.2  # SETS: the same, if the question is about the user
    exchange_of_assistant: float = 0.8  # SETS: the same, if it is about what the assistant said
    exchange_characters: int = 250  # SETS: a longer message states more than it asks
    echo: float = 0.3  # SETS: what an echo loses
    echo_share: float = 0.5  # SETS: the share of its words that an echo repeats
    echo_characters: int = 120  # SETS: a longer message says more than it repeats

    # The reranker (signals/reranker.py).
    reranked: int = 20  # closed sets, with a cross-encoder on MiniLM: candidates that it reads
    reranked_characters: int = 160  # MADial: a longer text is more than a question, and keeps its order
    reranker: float = 0.2  # everyday, tune, with both rerankers on MiniLM; .1 and .4 do as well

    # Certainty (certainty.py): logistic weights, fitted on whether the first answer is right. KINDS means the tuned
    # halves of everyday statements, connected lives, twelve languages, quizzes, open conversation and long chats, each
    # kind with the same influence, with MiniLM and the multilingual model.
    lead_over: int = 9  # SETS: an answer is compared with the total of the tenth
    near_over: int = 30  # SETS, with MiniLM: the rank whose nearness an answer must exceed
    unrelated_total: float = 0.1  # the total of the tenth in a space with fewer texts: vectors of unrelated texts
    covered_counts: float = 0.75  # NONE: the minimum weight of all words of the question, also in a long text
    pieces_counts: float = 1.5  # NONE: two thirds of the pairs of characters of a question make it certain
    long_characters: int = 1_000  # NONE: a text of this length is long
    max_lead: float = 0.6  # KINDS: a longer lead over the best rival proves no more
    lead_over_later: float = 0.45  # KINDS: the minimum lead over later messages, if the question is about the present
    long_messages: float = 400.0  # BEAM: where messages are longer on average, none is certain
    certainty_by_words: CertaintyWeights = CertaintyWeights(alone=-1.35, total=1.1, lead=5.5)  # KINDS
    certainty_by_vectors: CertaintyWeights = CertaintyWeights(alone=-1.3, total=1.8, lead=5.3, near=1.45)  # KINDS
    certainty_at_time: float = (
        0.9  # NONE: the certainty of messages from a time, if the question asks about nothing else
    )
    certainty_loose: float = 0.3  # NONE: the maximum if words such as "my" were searched for want of better ones
    high: float = 0.88  # KINDS: the certainty from which an answer counts as high
    fair: float = 0.35  # and as fair; below that it is weak

    # The current truth (truth.py).
    superseded_counts: float = 0.5  # NONE: the certainty of a superseded text, compared with a current one
    doubtful_until: float = 0.79  # NONE: the certainty of a fact that is in doubt, below that of a high one
    means_the_same: float = 0.2  # NONE: a message this near to the question is about it, even without a shared word

    # Newest first (newest.py).
    newest_compared: int = 6  # connected lives, tune; with 10, LoCoMo loses first places
    newest_anchor: float = 0.8  # NONE: the second best message is compared as well from this share of the best score
    newest_share: float = 0.45  # connected lives, tune: a later message counts from this share of the best score
    newest_near: float = 0.85  # the same: how near the question both are, compared with a typical answer

    # The choice of items (choose.py, excerpts.py).
    budget_share: int = 4  # NONE: one item may take a quarter of the budget
    min_item_tokens: int = 60  # NONE: or this, if it is more; the messages behind a fact are cut to it
    reply_to_tokens: int = 40  # NONE: the line that a message answers is cut to it
    quotes_per_fact: int = 2  # NONE
    quoted_characters: int = 150  # NONE: the part of a message that is searched for in a text that may quote it
    opening_words: int = 2  # tests/unit/test_shortcuts.py: texts that say the same share these
    opening_characters: int = 32  # the same: the part of a text that is searched first for these words
    max_compared: int = 20_000  # NONE: a longer text is compared word for word

    # The context block (context.py); no benchmark covers it.
    context_budget: int = 2_000
    context_facts: int = 200
    context_documents: int = 50
    context_sessions: int = 10
    context_notes: int = 20
    context_preferences: int = 30  # messages that state one, before a model has learned from them
    coming_days: int = 30  # an event within this number of days is coming up
    preferences_until: float = 0.5  # preferences are all included up to this share of the budget
    answers_until: float = 0.6  # the share of answers, if the other sections need the rest
    preferences_and_answers_until: float = 0.65  # less if preferences need it
    coming_reserved: float = 0.1  # the share of the budget that earlier sections leave for a section that is not empty
    notes_reserved: float = 0.05
    documents_reserved: float = 0.1
    sessions_reserved: float = 0.05
    line_characters: int = 400  # of any other line than an answer
    min_line_tokens: int = 20  # lines of fewer tokens are rare: as many are read as may fit
    max_lines: int = 400
    long_answers: int = 3  # LongMemEval: after these, a long text may take an eighth of the budget
    min_cut_tokens: int = 30  # the last answer is cut to what remains, if it is this much

    def without_language(self) -> "Tuning":
        """Return the values for a question in a language that the embedder does not support: words count fully."""
        return replace(self, vector=self.foreign * self.vector, window=self.foreign * self.window, words_matched=0.0)

    def block_limit(self, budget: int) -> int:
        """Return the number of answers that may fit in a block."""
        return min(self.max_lines, max(10, budget // self.min_line_tokens))

    def max_item_tokens(self, budget: int) -> int:
        """Return the tokens that a single text may take of a budget."""
        return max(self.min_item_tokens, budget // self.budget_share)

    def level(self, certainty: float) -> Certainty:
        """Return the level of a certainty."""
        return next(level for level in Certainty if certainty >= self.min_certainty_of(level))

    def min_certainty_of(self, level: Certainty) -> float:
        """Return the minimum certainty of a level."""
        return {Certainty.HIGH: self.high, Certainty.FAIR: self.fair}.get(level, 0.0)


TUNING = Tuning()
