"""The API: one method for each verb. Written by tools/make_api.py."""
