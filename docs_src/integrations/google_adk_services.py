"""For `adk web` and `adk run`: the URI scheme `bethink:`, registered in services.py next to your agents."""

from google.adk.cli.service_registry import get_service_registry

from bethink.integrations.google_adk import register

register()
print(type(get_service_registry().create_memory_service("bethink:memory.db")).__name__)  # adk does this with the URI
