"""Health, readiness and metrics routes for monitoring."""

from typing import Any

from fastapi import FastAPI, Request, Response

from bethink.http import metrics
from bethink.http.auth import require
from bethink.http.context import Context, identify
from bethink.http.middleware import HANDLED
from bethink.http.problems import error_responses
from bethink.model.access import Caller, Interface, Scope, calling_as
from bethink.model.operations.monitoring import LIST_SPACES, ListSpacesRequest

_OPEN: dict[str, Any] = {
    "tags": ["service"],
    "openapi_extra": {"security": []},
    "responses": {
        200: {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}},
        **error_responses(400, 503),
    },
    "response_model": None,
}
_PAGE: dict[str, Any] = {
    "tags": ["service"],
    "openapi_extra": {"security": [{"key": ["read"]}]},
    "response_class": Response,
    "responses": {
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **error_responses(400, 401, 403, 429, 503),
    },
    "response_model": None,
}


def add_health(app: FastAPI, context: Context) -> None:
    """Add the health and metrics routes."""

    @app.get("/healthz", operation_id="healthz", **_OPEN)
    async def healthz(request: Request) -> dict[str, str]:
        """Return ok: the process answers."""
        request.scope[HANDLED]["route"] = "/healthz"
        return {"status": "ok"}

    @app.get("/readyz", operation_id="readyz", **_OPEN)
    async def readyz(request: Request) -> dict[str, str]:
        """Return ok: the database answers."""
        request.scope[HANDLED]["route"] = "/readyz"
        with calling_as(Caller(interface=Interface.PROBE)):
            await context.backend.run(LIST_SPACES, "", ListSpacesRequest(limit=1))
        return {"status": "ok"}

    @app.get("/metrics", operation_id="metrics", **_PAGE)
    async def page(request: Request) -> Response:
        """Return metrics for Prometheus. They cover all spaces, so the key must be for all spaces."""
        request.scope[HANDLED]["route"] = "/metrics"
        require(await identify(request, context), (Scope.READ,), everywhere=True)
        return Response(await context.metrics.page(context.backend), media_type=metrics.MEDIA_TYPE)

    del healthz, readyz, page
