"""Leaf features, one package each: delete the folder and regenerate the API to remove a feature."""
