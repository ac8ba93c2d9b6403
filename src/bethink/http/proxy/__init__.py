"""A proxy for model calls: it stores user messages and adds recalled memory to calls.

It is mounted on the server next to `/v1`: `create_app(memory, mounts=[partial(add_proxy, ProxySettings())])`.
"""

from bethink.http.proxy.route import add_proxy

__all__ = ["add_proxy"]
