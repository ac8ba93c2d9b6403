"""Turns results into JSON, and errors into what a model may read: never the text of an unexpected one."""

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
from bethink.errors import BethinkError, Invalid, NotFound
from bethink.host.codec import adapter

P = ParamSpec("P")
T = TypeVar("T")
_log = logger("mcp")
_UNEXPECTED = "an unexpected error occurred. The log of the server says where."
_QUOTED = 100


def tool(body: Callable[P, Awaitable[object]]) -> Callable[P, Awaitable[CallToolResult | InputRequiredResult]]:
    """Return a tool that answers with its record as JSON, as structure and as text. Its errors become tool errors.

    A question to the user is passed on as it is.
    """

    @functools.wraps(body)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> CallToolResult | InputRequiredResult:
        try:
            made = await body(*args, **kwargs)
            if isinstance(made, InputRequiredResult):
                return made
            text = adapter(type(made)).dump_json(made, exclude_none=True, warnings=False).decode()
        except BethinkError as error:
            raise ToolError(str(error)) from error
        except Exception as error:  # noqa: BLE001 - its message may quote what is stored
            raise unexpected(error) from None
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))

    return guarded


def resource(body: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """Return a resource whose errors are those of the protocol."""

    @functools.wraps(body)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await body(*args, **kwargs)
        except (NotFound, Invalid) as error:
            raise ResourceNotFoundError(str(error)) from error
        except BethinkError as error:
            raise ResourceError(str(error)) from error
        except (MCPError, ResourceError):
            raise
        except Exception as error:  # noqa: BLE001 - as above
            _note(error)
            raise ResourceError(_UNEXPECTED) from None

    return guarded


def request(body: Callable[P, Awaitable[T]]) -> "Callable[P, CoroutineType[Any, Any, T]]":
    """Return a handler of any other request whose errors are those of the protocol."""

    @functools.wraps(body)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await body(*args, **kwargs)
        except BethinkError as error:
            code = INVALID_PARAMS if isinstance(error, Invalid) else INTERNAL_ERROR
            raise MCPError(code=code, message=str(error)) from error
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            _note(error)
            raise MCPError(code=INTERNAL_ERROR, message=_UNEXPECTED) from None

    return guarded


def unexpected(error: BaseException) -> ToolError:
    """Log an unexpected error, and return what a model is told about it."""
    _note(error)
    return ToolError(_UNEXPECTED)


def wrong_arguments(error: ValidationError) -> str:
    """Name the arguments that are wrong and why, without quoting them."""
    said = (f"{'.'.join(map(str, each['loc']))[:_QUOTED]}: {each['msg'][:_QUOTED]}" for each in error.errors()[:5])
    return "; ".join(said)


def _note(error: BaseException) -> None:
    # Its message may quote what is stored; its type and place do not.
    place = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("a call failed: %s in %s, line %s", type(error).__name__, place.name, place.lineno)
