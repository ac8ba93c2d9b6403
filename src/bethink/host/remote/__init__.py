"""The client of a Bethink server: the same verbs, over HTTP."""
