"""The two timelines of facts: a reference model, random histories, scenarios, and what first users met."""
