"""The one way to delete: a memory is removed with everything that was made of it."""
