"""From one session to its memory and facts."""
