"""Converts results to JSON and errors to messages for the model, which never quote an unexpected error."""

import functools
import json
import traceback
from collections.abc import Awaitable, Callable
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, InputRequiredResult, TextContent
from pydantic import ValidationError

from bethink.base.logs import logger
from bethink.errors import BethinkError, InvalidRequestError, NotFoundError
from bethink.host.codec import adapter, reason_of

P = ParamSpec("P")
T = TypeVar("T")
_log = logger("mcp")
_UNEXPECTED = "Unexpected error. See the server log."
_MAX_QUOTED = 100


def tool(body: Callable[P, Awaitable[object]]) -> Callable[P, Awaitable[CallToolResult | InputRequiredResult]]:
    """Wrap a tool so that it returns its record as JSON, structured and as text. Errors become tool errors.

    A question to the user is returned unchanged.
    """

    @functools.wraps(body)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> CallToolResult | InputRequiredResult:
        try:
            result = await body(*args, **kwargs)
            if isinstance(result, InputRequiredResult):
                return result
            text = adapter(type(result)).dump_json(result, exclude_none=True, warnings=False).decode()
        except BethinkError as error:
            raise ToolError(str(error)) from error
        except Exception as error:  # noqa: BLE001 - its message may quote stored text
            raise log_unexpected(error) from None
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))

    return wrapper


def resource(body: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """Wrap a resource so that it raises protocol errors."""

    @functools.wraps(body)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await body(*args, **kwargs)
        except (NotFoundError, InvalidRequestError) as error:
            raise ResourceNotFoundError(str(error)) from error
        except BethinkError as error:
            raise ResourceError(str(error)) from error
        except (MCPError, ResourceError):
            raise
        except Exception as error:  # noqa: BLE001 - as above
            _log_error(error)
            raise ResourceError(_UNEXPECTED) from None

    return wrapper


def request(body: Callable[P, Awaitable[T]]) -> "Callable[P, CoroutineType[Any, Any, T]]":
    """Wrap a handler of another request so that it raises protocol errors."""

    @functools.wraps(body)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await body(*args, **kwargs)
        except BethinkError as error:
            code = INVALID_PARAMS if isinstance(error, InvalidRequestError) else INTERNAL_ERROR
            raise MCPError(code=code, message=str(error)) from error
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            _log_error(error)
            raise MCPError(code=INTERNAL_ERROR, message=_UNEXPECTED) from None

    return wrapper


def log_unexpected(error: BaseException) -> ToolError:
    """Log an unexpected error, and return the error for the model."""
    _log_error(error)
    return ToolError(_UNEXPECTED)


def wrong_arguments(error: ValidationError) -> str:
    """List the invalid arguments with reasons, without their values."""
    messages = (
        f"{'.'.join(map(str, detail['loc']))[:_MAX_QUOTED]}: {reason_of(detail)[:_MAX_QUOTED]}"
        for detail in error.errors()[:5]
    )
    return "; ".join(messages)


def _log_error(error: BaseException) -> None:
    # The message may quote stored text; the type and location do not.
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("Call failed: %s in %s, line %s", type(error).__name__, frame.name, frame.lineno)
