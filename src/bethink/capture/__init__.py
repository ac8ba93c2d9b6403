"""What happened gets in: redacted, once, durable before we say yes."""
