"""A request for a text is recognized in twelve languages, and nothing that also states something."""

import pytest

from bethink.base.language import is_request


@pytest.mark.parametrize(
    "sentence",
    [
        "write a haiku about rain",
        "Please translate this sentence into Dutch.",
        "Tell me a joke about cats!",
        "Schreib mir ein Gedicht über Regen",
        "Erkläre mir die Photosynthese",
        "Écris un poème sur la pluie",
        "Explique-moi la gravité",
        "Escríbeme un poema sobre la lluvia",
        "Escreva um poema sobre a chuva",
        "Scrivi una poesia sulla pioggia",
        "Schrijf een gedicht over regen",
        "Napisz wiersz o deszczu",
        "Напиши стихотворение о дожде",
        "Yağmur hakkında bir şiir yaz",
        "写一首关于雨的诗",
        "雨についての詩を書いてください。",
        "Right, thanks. But please give me three ideas for free evenings",
        "No, but find me a name for a dish with rosemary",
        "Und bitte gib mir drei Ideen",
        "Donne-moi trois idées de repas",
        "Dame tres ideas para la cena",
        "Podaj przepis na ciasto",
        "Назови три города",
        "给我三个点子",
        "夕食のアイデアを三つ挙げてください",
    ],
)
def test_request_for_a_text_is_recognized(sentence: str) -> None:
    assert is_request(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I write a haiku every morning",
        "Please note that Anna likes rain",
        "Give me three days, I am moving house",
        "Thanks, Anna arrived",
        "Make me an omelette without my nuts",
        "Write an email to my landlord Tom",
        "Give me a table for 4 at Luigi's",
        "Help me plan the trip to Rome in June",
        "Remind me to call Anna",
        "Remember that Anna likes rain",
        "Book a flight to Oslo",
        "Writing a haiku about rain was fun",
        "Translate",
        "Ich schreibe ein Buch über Regen",
        "Schreibe gerade ein Buch über Oslo",
        "Schreib mir eine Mail an meinen Chef",
        "J'écris un livre sur la pluie",
        "Escribe novelas en Madrid",
        "Raccontami di nostra figlia",
        "Напиши моему врачу",
        "En sevdiğim mevsim yaz",
        "写一封信给我的房东",
        "私は詩を書いて暮らしています",
        "",
    ],
)
def test_sentence_that_may_state_something_is_no_request(sentence: str) -> None:
    assert not is_request(sentence)
