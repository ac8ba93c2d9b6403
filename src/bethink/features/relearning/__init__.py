"""Learning from a whole space again, as a proposal that can be applied and undone."""

COMMANDS = {"relearn": "Learn from the whole log of a space again, and keep what would change as a proposal."}
