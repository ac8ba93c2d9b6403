"""Backends: who carries out operations. A factory is registered under `bethink.backends` with its address scheme."""

from bethink.api.connect import Memory
from bethink.api.handles import Backend
from bethink.config.masked import masked
from bethink.host.backend import LocalBackend
from bethink.host.build import BackendParts
from bethink.host.databases import database_from, postgres_options
from bethink.memory.archive.format import ArchiveManifest
from bethink.memory.registry import InSpace, across
from bethink.model.operations.base import RequestT, ResultT, Retry, Verb
from bethink.model.operations.installation import LIST_SPACES, ListSpacesRequest

__all__ = [
    "LIST_SPACES",
    "ArchiveManifest",
    "Backend",
    "BackendParts",
    "InSpace",
    "ListSpacesRequest",
    "LocalBackend",
    "Memory",
    "RequestT",
    "ResultT",
    "Retry",
    "Verb",
    "across",
    "database_from",
    "masked",
    "postgres_options",
]
