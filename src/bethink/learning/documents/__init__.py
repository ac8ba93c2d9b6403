"""From session memories and facts to documents: the writer and consolidation."""
