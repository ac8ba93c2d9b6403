"""The multilingual model of the benchmarks finds an answer in another language than the question."""

import numpy as np

from benchmarks.recall_models import MODELS

TEXTS = ["Meine Schwester wohnt seit Mai in Lissabon.", "我对花生过敏。", "The bicycle is painted orange."]
QUESTIONS = ["Where does my sister live?", "What am I allergic to?", "¿De qué color es la bicicleta?"]


async def test_questions_find_their_answers_across_languages_and_alone_as_in_a_crowd() -> None:
    embedder = MODELS["e5-small"](2)

    texts = np.array(await embedder.embed(TEXTS))
    questions = np.array(await embedder.embed(QUESTIONS, kind="question"))

    assert (questions @ texts.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert (await embedder.embed(TEXTS[1:2]))[0] == texts[1].tolist()
    assert (await embedder.embed(TEXTS[:1], kind="question"))[0] != texts[0].tolist()
