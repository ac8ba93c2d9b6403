"""Turn session memories and facts into documents: the memory writer and consolidation."""
