"""Background learning: from sessions to facts, and from facts to documents."""
