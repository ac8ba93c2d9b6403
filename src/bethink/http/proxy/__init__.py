"""A proxy for model calls: it stores user messages and adds recalled memory to calls.

It is a mount of the server, beside `/v1`: `create_app(memory, mounts=[partial(add_proxy, ProxySettings())])`.
"""

from bethink.http.proxy.route import add_proxy

__all__ = ["add_proxy"]
