"""The core: the log, facts, documents, recall, learning, deletion and working memory."""
