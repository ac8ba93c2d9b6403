"""Every weight and cut-off of recall.

SETS in a comment means: found by trying on the odd conversations of LoCoMo, REALTALK, BEAM-100K and LongMemEval, on
MADial, and on the tuning half of our everyday set, one value for all of them (docs/adr/0008-recall.md). Run
`python -m benchmarks.recall --all` before and after you change such a value; it shows both halves. NONE means that no
benchmark decides it: it is a judgement.
"""

from bethink.base.frozen import frozen
from bethink.model.recall import Level
from bethink.store.candidates import BOUNDS, Bounds


@frozen
class CertaintyBy:
    """How certain an answer is: the weights of what speaks for it, for `certainty.py`."""

    alone: float
    lead: float
    near: float = 0.0


@frozen
class Tuning:
    """One set of values for all data."""

    # How much is looked at (pipeline.py, matching.py).
    bounds: Bounds = BOUNDS  # `benchmarks.recall --set longmemeval --together`, and `benchmarks.scale`
    pool: int = 100  # SETS: candidates whose texts are read for the final ranking
    pool_per_result: int = 2  # NONE: but at least so many for each result that may be returned
    pool_narrowed: int = 10  # NONE: so many times more if a search is narrowed, as neighbours may drop out later
    nearest: int = 2_000  # NONE: vectors compared
    said_then: int = 100  # NONE: messages of a time, where a question asks about nothing else

    # Words, and what a word counts in the messages around it (counts.py, signals/words.py).
    words: float = 1.0  # the other weights are relative to this
    saturation: float = 1.2  # SETS: how often a word must occur to count half
    length_share: float = 0.45  # SETS: how much the length of a text matters
    usual_length: float = 40.0  # SETS: in words; the average length in the space did worse
    bytes_per_word: float = 5.6  # NONE
    topic: float = 0.5  # facts: what a question is about, compared with a word of it; facts only
    related: float = 0.5  # SETS: a related word, compared with the word itself
    after: float = 0.12  # SETS: in the next message
    answering: float = 0.2  # SETS: so much more if that may answer a question
    before: float = 0.15  # SETS: in the message before
    two_away: float = 0.1  # SETS: in the ones beyond these

    # Sessions (signals/session.py).
    session: float = 0.525  # SETS
    session_saturation: float = 2.0  # SETS
    session_whole: float = 0.5  # SETS: a session with so much of the worth of the question is all about it

    # Vectors (signals/vector.py, signals/window.py).
    vector: float = 1.2  # SETS, with MiniLM
    window: float = 0.6  # SETS, with MiniLM
    foreign: float = 0.15  # MADial-zh and twelve languages: what both count in a language the embedder does not know
    near_unrelated: float = 0.18  # SETS: what the usual cosine of unrelated texts counts
    near_related: float = 0.555  # SETS: what the usual cosine of an answer counts
    cosines_from: int = 50  # NONE: so many similarities tell what unrelated texts have, if the embedder does not
    cosines_differ: float = 0.2  # NONE: an embedder whose unrelated texts are this far from the usual has another scale
    cosines_spread: float = 3.8  # everyday: so many standard deviations above lies a usual answer, for three embedders

    # Bounded factors on the total (fuse.py).
    asks: float = 0.6  # SETS
    asks_characters: int = 120  # SETS: who asks at greater length also tells something
    date: float = 0.4  # SETS
    date_alone: float = 0.15  # SETS: what the right date counts for a candidate that has nothing else
    speaker: float = 0.25  # SETS
    quoted: float = 0.1  # SETS
    entity: float = 0.1  # NONE: the sets have no facts
    learnt: float = 0.1  # NONE: as above; it decides between a fact and messages that match about as well
    recency: float = 0.02  # SETS: it decides between equals only
    recency_now: float = 0.05  # SETS: where a question asks about now
    recency_days: float = 30.0  # NONE: the age at which recency counts half
    usage: float = 0.05  # NONE: the sets record no use
    usage_times: float = 3.0  # NONE: the number of uses that counts half

    # The reranker (signals/reranker.py).
    reranked: int = 40  # SETS, with the token reranker on MiniLM: candidates that it reads
    reranker: float = 0.14  # SETS, with the token reranker on MiniLM

    # Certainty (certainty.py): logistic weights, fitted on whether the first answer is right.
    lead_over: int = 9  # SETS: the total of the tenth is what an answer must lead over
    near_over: int = 30  # SETS, with MiniLM: and the nearness of so many others
    unrelated_total: float = 0.1  # what the tenth has in a space with fewer texts: vectors of unrelated texts
    covered_counts: float = 0.75  # NONE: what all words of the question count at least, also in a long text
    pieces_counts: float = 1.5  # NONE: two thirds of the pairs of characters of a question make it certain
    long_characters: int = 1_000  # NONE: such a text is long
    certainty_by_words: CertaintyBy = CertaintyBy(alone=-1.7, lead=5.5)  # everyday and MADial
    certainty_by_vectors: CertaintyBy = CertaintyBy(alone=-2.0, lead=5.5, near=4.6)  # the same, with MiniLM
    certain_then: float = 0.9  # NONE: what was said at a time, if the question asks about nothing else
    high: float = 0.8  # the certainty from which an answer counts as high
    fair: float = 0.35  # and as fair; below that it is weak

    # One truth about now (standing.py).
    superseded_counts: float = 0.5  # NONE: the certainty of what was superseded, compared with what holds
    means_the_same: float = 0.2  # NONE: a message this near to the question is about it, though no word is shared

    # Choosing what is shown (choose.py, excerpts.py).
    budget_share: int = 4  # NONE: one item may take a quarter of the budget
    least_tokens: int = 60  # NONE: or this, if it is more; the messages behind a fact are cut to it
    quotes_per_fact: int = 2  # NONE
    quoted_characters: int = 150  # NONE: so much of a message is looked for in what may quote it
    opening_words: int = 2  # tests/unit/test_shortcuts.py: texts that say the same share these
    opening_characters: int = 32  # the same: where these words are looked for first
    longest_compared: int = 20_000  # NONE: a longer text is compared word for word

    # The context block (context.py); no benchmark decides any of it.
    context_budget: int = 2_000
    context_facts: int = 200
    context_documents: int = 50
    context_sessions: int = 10
    context_notes: int = 20
    coming_days: int = 30  # what begins within so many days is coming up
    wishes_until: float = 0.5  # wishes are never left out until they alone take so much of the budget
    answers_until: float = 0.6  # answers take so much at most
    wishes_and_answers_until: float = 0.65  # and less where wishes need it
    coming_kept: float = 0.1  # so much of the budget the sections before leave to one that has something to say
    notes_kept: float = 0.05
    documents_kept: float = 0.1
    sessions_kept: float = 0.05
    answer_tokens: int = 90  # so many of an answer fit into one line
    line_characters: int = 400

    def level(self, certainty: float) -> Level:
        """Return a certainty in words."""
        return next(level for level in Level if certainty >= self.least(level))

    def least(self, level: Level) -> float:
        """Return the certainty from which a level begins."""
        return {Level.HIGH: self.high, Level.FAIR: self.fair}.get(level, 0.0)


TUNING = Tuning()
