"""The cost of forgetting one line is independent of other users' messages."""

import time
from pathlib import Path

import pytest

import bethink

FOREIGN = 40_000
TOGETHER = 500
ROUNDS = 9


async def cost(path: Path, foreign: int) -> float:
    """Return the CPU time of forgetting one line beside messages of other spaces: the median of some rounds."""
    async with bethink.connect(path, learn_in_background=False, embedder="none") as memory:
        for batch in range(foreign // TOGETHER):
            texts = [f"note {batch} about bread and harbour {each * 7919 % 1000}" for each in range(TOGETHER)]
            said = [bethink.Message(role="user", content=text) for text in texts]
            await memory.space(f"other-{batch % 20}").remember(said, conversation=str(batch))
        spent: list[float] = []
        for each in range(ROUNDS):
            await memory.space("ida").remember(f"My therapist is Kavurimote {each}.", conversation=str(each))
            before = time.process_time()
            await memory.space("ida").forget(conversation=str(each))
            spent.append(time.process_time() - before)
    return sorted(spent)[ROUNDS // 2]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_forget_cost_stays_flat_with_40000_other_messages(
    tmp_path: Path,
) -> None:
    alone = await cost(tmp_path / "alone.db", 0)
    beside = await cost(tmp_path / "beside.db", FOREIGN)

    assert beside < 2 * alone, f"{beside / alone:.2f}"
