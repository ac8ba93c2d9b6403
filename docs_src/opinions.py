"""Preview learning, relearn with other instructions, pin a fact and rate another."""

import bethink.sync

with bethink.sync.connect(":memory:", model="openai:gpt-5-mini") as memory:
    alice = memory.space("alice")
    preview = alice.admin.rules.preview("I was born in Bergen. I am a pilot.")
    print([item.claim.fact.text for item in preview.accepted], preview.usage.calls, "calls")

    alice.remember("I was born in Bergen. I am a pilot.")
    memory.learn()
    proposal = alice.admin.relearning.propose(instructions="Never learn jobs.")
    print(proposal.same, "unchanged, would remove", [fact.text for fact in proposal.removed])

    birth, job = sorted(alice.facts.list(), key=lambda fact: "pilot" in fact.text)
    alice.facts.pin(birth.ref)
    alice.facts.rate(job.ref, "wrong", note="She is a diver.", actor="Tom")
    print([review.reason for review in alice.reviews.list()], alice.facts.count(), "fact")
