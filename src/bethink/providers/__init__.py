"""The built-in models, embedders, rerankers, redactors and token counters."""
