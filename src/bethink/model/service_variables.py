"""Which variables Kubernetes puts into every container for a service called `bethink`, or `bethink-` and more."""

import re
from collections.abc import Mapping

_HOST, _PORT = "_SERVICE_HOST", "_SERVICE_PORT"
_OF_A_SERVICE = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?")
_ADDRESS = re.compile(r"(tcp|udp|sctp)://")


def service_variables(environ: Mapping[str, str], prefix: str) -> frozenset[str]:
    """Return the variables that begin with a prefix and describe a service, such as `BETHINK_PORT=tcp://10.0.0.1:80`.

    A service always has two of them, the host and the port of the service; without both, nothing is one of its
    variables. `BETHINK_PORT=80` is none either: a container may set a variable of the same name itself.
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
        and _OF_A_SERVICE.fullmatch(name, len(service))
        and (name != f"{service}_PORT" or _ADDRESS.match(value))
    )
