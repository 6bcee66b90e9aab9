"""Draw first screens of reports for README and docs/report.md; needs Chromium and Pillow.

python docs/figures/make_report.py
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from veridical import make_report

HERE = Path(__file__).parent
SIZE = {"width": 1280, "height": 900}


def sigmoid(z: np.ndarray) -> np.ndarray:
    """Probability of a log-odds."""
    return 1 / (1 + np.exp(-z))


def rare(path: Path) -> None:
    """Half a per cent of payments are fraud."""
    rng = np.random.default_rng(7)
    z = rng.normal(-6.6, 1.3, 50_000)
    y = np.where(rng.random(len(z)) < sigmoid(0.8 * z - 0.6), "fraud", "genuine")
    make_report(y, sigmoid(z), pos_label="fraud", title="Card payments, March", path=path)


def few(path: Path) -> None:
    """Forty rows of a calibrated model."""
    rng = np.random.default_rng(2)
    z = rng.normal(0, 1.5, 40)
    y = (rng.random(40) < sigmoid(z)).astype(int)
    make_report(y, sigmoid(z), title="Pilot of 40 patients", path=path)


def models(path: Path) -> None:
    """One model knows everything, one is too extreme, one knows less."""
    rng = np.random.default_rng(5)
    seen, hidden = rng.normal(size=(2, 2000))
    z = 1.2 * seen + 0.8 * hidden
    y = (rng.random(2000) < sigmoid(z)).astype(int)
    close = sigmoid(z + 0.15 * rng.normal(size=2000))
    every = {"logistic": sigmoid(z), "network": close, "boosting": sigmoid(1.9 * z)}
    make_report({**every, "baseline": sigmoid(1.1 * seen)}, y, title="Four models", path=path)


def classes(path: Path) -> None:
    """Three classes, over-confident."""
    rng = np.random.default_rng(7)
    z = rng.normal(0, 2, (3000, 3))
    p, q = (np.exp(s * z) / np.exp(s * z).sum(axis=1, keepdims=True) for s in (1.0, 0.6))
    y = (rng.random(3000)[:, None] > q.cumsum(axis=1)).sum(axis=1)
    names = ["cat", "dog", "fox"]
    make_report(np.array(names)[y], p, labels=names, title="Three animals", path=path)


def forest(path: Path) -> None:
    """The example of the README."""
    make_report("examples/forest.csv", by="ink", path=path)


SCREENS = {"forest": forest, "rare": rare, "40-rows": few, "models": models, "classes": classes}


def main() -> None:
    """Write report-NAME.png of every screen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, write in SCREENS.items():
            path = Path(folder) / f"{name}.html"
            write(path)
            page = browser.new_page(viewport=SIZE)
            page.goto(path.as_uri())
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            few_colours = picture.quantize(96, dither=Image.Dither.NONE)
            few_colours.save(HERE / f"report-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
