"""The client of a Bethink server: the same operations, over HTTP."""
