"""Labeled sentences for splitting compound claims, in two halves: the rules were written with the first."""

from typing import NamedTuple


class Labeled(NamedTuple):
    """A sentence, and its statements; none if it must not be split."""

    text: str
    parts: tuple[str, ...] = ()
    about: str = ""


FIRST = (
    Labeled("Pixel is three and afraid of umbrellas.", ("Pixel is three.", "Pixel is afraid of umbrellas.")),
    Labeled("Pixel is four and has all his vaccinations.", ("Pixel is four.", "Pixel has all his vaccinations.")),
    Labeled("User lives in Oslo and works at the library.", ("User lives in Oslo.", "User works at the library.")),
    Labeled(
        "The office is in Oslo and the warehouse is in Bergen.",
        ("The office is in Oslo.", "The warehouse is in Bergen."),
    ),
    Labeled("Anna lives in Oslo and Ben works in Rome.", ("Anna lives in Oslo.", "Ben works in Rome.")),
    Labeled("User is vegan and allergic to nuts.", ("User is vegan.", "User is allergic to nuts.")),
    Labeled("Anna lives in Oslo, and she works in Bergen.", ("Anna lives in Oslo.", "Anna works in Bergen.")),
    Labeled(
        "Pixel ist drei und hat Angst vor Regenschirmen.", ("Pixel ist drei.", "Pixel hat Angst vor Regenschirmen.")
    ),
    Labeled("Nora wohnt in Leipzig und arbeitet im Museum.", ("Nora wohnt in Leipzig.", "Nora arbeitet im Museum.")),
    Labeled("Pixel a trois ans et a peur des parapluies.", ("Pixel a trois ans.", "Pixel a peur des parapluies.")),
    Labeled(
        "El usuario vive en Oslo y trabaja en Bergen.", ("El usuario vive en Oslo.", "El usuario trabaja en Bergen.")
    ),
    Labeled(
        "Pixel tiene tres años y miedo a los paraguas.", ("Pixel tiene tres años.", "Pixel tiene miedo a los paraguas.")
    ),
    Labeled("Rita mora em Lisboa e trabalha no hospital.", ("Rita mora em Lisboa.", "Rita trabalha no hospital.")),
    Labeled("Marco vive a Roma e lavora in banca.", ("Marco vive a Roma.", "Marco lavora in banca.")),
    Labeled("Pixel is drie en heeft een rode halsband.", ("Pixel is drie.", "Pixel heeft een rode halsband.")),
    Labeled("Ewa mieszka w Gdyni i pracuje w szkole.", ("Ewa mieszka w Gdyni.", "Ewa pracuje w szkole.")),
    Labeled("Пиксель боится зонтов и живёт в Бергене.", ("Пиксель боится зонтов.", "Пиксель живёт в Бергене.")),
    Labeled("Pixel üç yaşında ve şemsiyelerden korkuyor.", ("Pixel üç yaşında.", "Pixel şemsiyelerden korkuyor.")),
    Labeled("Pixel三岁，怕雨伞。", ("Pixel三岁。", "Pixel怕雨伞。"), "Pixel"),
    Labeled("ピクセルは3歳で、傘を怖がる。", ("ピクセルは3歳だ。", "ピクセルは傘を怖がる。")),
    Labeled(
        "Ravi is 34, vegetarian and plays chess on Thursdays.",
        ("Ravi is 34.", "Ravi is vegetarian.", "Ravi plays chess on Thursdays."),
    ),
    Labeled(
        "The server room is on floor 2 and its code is kept by Yusuf",
        ("The server room is on floor 2", "The server room's code is kept by Yusuf"),
    ),
    Labeled("Anna and Ben live in Oslo."),
    Labeled("User runs a bed and breakfast."),
    Labeled("Anna is three and a half."),
    Labeled("Anna lives and works in Oslo."),
    Labeled("If it rains and is cold, Anna takes the bus."),
    Labeled("Anna moved because she loves the sea and hates traffic."),
    Labeled("User likes tea and coffee."),
    Labeled("The flag is black and white."),
    Labeled("The market is on Monday and Wednesday."),
    Labeled("Anna thinks Ben is nice and has a dog."),
    Labeled("Anna knows Ben and likes him."),
    Labeled("Whoever is on call has the red phone and is paid double."),
    Labeled("Anna loves Ben and likes his dog."),
    Labeled("Nora mag Tee und Kaffee."),
    Labeled("Seit Mai wohnt Nora in Leipzig und arbeitet im Museum."),
    Labeled("Nora geht, wenn es regnet und kalt ist, ins Museum."),
    Labeled("Marie aime le thé et le café."),
    Labeled("Marta y Luis viven en Madrid."),
    Labeled("Marco ama il mare e la montagna."),
    Labeled("Ewa i Jan mieszkają w Gdyni."),
    Labeled("Анна и Борис живут в Осло."),
    Labeled("Ayşe ve Ali Ankara'da yaşıyor."),
    Labeled("用户喜欢茶和咖啡。", (), "用户"),
    Labeled("ユーザーはお茶とコーヒーが好きです。"),
)

SECOND = (
    Labeled("Rex is five and weighs twelve kilos.", ("Rex is five.", "Rex weighs twelve kilos.")),
    Labeled(
        "User's sister Solveig has a house in Bergen and teaches pottery.",
        ("User's sister Solveig has a house in Bergen.", "User's sister Solveig teaches pottery."),
    ),
    Labeled(
        "The gym costs 30 euros a month and opens at six.", ("The gym costs 30 euros a month.", "The gym opens at six.")
    ),
    Labeled("Mira was born in Oslo and lives in Bergen.", ("Mira was born in Oslo.", "Mira lives in Bergen.")),
    Labeled("Tom is married and deaf in one ear."),  # left whole: "one" may refer to something
    Labeled("Lea drives a Volvo and Max drives a Fiat.", ("Lea drives a Volvo.", "Max drives a Fiat.")),
    Labeled("Clara is 34 years old and pregnant.", ("Clara is 34 years old.", "Clara is pregnant.")),
    Labeled(
        "Die Werkstatt öffnet um acht und schließt um fünf.",
        ("Die Werkstatt öffnet um acht.", "Die Werkstatt schließt um fünf."),
    ),
    Labeled(
        "Emil raucht nicht mehr und trinkt keinen Kaffee.", ("Emil raucht nicht mehr.", "Emil trinkt keinen Kaffee.")
    ),
    Labeled("Luc habite à Lyon et travaille à la mairie.", ("Luc habite à Lyon.", "Luc travaille à la mairie.")),
    Labeled(
        "Mi hermana vive en Sevilla y estudia medicina.",
        ("Mi hermana vive en Sevilla.", "Mi hermana estudia medicina."),
    ),
    Labeled("O João tem quatro anos e medo do escuro.", ("O João tem quatro anos.", "O João tem medo do escuro.")),
    Labeled("Giulia è vegana e allergica alle noci.", ("Giulia è vegana.", "Giulia è allergica alle noci.")),
    Labeled(
        "Sanne woont in Utrecht en werkt bij de spoorwegen.",
        ("Sanne woont in Utrecht.", "Sanne werkt bij de spoorwegen."),
    ),
    Labeled("Kasia ma psa i gra na skrzypcach.", ("Kasia ma psa.", "Kasia gra na skrzypcach.")),
    Labeled("Олег работает в школе и играет на гитаре.", ("Олег работает в школе.", "Олег играет на гитаре.")),
    Labeled("Elif Ankara'da yaşıyor ve bankada çalışıyor.", ("Elif Ankara'da yaşıyor.", "Elif bankada çalışıyor.")),
    Labeled("用户住在成都，喜欢喝茶。", ("用户住在成都。", "用户喜欢喝茶。"), "owner"),
    Labeled(
        "健太は大阪に住んでいて、銀行で働いています。", ("健太は大阪に住んでいます。", "健太は銀行で働いています。")
    ),
    Labeled("Salt and pepper is Anna's favorite and has to be on the table."),
    Labeled("The Rock and Roll museum is in Cleveland."),
    Labeled("User has two cats and a dog."),
    Labeled("The deadline is 3 March and Friday."),
    Labeled("User wants to swim and to run."),
    Labeled("User says Tom is ill and has a fever."),
    Labeled("Tom bought a car and gave it to Lea."),
    Labeled("Tom has a car and lends it to Lea."),
    Labeled("The score is two and counting."),
    Labeled("Neither Tom nor Lea is vegan and allergic to nuts."),
    Labeled("Between May and June the shop is closed."),
    Labeled("User is safe and sound."),
    Labeled("The team that is in Oslo and has the budget decides."),
    Labeled("User needs bread and is it possible to get some?"),
    Labeled("Der Laden hat Montag und Dienstag zu."),
    Labeled("Falls Tom krank ist und fehlt, hat Lea Dienst."),
    Labeled("Lea kennt Tom und mag ihn."),
    Labeled("Luc a une sœur et deux frères."),
    Labeled("Luc dit que Marie est malade et a de la fièvre."),
    Labeled("Rita gosta de pão e queijo."),
    Labeled("Ana tiene dos gatos y un perro."),
    Labeled("Giulia studia e lavora a Milano."),
    Labeled("Jan en Piet wonen in Delft."),
    Labeled("Kasia lubi kawę i herbatę."),
    Labeled("Олег любит чай и кофе."),
    Labeled("Elif çay ve kahve seviyor."),
    Labeled("如果下雨，用户喜欢喝茶。", (), "用户"),
    Labeled("田中さんは雨だから、傘を持っています。"),
)
