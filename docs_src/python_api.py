"""The calls that most programs need: store, search, build a prompt block, trace and delete."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:  # a file, :memory:, postgresql://… or https://…
    mira = memory.space("mira")  # one space per user
    mira.remember("I am allergic to cashews.")
    result = mira.recall("What am I allergic to?")
    print(result[0].text, result[0].origin)
    block = mira.context("What am I allergic to?")
    print(block.to_openai()[0]["role"], block.tokens <= 2000)
    print(mira.explain(result[0].ref).text)
    print(mira.forget(result[0].ref).messages, "deleted")
