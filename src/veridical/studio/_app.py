"""Addresses of the studio and what answers them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from veridical import __version__
from veridical.exceptions import VeridicalError
from veridical.studio import (
    _calibrate_api,
    _data_api,
    _decide_api,
    _download_api,
    _evaluate_api,
    _game_api,
    _learn_api,
)
from veridical.studio._answers import Refused, answer, error_answer, in_thread
from veridical.studio._charts import chart_style, runtime_script
from veridical.studio._security import Guard
from veridical.studio._session import Session
from veridical.studio._settings import Settings

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


def create_app(settings: Settings, first: str | None = None) -> Starlette:
    """Return the web application.

    Parameters
    ----------
    settings : what it may read and how much it takes
    first : file within the folder to open at the start
    """
    assets = _assets() | {"chart.css": chart_style().encode()}
    # Seconds of work, done once: while the reader chooses a file.
    runtime = ThreadPoolExecutor(1).submit(runtime_script)

    async def page(request: Request) -> Response:
        return Response(assets["index.html"], media_type="text/html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "runtime.js":
            return Response(await in_thread(runtime.result), media_type=_KINDS["js"])
        if name not in assets or name == "index.html":
            return PlainTextResponse("Not found.\n", 404)
        return Response(assets[name], media_type=_KINDS[name.rpartition(".")[2]])

    async def state(request: Request) -> Response:
        session: Session = request.app.state.session
        current = session.current
        return answer(
            {
                "version": __version__,
                "max_upload": settings.max_upload,
                "folder": str(settings.folder),
                "first": first,
                "current": None if current is None else _data_api.described(current),
                "dialects": _download_api.dialects,
                "onnx": _download_api.can_write_onnx(),
                "most_bins": _evaluate_api.MOST_BINS,
            }
        )

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/assets/{name}", asset),
            Route("/api/state", state),
            *_routes(),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={
            Refused: _refused,
            VeridicalError: _failed,
            OSError: _failed,
            Exception: _broken,
        },
    )
    app.state.session = Session(settings)
    return app


def _routes() -> list[Route]:
    return [
        Route("/api/files", _data_api.list_files),
        Route("/api/upload", _data_api.upload, methods=["PUT"]),
        Route("/api/open", _data_api.open_file, methods=["POST"]),
        Route("/api/labels", _data_api.find_labels, methods=["POST"]),
        Route("/api/use", _data_api.use, methods=["POST"]),
        Route("/api/live", _evaluate_api.live),
        Route("/api/figures", _evaluate_api.figures),
        Route("/api/groups", _evaluate_api.groups),
        Route("/api/methods", _calibrate_api.methods),
        Route("/api/fit", _calibrate_api.start, methods=["POST"]),
        Route("/api/fit", _calibrate_api.progress, methods=["GET"]),
        Route("/api/fit", _calibrate_api.cancel, methods=["DELETE"]),
        Route("/api/pick", _calibrate_api.pick, methods=["POST"]),
        Route("/api/decide", _decide_api.decide),
        Route("/api/download/{what}", _download_api.download),
        Route("/api/learn", _learn_api.learn),
        Route("/api/game", _game_api.new_game, methods=["POST"]),
        Route("/api/game", _game_api.state, methods=["GET"]),
        Route("/api/game/treat", _game_api.treat, methods=["POST"]),
        Route("/api/game/advice", _game_api.advice),
    ]


async def _refused(request: Request, error: Any) -> Response:
    return error.answer()


async def _failed(request: Request, error: Any) -> Response:
    return error_answer(error)


async def _broken(request: Request, error: Exception) -> Response:
    message = f"the studio failed: {type(error).__name__}: {str(error)[:300]}"
    hint = "the terminal shows more; please report it."
    return JSONResponse({"error": message, "hint": hint}, 500)


def _assets() -> dict[str, bytes]:
    """Files of the pages, read once: what is not among them is not served."""
    folder = resources.files("veridical.studio") / "assets"
    return {
        entry.name: entry.read_bytes()
        for entry in folder.iterdir()
        if entry.name.rpartition(".")[2] in _KINDS
    }
