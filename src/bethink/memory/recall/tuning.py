"""Every weight and cut-off of recall.

SETS in a comment means: tuned on the odd conversations of LoCoMo, REALTALK, BEAM-100K and LongMemEval, on
MADial, and on the tuning half of our everyday set, one value for all of them (docs/adr/0008-recall.md). Run
`python -m benchmarks.recall --all` before and after you change such a value; it shows both halves. NONE means that no
benchmark covers it: it is a judgment call.
"""

from bethink.base.frozen import frozen
from bethink.model.recall import Certainty
from bethink.store.candidates import BOUNDS, Bounds


@frozen
class CertaintyWeights:
    """The logistic weights of an answer's certainty, for `certainty.py`."""

    alone: float
    lead: float
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

    # Sessions (signals/session.py).
    session: float = 0.525  # SETS
    session_saturation: float = 2.0  # SETS
    session_full: float = 0.5  # SETS: a session with this share of the worth of the question counts fully

    # Vectors (signals/vector.py, signals/window.py).
    vector: float = 1.2  # SETS, with MiniLM
    window: float = 0.6  # SETS, with MiniLM
    foreign: float = 0.15  # MADial-zh and twelve languages: the weight of both in an unsupported language
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

    # The reranker (signals/reranker.py).
    reranked: int = 40  # SETS, with the token reranker on MiniLM: candidates that it reads
    reranker: float = 0.14  # SETS, with the token reranker on MiniLM

    # Certainty (certainty.py): logistic weights, fitted on whether the first answer is right.
    lead_over: int = 9  # SETS: an answer is compared with the total of the tenth
    near_over: int = 30  # SETS, with MiniLM: the rank whose nearness an answer must exceed
    unrelated_total: float = 0.1  # the total of the tenth in a space with fewer texts: vectors of unrelated texts
    covered_counts: float = 0.75  # NONE: the minimum weight of all words of the question, also in a long text
    pieces_counts: float = 1.5  # NONE: two thirds of the pairs of characters of a question make it certain
    long_characters: int = 1_000  # NONE: a text of this length is long
    certainty_by_words: CertaintyWeights = CertaintyWeights(alone=-1.7, lead=5.5)  # everyday and MADial
    certainty_by_vectors: CertaintyWeights = CertaintyWeights(alone=-2.0, lead=5.5, near=4.6)  # the same, with MiniLM
    certainty_at_time: float = (
        0.9  # NONE: the certainty of messages from a time, if the question asks about nothing else
    )
    high: float = 0.8  # the certainty from which an answer counts as high
    fair: float = 0.35  # and as fair; below that it is weak

    # The current truth (truth.py).
    superseded_counts: float = 0.5  # NONE: the certainty of a superseded text, compared with a current one
    doubtful_until: float = 0.79  # NONE: the certainty of a fact that is in doubt, below that of a high one
    means_the_same: float = 0.2  # NONE: a message this near to the question is about it, even without a shared word

    # The choice of items (choose.py, excerpts.py).
    budget_share: int = 4  # NONE: one item may take a quarter of the budget
    min_item_tokens: int = 60  # NONE: or this, if it is more; the messages behind a fact are cut to it
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
    coming_days: int = 30  # an event within this number of days is coming up
    preferences_until: float = 0.5  # preferences are all included up to this share of the budget
    answers_until: float = 0.6  # the maximum share of answers
    preferences_and_answers_until: float = 0.65  # less if preferences need it
    coming_reserved: float = 0.1  # the share of the budget that earlier sections leave for a section that is not empty
    notes_reserved: float = 0.05
    documents_reserved: float = 0.1
    sessions_reserved: float = 0.05
    answer_tokens: int = 90  # tokens of an answer that fit on one line
    line_characters: int = 400

    def level(self, certainty: float) -> Certainty:
        """Return the level of a certainty."""
        return next(level for level in Certainty if certainty >= self.min_certainty_of(level))

    def min_certainty_of(self, level: Certainty) -> float:
        """Return the minimum certainty of a level."""
        return {Certainty.HIGH: self.high, Certainty.FAIR: self.fair}.get(level, 0.0)


TUNING = Tuning()
