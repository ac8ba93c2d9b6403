from bethink import Fact, Memory, Message
from bethink.model.refs import RefKind
from bethink.types import FactKind


async def found(memory: Memory, question: str) -> list[str]:
    return [item.text for item in (await memory.space("mira").recall(question)).items if item.ref.kind is RefKind.FACT]


async def test_fact_is_found_by_topic_without_a_shared_word(memory: Memory) -> None:
    space = memory.space("mira")
    await (await space.session("talk")).append([Message(role="user", content="Which film should I watch tonight?")])
    await space.facts.save(Fact(id="1", text="Mira rents a flat in Bergen.", subject="user"))
    await space.facts.save(Fact(id="2", text="No emojis.", kind=FactKind.INSTRUCTION, subject="user"))
    await space.facts.save(Fact(id="3", text="Bergen has 290,000 people.", subject="bergen"))
    assert await found(memory, "Wo wohne ich?") == ["Mira rents a flat in Bergen."]
    assert await found(memory, "How should you reply to me?") == ["No emojis."]


async def test_a_slot_says_what_a_fact_is_about(memory: Memory) -> None:
    space = memory.space("mira")
    await space.facts.save(Fact(id="1", text="Mira stays in Bergen.", slot="home_town", subject="user"))
    await space.facts.save(Fact(id="2", text="Mira stays calm.", subject="user"))
    assert await found(memory, "Where do I live?") == ["Mira stays in Bergen."]
