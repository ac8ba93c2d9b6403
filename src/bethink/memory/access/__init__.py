"""Who may do what, and the access log of what was done."""
