"""Addresses of the studio, what answers them, and who may ask: a browser with the token."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veridical import __version__
from veridical.exceptions import VeridicalError
from veridical.report.charts import chart_style, runtime_script
from veridical.studio._api import calibrate, data, decide, download, evaluate, learn
from veridical.studio._data.answers import Refused, body_of, in_thread, plain, refuse
from veridical.studio._data.files import Settings
from veridical.studio._data.session import Session

# Scripts and styles come from the studio only and are never made from text; our icon is a data:
# image.
_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Turns away requests for other hosts, from other pages, and without the token.

    A page elsewhere can send requests to a server on the reader's own machine, and with a name
    that it lets point to 127.0.0.1 it could even read the answers. So the name asked for must be
    one of this machine, the page that asks must be ours, and it must know the token, which only the
    address printed at the start holds.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no web sockets here
            return
        refusal = self._refusal(scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if refusal is None and self._brings_token(scope):
                    headers.append("Set-Cookie", self._cookie())
            await send(message)

        if refusal is not None:
            await PlainTextResponse(refusal + "\n", 403)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> str | None:
        headers, settings = Headers(scope=scope), self._settings
        hosts = {f"{name}:{settings.port}" for name in ("127.0.0.1", "localhost")}
        host = headers.get("host", "")
        if host not in hosts:
            return "Refused: the studio answers to 127.0.0.1 and localhost only."
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "Refused: this request comes from another page."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "Refused: this request comes from another page."
        if not (self._brings_token(scope) or self._has_cookie(headers)):
            return "Refused: open the address that `veridical studio` has printed."
        return None

    def _brings_token(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] != "GET":
            return False
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self._is_token(token)

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._settings.cookie)
        except CookieError:
            return False
        return found is not None and self._is_token(found.value)

    def _is_token(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self._settings.token.encode())

    def _cookie(self) -> str:
        name, token = self._settings.cookie, self._settings.token
        return f"{name}={token}; Path=/; HttpOnly; SameSite=Strict"


_ANSWERED = (Refused, VeridicalError, OSError, ClientDisconnect, Exception)
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


def create_app(settings: Settings, first: str | None = None) -> Starlette:
    """Return the web application.

    Parameters
    ----------
    settings : what it may read and how much it takes
    first : file within the folder to open at the start
    """
    charts = {"chart.css": chart_style().encode(), "chart.js": runtime_script().encode()}
    assets = _assets() | charts

    async def page(request: Request) -> Response:
        return Response(assets["index.html"], media_type="text/html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in assets or name == "index.html":
            return PlainTextResponse("Not found.\n", 404)
        return Response(assets[name], media_type=_KINDS[name.rpartition(".")[2]])

    def state(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
        return {
            "version": __version__,
            "max_upload": settings.max_upload,
            "folder": str(settings.folder),
            "first": first,
            "current": None if session.current is None else data.described(*session.in_use),
            "dialects": download.dialects,
            "onnx": download.can_write_onnx(),
            "most_bins": evaluate.MOST_BINS,
        }

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/assets/{name}", asset),
            _route("/api/state", state),
            *_routes(),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers=dict.fromkeys(_ANSWERED, refuse),
    )
    app.state.session = Session(settings)
    return app


def _routes() -> list[Route]:
    return [
        _route("/api/files", data.list_files),
        Route("/api/upload", data.upload, methods=["PUT"]),
        _route("/api/open", data.open_file, "POST"),
        _route("/api/labels", data.find_labels, "POST"),
        _route("/api/use", data.use, "POST"),
        _route("/api/live", evaluate.live),
        _route("/api/figures", evaluate.figures),
        _route("/api/groups", evaluate.groups),
        _route("/api/methods", calibrate.methods),
        _route("/api/fit", calibrate.start, "POST"),
        _route("/api/fit", calibrate.progress),
        _route("/api/fit", calibrate.cancel, "DELETE"),
        _route("/api/pick", calibrate.pick, "POST"),
        _route("/api/decide", decide.decide),
        Route("/api/download/{what}", download.download),
        _route("/api/checked", download.checked),
        _route("/api/learn", learn.learn),
        _route("/api/game", learn.new_game, "POST"),
        _route("/api/game", learn.state),
        _route("/api/game/treat", learn.treat, "POST"),
        _route("/api/game/advice", learn.advice),
    ]


def _route(path: str, work: Callable[[Session, Any], Any], method: str = "GET") -> Route:
    """What `work` makes of the question in the address, or of the JSON object that is sent."""

    async def handle(request: Request) -> Response:
        asked = await body_of(request) if method == "POST" else request.query_params
        return JSONResponse(plain(await in_thread(work, request.app.state.session, asked)))

    return Route(path, handle, methods=[method])


def _assets() -> dict[str, bytes]:
    """Files of the pages, read once: what is not among them is not served."""
    folder = resources.files("veridical.studio") / "assets"
    return {
        entry.name: entry.read_bytes()
        for entry in folder.iterdir()
        if entry.name.rpartition(".")[2] in _KINDS
    }
