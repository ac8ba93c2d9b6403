"""All SQL and all database drivers are used here only, as short functions of a transaction."""
