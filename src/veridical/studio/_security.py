"""Who may talk to the studio: a browser on this machine that was given the token."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veridical.studio._settings import Settings

# Scripts come from the studio only and are never made from text: Vega interprets its expressions
# (option `ast`), so that 'unsafe-eval' is not needed. Its PNG export and our icon are data: images.
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
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self._is_token(given)

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._settings.cookie)
        except CookieError:
            return False
        return found is not None and self._is_token(found.value)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._settings.token.encode())

    def _cookie(self) -> str:
        name, token = self._settings.cookie, self._settings.token
        return f"{name}={token}; Path=/; HttpOnly; SameSite=Strict"
