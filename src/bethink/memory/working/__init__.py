"""Working memory of an agent: events, reducers, chunks and states. Every state is kept and can be read again."""
