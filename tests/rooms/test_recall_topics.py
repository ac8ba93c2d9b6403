from bethink import Fact, FactKind, Memory, Message
from bethink.model.recall import RefKind


async def found(memory: Memory, question: str) -> list[str]:
    return [item.text for item in (await memory.space("mira").recall(question)).items if item.ref.kind is RefKind.FACT]


async def test_a_fact_is_found_by_what_it_is_about_though_no_word_is_shared(memory: Memory) -> None:
    space = memory.space("mira")
    await (await space.session("talk")).append([Message(role="user", content="Which film should I watch tonight?")])
    await space.facts.save(Fact(id="1", content="Mira rents a flat in Bergen.", subject="user"))
    await space.facts.save(Fact(id="2", content="No emojis.", kind=FactKind.INSTRUCTION, subject="user"))
    await space.facts.save(Fact(id="3", content="Bergen has 290,000 people.", subject="bergen"))
    assert await found(memory, "Wo wohne ich?") == ["Mira rents a flat in Bergen."]
    assert await found(memory, "How should you reply to me?") == ["No emojis."]


async def test_a_slot_says_what_a_fact_is_about(memory: Memory) -> None:
    space = memory.space("mira")
    await space.facts.save(Fact(id="1", content="Mira stays in Bergen.", slot="home_town", subject="user"))
    await space.facts.save(Fact(id="2", content="Mira stays calm.", subject="user"))
    assert await found(memory, "Where do I live?") == ["Mira stays in Bergen."]
