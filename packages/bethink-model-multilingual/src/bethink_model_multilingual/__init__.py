"""The weights of Bethink's multilingual embedder. Bethink reads the files by path; there is no code here."""
