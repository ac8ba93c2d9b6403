"""Backends, which run operations. A factory is registered under `bethink.backends` with its address scheme."""

from bethink.api.connect import Memory
from bethink.api.handles import Backend
from bethink.config.masking import mask_secrets
from bethink.host.backend import LocalBackend
from bethink.host.build import BackendParts
from bethink.host.databases import database_from, postgres_options
from bethink.memory.archive.format import ArchiveManifest
from bethink.memory.registry import InSpace, across
from bethink.model.operations.base import Operation, RequestT, ResultT, Retry
from bethink.model.operations.monitoring import LIST_SPACES, ListSpacesRequest

__all__ = [
    "LIST_SPACES",
    "ArchiveManifest",
    "Backend",
    "BackendParts",
    "InSpace",
    "ListSpacesRequest",
    "LocalBackend",
    "Memory",
    "Operation",
    "RequestT",
    "ResultT",
    "Retry",
    "across",
    "database_from",
    "mask_secrets",
    "postgres_options",
]
