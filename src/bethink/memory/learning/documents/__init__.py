"""Turn session summaries and facts into documents: the memory writer and consolidation."""
