"""Store two memory tests and run them."""

import bethink.sync

with bethink.sync.connect(":memory:") as memory:
    ida = memory.space("ida")
    session = ida.session("home")
    for day, text in [("2026-01-05", "I live in Oslo."), ("2026-05-20", "I live in Bergen now.")]:
        session.append([{"role": "user", "content": text, "said_at": day}])

    tests = ida.admin.tests
    tests.add("Where do I live?", must="Oslo", must_not="Bergen", as_of="2026-03-01", test_id="spring")
    tests.add("Where do I live?", must="bergen", must_not="Oslo", test_id="today")
    for result in tests.run():
        print(result.test.id, "passed" if result.passed else f"failed: {result.unwanted} came back")
