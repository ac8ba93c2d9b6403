"""Takes the address that a server is to listen at, and says plainly why it cannot."""

import errno
import socket
import sys

from bethink.errors import Unavailable

_FILES = 1_024


def open_files() -> int:
    """Return how many files and connections this process may have open."""
    if sys.platform == "win32":
        return _FILES
    import resource  # noqa: PLC0415 - not there on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _FILES * _FILES if soft == resource.RLIM_INFINITY else soft


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind every address that a host stands for. Raises `Unavailable` if one is taken, or none is this machine's."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise _foreign(host, port) from error
    bound: list[socket.socket] = []
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            bound.append(_bound(family, address))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # a name may stand for one address that is here and one that is not
            for each in bound:
                each.close()
            raise _refused(error, host, port) from error
    if not bound:
        raise _foreign(host, port)
    return bound


def _bound(family: int, address: tuple[object, ...]) -> socket.socket:
    # asyncio sets TCP_NODELAY only on a socket that names TCP. Without it the body of an answer, which is a second
    # write, would wait 40 ms for the caller to acknowledge the head.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would let two listen at one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen()
    except OSError:
        made.close()
        raise
    return made


def _refused(error: OSError, host: str, port: int) -> Unavailable:
    if error.errno == errno.EADDRINUSE:
        hint = "Give --port another one, or set server_port; 0 takes any that is free."
        return Unavailable(f"{_place(host, port)} is taken.", hint=hint)
    if error.errno == errno.EACCES:
        return Unavailable(f"{_place(host, port)} is not for this user.", hint="Give --port a number above 1023.")
    return Unavailable(f"nothing can listen at {_place(host, port)}: {error.strerror}.", hint="Give --host or --port.")


def _foreign(host: str, port: int) -> Unavailable:
    hint = "Give --host one of its own, such as 127.0.0.1, or set server_host."
    return Unavailable(f"{_place(host, port)} is not an address of this machine.", hint=hint)


def _place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
