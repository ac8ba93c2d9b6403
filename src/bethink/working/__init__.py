"""What an agent holds now: events, reducers, chunks and states, each change kept so that it can be stepped to."""
