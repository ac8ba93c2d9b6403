"""Say what a space learns, and what a person approves first."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        alice = memory.space("alice")
        await alice.rules.set(
            bethink.LearningRules(
                instructions="Learn what Alice eats and cooks, in English. Never learn addresses.",
                owner="Alice",
                time_zone="Europe/Oslo",
                slots={"diet": "what she does not eat"},
                kinds={"recipe": "how she cooks something"},
                hold_kinds=(bethink.FactKind.INSTRUCTION, bethink.OwnKind("recipe")),
                expires_after={"goal": 365},
            )
        )
        await alice.rules.set(bethink.LearningRules(instructions="Learn only goals."), agent="coach")
        print((await alice.rules.get()).hold_kinds)
        print((await alice.rules.get("coach")).instructions)


anyio.run(main)
