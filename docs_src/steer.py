"""Set what a space learns, and what a person approves first."""

import bethink.sync
from bethink.types import FactKind, OwnKind

with bethink.sync.connect(":memory:") as memory:
    rules = bethink.LearningRules(
        instructions="Learn what Alice eats and cooks, in English. Never learn addresses.",
        owner="Alice",
        slots={"diet": "what she does not eat"},
        kinds={"recipe": "how she cooks something"},
        review_kinds=(FactKind.INSTRUCTION, OwnKind("recipe")),
        expires_after={"goal": 365},
    )
    stored = memory.space("alice").admin.rules.set(rules)
    print("needs review:", *stored.review_kinds)
