import pytest

from bethink.base.language import (
    analyze,
    compound_stems,
    count_terms,
    detect,
    parts_of,
    search_forms,
    stop_words,
    terms_of,
)
from bethink.base.language.detect import function_words, languages

SENTENCES = {
    "english": "I went to the market with my sister and we bought oranges.",
    "german": "Ich war gestern mit meiner Schwester auf dem Markt, und wir haben Orangen gekauft.",
    "french": "Je suis allé au marché avec ma sœur et nous avons acheté des oranges.",
    "spanish": "Ayer fui al mercado con mi hermana y compramos las naranjas para el desayuno.",
    "portuguese": "Ontem fui ao mercado com a minha irmã e não comprámos as laranjas.",
    "italian": "Ieri sono andato al mercato con mia sorella e abbiamo comprato le arance.",
    "dutch": "Ik ben gisteren met mijn zus naar de markt geweest en we hebben het fruit gekocht.",
    "swedish": "Jag var på marknaden med min syster och vi köpte apelsiner till det.",
    "finnish": "Minä olen ollut torilla, ja se on hyvin kaunis, kun ei ole sadetta.",
    "turkish": "Ben bugün pazara gittim ve çok portakal aldım, ama ne kadar bilmiyorum.",
    "polish": "Wczoraj byłem na targu z moją siostrą i nie kupiliśmy pomarańczy, bo jest zima.",
}
SAME = [
    ("english", "I was hiking in the mountains with my friends", "Do they hike a mountain?"),
    ("german", "Ich habe die Häuser in der Stadt besichtigt", "Hauser Stadt"),
    ("french", "Nous avons visité des hôpitaux et il travaille avec moi", "travaillent hôpitaux"),
    ("spanish", "Las canciones de mi hermana son muy bonitas", "canción hermanas"),
    ("portuguese", "Eu tenho duas irmãs e não tenho irmãos", "irmã"),
    ("italian", "Ho comprato le arance per la mia sorella", "arancia sorelle"),
    ("russian", "Моя сестра живёт в большом городе", "сестры города"),
    ("greek", "Η αδερφή μου μένει στην Αθήνα", "αδερφη αθηνα"),
    ("arabic", "أختي تسكن في مدينة كبيرة", "اختي مدينة"),
    ("hindi", "मेरी बहन दिल्ली में रहती है", "दिल्ली"),
    ("chinese", "我的妹妹住在上海", "妹妹 上海"),
    ("japanese", "妹は東京に住んでいます", "東京"),
    ("korean", "여동생은 서울에 살아요", "서울"),
    ("thai", "น้องสาวของฉันอยู่ที่เชียงใหม่", "เชียงใหม่"),
    ("burmese", "ညီမလေးက ရန်ကုန်မှာနေတယ်", "ရန်ကုန်"),
    ("khmer", "ប្អូនស្រីខ្ញុំនៅភ្នំពេញ", "ភ្នំពេញ"),
    ("lao", "ນ້ອງສາວຢູ່ວຽງຈັນ", "ວຽງຈັນ"),
]


@pytest.mark.parametrize("language", SENTENCES)
def test_language_is_recognized_by_function_words(language: str) -> None:
    assert detect(SENTENCES[language]) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("turkish", "Yarışmayı kazandık, kutlayacağız"),
        ("polish", "Córka zdała maturę celująco"),
        ("czech", "Dědeček přijel vlakem"),
        ("hungarian", "Tegnap bográcsgulyást főztünk"),
        ("spanish", "Mañana desayunamos churros"),
        ("english", "We met Søren and his wife in Malmö"),
        ("english", "Erdoğan was on the news"),
        ("english", "Goes running with Małgorzata Wiśniewska"),
        ("english", "Flights booked: Kraków, Łódź, Poznań"),
        ("english", "Dentist appointments: Mr. Yılmaz"),
        ("english", "Łukasz hates boring lectures"),
    ],
)
def test_language_is_recognized_by_letters_except_in_names(language: str, text: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize("text", ["", "Lisbon", "12345", "我喜欢喝茶", "xyzzy plugh"])
def test_a_text_without_function_words_counts_as_english(text: str) -> None:
    assert detect(text) == "english"


@pytest.mark.parametrize(("language", "text", "question"), SAME, ids=[each[0] for each in SAME])
def test_question_words_match_a_text_in_their_language(language: str, text: str, question: str) -> None:
    indexed = set(terms_of(text))
    parts = [part for word in question.split() for part in parts_of(word)]
    telling = [part for part in parts if part not in {"do", "they", "a"}]

    assert telling
    assert [part for part in telling if indexed.isdisjoint(search_forms(part))] == []


def test_case_width_and_accents_do_not_matter() -> None:
    assert terms_of("CAFÉ Ａｂｃ ﬁne Straße") == terms_of("cafe\u0301 abc fine strasse".replace("e\u0301", "é"))
    assert set(terms_of("Café")) & set(search_forms("cafe"))
    assert terms_of("ISTANBUL") == terms_of("istanbul")
    assert terms_of("İzmir") == terms_of("izmir")


def test_addresses_paths_and_identifiers_are_split_into_their_parts() -> None:
    found = terms_of("See https://example.com/a_b-c?x=1 or mail anna.berg@host.org, v2.1")

    assert found == ["see", "https", "exampl", "com", "b", "c", "x", "1", "mail", "anna", "berg", "host", "org", "v2",
                     "1"]  # fmt: skip


def test_scripts_without_spaces_are_indexed_by_pairs_of_characters() -> None:
    assert terms_of("喝茶 我喜欢 猫") == ["喝茶", "喝", "茶", "我喜", "喜欢", "我", "喜", "欢", "猫"]
    assert terms_of("iPhone很好") == ["iphon", "很好", "很", "好"]
    assert parts_of("コーヒ") == ["コー", "ーヒ"]


def test_marks_belong_to_their_letter() -> None:
    assert len(terms_of("नमस्ते दुनिया")) == 2
    assert len(terms_of("vo\u0308llig")) == 1


def test_terms_are_counted() -> None:
    text = "The cat saw you with the cats on it; 猫猫猫."

    assert count_terms(text) == {term: terms_of(text).count(term) for term in terms_of(text)}
    assert count_terms("") == {}


@pytest.mark.parametrize(
    ("guess", "text", "question"),
    [
        ("french", "Kim's running shoes: mended", "run mend"),
        ("czech", "Mum's baking lessons on Tuesdays", "bake Tuesday lesson"),
        ("english", "Hallo Ronny, schöne Werkstätten", "Werkstatt"),
        ("english", "Perşembeleri ofistekilerle masa tenisi oynuyorum", "perşembe"),
    ],
)
def test_short_text_is_also_indexed_as_other_likely_languages(guess: str, text: str, question: str) -> None:
    parts = [part for word in question.split() for part in parts_of(word)]

    assert detect(text) == guess  # which is wrong
    assert [part for part in parts if not set(search_forms(part)) & count_terms(text).keys()] == []
    assert [part for part in parts if not set(search_forms(part)) & set(terms_of(text))] != []


def test_text_of_a_clear_language_is_indexed_as_that_language_only() -> None:
    long_text = "Mum's baking lessons on Tuesdays. " + " ".join(f"word{n}" for n in range(20))
    for text in (SENTENCES["english"], SENTENCES["german"], SENTENCES["french"], long_text):
        assert count_terms(text).keys() == set(terms_of(text))


def test_terms_of_a_short_text_are_bounded() -> None:
    words = [f"{start}{end}" for start in "bdfgk" for end in ("aciones", "ungen", "ations", "imento")]

    assert len(count_terms(" ".join(words))) <= len(words) * len(languages()) / 2


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("zahnarzttermin", {"termin", "zahnarzt"}),
        ("geburtstagsfeier", {"geburt", "feier", "geburtstag"}),
        ("chemieprüfung", {"prufung"}),
        ("gartenmöbel", {"gart", "mobel"}),
    ],
)
def test_german_compound_has_the_stems_of_its_parts(word: str, parts: set[str]) -> None:
    assert parts <= set(compound_stems(word))
    assert len(compound_stems(word)) <= 2 * len(word)


@pytest.mark.parametrize("word", ["garten", "x" * 41, "2026-05-01", "https", "überall"])
def test_short_words_and_codes_are_not_split(word: str) -> None:
    assert compound_stems(word) == ()


def test_part_that_is_a_stop_word_is_ignored() -> None:
    assert "nach" not in compound_stems("nachdenklich")


def test_a_word_of_a_question_has_few_forms_with_the_english_one_first() -> None:
    assert search_forms("running")[0] == "run"
    assert max(len(search_forms(word)) for word in ("running", "houses", "trabajo", "häuser")) <= 8
    assert search_forms("上海") == ("上海",)


def test_non_words_are_unchanged() -> None:
    assert terms_of("a" * 50_000) == ["a" * 50_000]
    assert terms_of("abc123ing") == ["abc123ing"]


def test_every_listed_language_has_function_words_of_its_own() -> None:
    own = {language for spoken in function_words().values() if len(spoken) == 1 for language in spoken}

    assert own == set(languages())


def test_no_question_is_searched_by_a_word_that_is_left_out_of_the_index() -> None:
    assert terms_of("What I have is not what you have") == []
    assert terms_of("was ist das für ein Haus in der Stadt")[0] == "was"  # in another language it is a word
    assert stop_words("en") >= analyze._UNSEARCHED
