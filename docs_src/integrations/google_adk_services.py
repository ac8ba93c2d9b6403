"""The scheme of a memory service for the command line of Google's ADK."""

from google.adk.cli.service_registry import get_service_registry

from bethink.integrations.google_adk import register

register()
print(get_service_registry().create_memory_service("bethink:memory.db"))  # adk itself does this with the URI
