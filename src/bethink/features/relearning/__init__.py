"""Relearning of a whole space, as a proposal that can be applied and undone."""

COMMANDS = {
    "learn relearn": "Propose changes from relearning all sessions.",
    "learn apply": "Apply a proposal of 'bethink learn relearn'.",
    "learn undo": "Undo an applied proposal.",
}
