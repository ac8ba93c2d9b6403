"""Bind the address of a server, with clear errors."""

import errno
import socket
import sys

from bethink.errors import DatabaseUnavailableError

_DEFAULT_FILES = 1_024


def max_open_files() -> int:
    """Return the maximum number of open files and connections of this process."""
    if sys.platform == "win32":
        return _DEFAULT_FILES
    import resource  # noqa: PLC0415 - not available on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _DEFAULT_FILES * _DEFAULT_FILES if soft == resource.RLIM_INFINITY else soft


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind every address of a host.

    Raises `DatabaseUnavailableError` if one is in use, or none belongs to this machine.
    """
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise _foreign_address_error(host, port) from error
    bound: list[socket.socket] = []
    for family, _, _, _, address in dict.fromkeys(addresses):
        try:
            bound.append(_bind(family, address))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # a name may have local and foreign addresses
            for sock in bound:
                sock.close()
            raise _bind_error(error, host, port) from error
    if not bound:
        raise _foreign_address_error(host, port)
    return bound


def _bind(family: int, address: tuple[object, ...]) -> socket.socket:
    # asyncio sets TCP_NODELAY only on a socket that names TCP. Without it the body of an answer, which is a second
    # write, would wait 40 ms until the caller acknowledges the head.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # on Windows, two processes could listen on one port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.listen()
    except OSError:
        sock.close()
        raise
    return sock


def _bind_error(error: OSError, host: str, port: int) -> DatabaseUnavailableError:
    if error.errno == errno.EADDRINUSE:
        hint = "Pass another --port, or set `server_port`; 0 selects a free port."
        return DatabaseUnavailableError(f"{_format_address(host, port)} is already in use.", hint=hint)
    if error.errno == errno.EACCES:
        return DatabaseUnavailableError(
            f"{_format_address(host, port)} needs administrator rights.", hint="Use a port above 1023."
        )
    return DatabaseUnavailableError(
        f"Cannot listen at {_format_address(host, port)}: {error.strerror}.", hint="Pass another --host or --port."
    )


def _foreign_address_error(host: str, port: int) -> DatabaseUnavailableError:
    hint = "Pass a local --host, such as 127.0.0.1, or set `server_host`."
    return DatabaseUnavailableError(f"{_format_address(host, port)} is not an address of this machine.", hint=hint)


def _format_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
