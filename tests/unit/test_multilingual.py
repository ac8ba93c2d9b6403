"""The multilingual benchmark model finds an answer in a language other than the question's."""

import numpy as np

from benchmarks.recall_models import MODELS

TEXTS = ["Meine Schwester wohnt seit Mai in Lissabon.", "我对花生过敏。", "The bicycle is painted orange."]
QUESTIONS = ["Where does my sister live?", "What am I allergic to?", "¿De qué color es la bicicleta?"]


async def test_questions_match_answers_across_languages() -> None:
    embedder = MODELS["e5-small"](2)

    texts = np.array(await embedder.embed(TEXTS))
    questions = np.array(await embedder.embed(QUESTIONS, kind="question"))

    assert (questions @ texts.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert (await embedder.embed(TEXTS[1:2]))[0] == texts[1].tolist()
    assert (await embedder.embed(TEXTS[:1], kind="question"))[0] != texts[0].tolist()
