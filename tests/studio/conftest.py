"""A studio without a browser: the application, a client that knows the token, and some files."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio needs the extra `studio`")
pytest.importorskip("httpx", reason="the test client of starlette needs httpx")

with warnings.catch_warnings():
    # Which HTTP library the test client prefers changes between versions; either will do.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from veridical.studio._data.files import Settings
from veridical.studio._server.app import create_app

PORT = 8123


@dataclass
class Studio:
    """What tests use of a running studio."""

    client: TestClient
    settings: Settings

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON of a request that must succeed."""
        answer = self.client.get(f"/api/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, **body: Any) -> Any:
        """Return the JSON of a request that must succeed."""
        answer = self.client.post(f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def use(self, name: str, y: str, prob: list[str], **more: Any) -> Any:
        """Open a file of the folder and map its columns."""
        opened = self.post("open", name=name)
        return self.post("use", id=opened["id"], y=y, prob=prob, **more)

    def fitted(self, *methods: str, folds: int = 3) -> Any:
        """Fit and wait for the result."""
        self.post("fit", methods=list(methods), folds=folds)
        for _ in range(600):
            known = self.get("fit")
            if known["state"] != "running":
                return known
            time.sleep(0.05)
        raise AssertionError("the fit did not end")


def _write_csv(path: Path, columns: dict[str, Any]) -> None:
    """Write columns with full digits."""
    rows = zip(*[np.asarray(values).tolist() for values in columns.values()], strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def binary_columns(n: int = 500) -> dict[str, Any]:
    """Over-confident predictions of a class called "ill", with weights and groups."""
    rng = np.random.default_rng(7)
    p = rng.beta(0.8, 1.0, n).round(3).clip(0.001, 0.999)
    ill = rng.random(n) < 1 / (1 + np.exp(-0.5 * np.log(p / (1 - p))))
    group = np.where(np.arange(n) % 3 == 0, "a", "b")
    weight = rng.integers(1, 4, n)
    return {"state": np.where(ill, "ill", "well"), "p": p, "w": weight, "g": group}


def several_columns(n: int = 400) -> dict[str, Any]:
    """Predictions of three classes in hundredths."""
    rng = np.random.default_rng(8)
    counts = rng.multinomial(97, rng.dirichlet([0.9, 0.9, 0.9], n)) + 1
    p = counts / 100
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    names = np.array(["cat", "dog", "fox"])
    return {"label": names[y], **{f"p_{name}": p[:, k] for k, name in enumerate(names)}}


@pytest.fixture(scope="session")
def ill() -> dict[str, Any]:
    """Columns of ``ill.csv``: `state` with the labels ill and well, `p` that of being ill."""
    return binary_columns()


@pytest.fixture(scope="session")
def animals() -> dict[str, Any]:
    """Columns of ``animals.csv``: `label`, and a probability for each of three."""
    return several_columns()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with a file of two classes and one of three."""
    folder = tmp_path_factory.mktemp("folder")
    _write_csv(folder / "ill.csv", binary_columns())
    _write_csv(folder / "animals.csv", several_columns())
    workspace = tmp_path_factory.mktemp("workspace")
    settings = Settings(folder, workspace, PORT, max_upload=100_000)
    app = create_app(settings)
    # Errors of handlers are answers here, as they are for a browser.
    with TestClient(
        app, base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=False
    ) as client:
        assert client.get("/", params={"token": settings.token}).status_code == 200
        yield Studio(client, settings)
    app.state.session.end()


@pytest.fixture(scope="session")
def refused() -> Callable[[Any, int], dict[str, str]]:
    """Check that an answer is a refusal with a message and a hint, and return them."""

    def check(answer: Any, status: int) -> dict[str, str]:
        assert answer.status_code == status, answer.text
        found: dict[str, str] = answer.json()
        assert found["error"]
        return found

    return check
