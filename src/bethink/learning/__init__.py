"""Learning in the background: from sessions to facts, and from those to documents."""
