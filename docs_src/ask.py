"""Ask the model a question about memory, and see what each sentence cites."""

import bethink.sync

with bethink.sync.connect(":memory:", model="openai:gpt-5-mini", learn=False) as memory:
    alice = memory.space("alice")
    alice.remember("My sister went to Oslo for a job at the opera.")

    answer = alice.ask("Which job has my sister?", on_sentence=lambda sentence: print("checked:", sentence.text))
    print(answer.text)
    print("cites", [match.text for match in answer.cited], "rejected:", *answer.rejected_sentences)

    print("refusal:", alice.ask("Where was my sister born?").refusal)
    print("without it:", alice.ask("Which job has my sister?", exclude=[answer.cited[0].ref]).refusal)
