"""Only a browser on this machine that was given the token is answered."""

from __future__ import annotations

import pytest
from starlette.routing import Route

from veridical.studio._data.files import Settings
from veridical.studio._server.app import _routes

HERE = "http://127.0.0.1:8123"


def _written(route: Route) -> list[str]:
    path = route.path.replace("{what}", "json")
    return [f"{method} {path}" for method in sorted(route.methods or ()) if method != "HEAD"]


ALL_PATHS = [
    "GET /",
    "GET /api/state",
    "GET /assets/app.js",
    *(each for route in _routes() for each in _written(route)),
]


OTHER_HOSTS = ["evil.example", "evil.example:8123", "127.0.0.1", "localhost", "127.0.0.1:80",
               "127.0.0.1:8123.evil.example", "[::1]:8123"]  # fmt: skip


@pytest.mark.parametrize("host", OTHER_HOSTS)
@pytest.mark.parametrize("path", ["/", "/api/state", "/assets/app.js"])
def test_other_hosts_are_refused(studio, host, path):
    answer = studio.client.get(path, headers={"Host": host})
    assert answer.status_code == 403
    assert "127.0.0.1" in answer.text


def test_localhost_is_the_same_machine(studio):
    cookie = f"{studio.settings.cookie}={studio.settings.token}"
    headers = {"Host": "localhost:8123", "Cookie": cookie, "Origin": "http://localhost:8123"}
    assert studio.client.get("/api/state", headers=headers).status_code == 200


@pytest.mark.parametrize("header", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1:8123"},
    {"Origin": "http://127.0.0.1:9999"}, {"Origin": "http://localhost:8123"},
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
])  # fmt: skip
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/state"), ("POST", "/api/open"),
                                              ("PUT", "/api/upload?name=a.csv")])  # fmt: skip
def test_other_pages_are_refused(studio, header, method, path):
    answer = studio.client.request(method, path, headers=header, content=b"{}")
    assert answer.status_code == 403
    assert "another page" in answer.text


def test_the_own_page_is_answered(studio):
    headers = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}
    assert studio.client.get("/api/state", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ALL_PATHS)
@pytest.mark.parametrize("cookie", [None, "veridical_studio_8123=wrong", "veridical_studio_8123=",
                                    "veridical_studio_8123=\u00e9", "other=1"])  # fmt: skip
def test_every_address_needs_the_token(studio, path, cookie):
    method, _, where = path.partition(" ")
    client = studio.client
    kept = dict(client.cookies)
    client.cookies.clear()
    try:
        headers = {} if cookie is None else {"Cookie": cookie.encode()}
        answer = client.request(method, where, headers=headers)
    finally:
        client.cookies.update(kept)
    assert answer.status_code == 403
    assert "veridical studio" in answer.text
    assert "set-cookie" not in answer.headers


def test_the_token_opens_the_page_only(studio):
    token = studio.settings.token
    client = studio.client
    kept = dict(client.cookies)
    client.cookies.clear()
    try:
        assert client.get("/api/state", params={"token": token}).status_code == 403
        assert client.get("/", params={"token": "x" * len(token)}).status_code == 403
        answer = client.get("/", params={"token": token})
    finally:
        client.cookies.update(kept)
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 200
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))


@pytest.mark.parametrize("path", ["/", "/api/state", "/assets/app.js", "/nothing"])
def test_every_answer_has_the_headers(studio, path):
    headers = studio.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", [
    "/assets/", "/assets", "/assets/..%2f_server%2fapp.py", "/assets/%2e%2e/_server/app.py",
    "/_server/app.py",
    "/assets/index.html", "/assets/no.js", "/api/", "/docs", "/openapi.json",
])  # fmt: skip
def test_nothing_else_is_served(studio, path):
    assert studio.client.get(path).status_code == 404


def test_every_start_has_its_own_token(tmp_path):
    first, second = (Settings(tmp_path, tmp_path, 1) for _ in range(2))
    assert first.token != second.token
    assert len(first.token) >= 32  # 24 random bytes
