"""API for packages that extend Bethink, such as bethink-shards and bethink-temporal.

An extension imports `bethink`, `bethink.errors` and these modules, and registers itself with entry points:

- `bethink.backends`: a backend for an address scheme. The name is the scheme, the value a function that receives
  `BackendParts` and returns a `Backend`. `connect("shards://…")` finds bethink-shards this way.
- `bethink.commands`: a group of CLI commands. The name is the command, the value a `typer.Typer`.
- `bethink.models`, `bethink.embedders`, `bethink.rerankers`, `bethink.signals`: see the reference page "Extend".

Each module here re-exports the names for one kind of extension, so that internal modules can move.
"""
