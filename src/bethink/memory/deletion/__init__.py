"""The only way to delete: an item is removed with everything derived from it."""
