"""Turns errors into what a model may read: message and next step, and nothing of what was not foreseen."""

import functools
import traceback
from collections.abc import Awaitable, Callable
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import BaseModel, ValidationError

from bethink.errors import BethinkError, Invalid, NotFound
from bethink.logs import logger

P = ParamSpec("P")
T = TypeVar("T")
_log = logger("mcp")
_UNFORESEEN = "something went wrong that was not foreseen; the log of the server says where."
_SHOWN = 100


def tool(body: Callable[P, Awaitable[BaseModel]]) -> Callable[P, Awaitable[Any]]:
    """Let a tool answer with its model as JSON, once as structure and once as text; errors become tool errors."""

    @functools.wraps(body)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> CallToolResult:
        try:
            made = await body(*args, **kwargs)
        except BethinkError as error:
            raise ToolError(str(error)) from error
        except Exception as error:  # noqa: BLE001 - nothing of it may reach the model
            raise unforeseen(error) from None
        text = made.model_dump_json(exclude_none=True)
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=made.model_dump(mode="json", exclude_none=True),
        )

    return guarded


def resource(body: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """Let a resource fail as the protocol wants it."""

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
            raise ResourceError(_UNFORESEEN) from None

    return guarded


def request(body: Callable[P, Awaitable[T]]) -> "Callable[P, CoroutineType[Any, Any, T]]":
    """Let any other request fail as the protocol wants it."""

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
            raise MCPError(code=INTERNAL_ERROR, message=_UNFORESEEN) from None

    return guarded


def unforeseen(error: BaseException) -> ToolError:
    """Note what nobody foresaw, and return what a model is told of it."""
    _note(error)
    return ToolError(_UNFORESEEN)


def wrong_arguments(error: ValidationError) -> str:
    """Say which arguments are wrong and why, without quoting them."""
    said = (f"{'.'.join(map(str, each['loc']))[:_SHOWN]}: {each['msg'][:_SHOWN]}" for each in error.errors()[:5])
    return "; ".join(said)


def _note(error: BaseException) -> None:
    # Its message may quote what is stored; its type and place do not.
    place = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("a call failed: %s in %s, line %s", type(error).__name__, place.name, place.lineno)
