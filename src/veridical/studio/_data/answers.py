"""What handlers take from a request and send back, charts included."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from veridical.exceptions import VeridicalError, invalid
from veridical.report.charts import Chart

CALLER = "studio"
_LARGEST_BODY = 10_000_000  # names of 10,000 columns take a fifth of it


class Refused(Exception):
    """A request that is turned down with a status of its own."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.hint = status, message, hint


async def refuse(request: Request, error: Exception) -> JSONResponse:
    """Say why there is no answer; an error of the library in its own words, its hint apart."""
    status, headers = 400, None
    match error:
        case Refused():
            status, message, hint = error.status, error.message, error.hint
            headers = {"Connection": "close"}
        case VeridicalError():
            message, hint = error.problem, error.hint
        case OSError():
            message, hint = str(error), ""
        case ClientDisconnect():  # nobody is there to read it
            message, hint = "the request ended early", ""
        case _:
            status, hint = 500, "the terminal shows more; please report it."
            message = f"the studio failed: {type(error).__name__}: {str(error)[:300]}"
    return JSONResponse({"error": message, "hint": hint}, status, headers)


def plain(value: Any) -> Any:
    """Only what JSON has, which knows no infinity: such numbers are sent as text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


async def in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """Compute beside the server, which goes on answering."""
    return await run_in_threadpool(work, *arguments)


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request."""
    text = b""
    async for chunk in request.stream():
        text += chunk
        if len(text) > _LARGEST_BODY:
            raise Refused(413, "the request is too large")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or nested without an end
        data = None
    if not isinstance(data, dict):
        raise Refused(400, "the request holds no JSON object")
    return data


def number(answer: Any, param: str, low: float, high: float) -> float:
    """A finite number between limits, from text or JSON."""
    try:
        value = float(answer)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(answer, bool) or not low <= value <= high:
        hint = "move the control, or type a number."
        raise invalid(CALLER, param, f"between {low:g} and {high:g}", repr(answer), hint=hint)
    return value


def whole_number(answer: Any, param: str, low: int, high: int) -> int:
    """A whole number between limits, from text or JSON."""
    value = number(answer, param, low, high)
    if value != int(value):
        raise invalid(CALLER, param, "a whole number", repr(answer), hint="leave the fraction out.")
    return int(value)


def names(answer: Any, param: str) -> list[str]:
    """Names of columns or methods, from a JSON list; none if it is left out."""
    if answer is None:
        return []
    if not (isinstance(answer, list) and all(isinstance(name, str) for name in answer)):
        hint = 'send for instance ["p"].'
        raise invalid(CALLER, param, "a list of names", type(answer).__name__, hint=hint)
    return answer


def values_of(record: Any, *names: str) -> dict[str, Any]:
    """Attributes of a result by their names."""
    return {name: getattr(record, name) for name in names}


def chart_data(chart: Chart, identifier: str) -> dict[str, Any]:
    """A chart as JSON: its markup, in which every text is escaped, and its heading."""
    return {"html": chart.to_html(identifier), "title": chart.title}
