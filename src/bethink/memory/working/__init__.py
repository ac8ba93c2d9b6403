"""Working memory of an agent: events, reducers, chunks and states. Every state is stored and can be read again."""
