"""The one way to delete: something goes with everything that was made of it."""
