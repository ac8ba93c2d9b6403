"""Calls to models pass through the server: what a person says is captured, and what is remembered is added.

It is a door of the server, beside `/v1`: `create_app(memory, doors=[partial(add_proxy, ProxySettings())])`.
"""

from bethink.http.proxy.route import add_proxy

__all__ = ["add_proxy"]
