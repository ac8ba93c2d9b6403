"""Leaf features, one package each: delete the folder, generate the API again, and the feature is gone."""
