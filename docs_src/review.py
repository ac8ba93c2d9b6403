"""Approve a claim with other words, and correct the fact later."""

import bethink.sync

with bethink.sync.connect(":memory:", model="openai:gpt-5-mini") as memory:
    alice = memory.space("alice")
    alice.remember("I have asthma, but only in spring.")
    memory.learn()

    for review in alice.reviews.list():
        print(review.reason, "|", review.claim.fact.text, [quote.text for quote in review.claim.quotes])
        alice.reviews.approve(review.id, text="Alice has asthma in spring.", note="asked her")

    fact = alice.facts.list()[0]
    print(fact.evidence, "|", fact.text)
    print(alice.correct(fact.ref, "Alice has asthma in April and May.").text)
