"""What we ship for the sockets: models, embedders, redaction and token counts."""
