"""Environment variables that Kubernetes sets for services named `bethink` or `bethink-…`."""

import re
from collections.abc import Mapping

_HOST, _PORT = "_SERVICE_HOST", "_SERVICE_PORT"
_SERVICE_SUFFIX = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?")
_ADDRESS = re.compile(r"(tcp|udp|sctp)://")


def service_variables(environ: Mapping[str, str], prefix: str) -> frozenset[str]:
    """Return the variables with a prefix that describe a service, such as `BETHINK_PORT=tcp://10.0.0.1:80`.

    Kubernetes sets both the host and the port of a service; without both, no variable belongs to it. `BETHINK_PORT=80`
    does not count: a container may set a variable of that name itself.
    """
    services = [
        name.removesuffix(_HOST)
        for name in environ
        if name.startswith(prefix) and name.endswith(_HOST) and environ.get(name.removesuffix(_HOST) + _PORT)
    ]
    return frozenset(
        name
        for service in services
        for name, value in environ.items()
        if name.startswith(service)
        and _SERVICE_SUFFIX.fullmatch(name, len(service))
        and (name != f"{service}_PORT" or _ADDRESS.match(value))
    )
