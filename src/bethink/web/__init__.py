"""The web window: pages on which a person sees what is remembered, follows it to its source, and corrects it.

It is a second door of the server, beside `/v1`: `create_app(memory, doors=[add_window])` serves it at `/ui`.
"""

from bethink.web.door import add_window

__all__ = ["add_window"]
