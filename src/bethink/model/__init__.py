"""The words of the house: frozen records, ids and rules, with no I/O."""
