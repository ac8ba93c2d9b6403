"""The code of the home page."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    mira = memory.space("mira")
    mira.remember("I am allergic to cashews.")
    block = mira.context("What am I allergic to?")
    print(block.text)  # put this at the start of your prompt
