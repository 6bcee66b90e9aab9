"""Draw the same predictions with several packages, each at its default settings.

    python docs/gallery/side_by_side.py

Draws `veridical` always and the others where they can be imported (scikit-learn, netcal, relplot,
pycalib, model-diagnostics), to `docs/gallery/side_by_side`. `versions.json` records what drew each
picture; the page itself, `docs/side-by-side.md`, is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from veridical_lab.plots.panels import save_picture as save

OUT = Path(__file__).parent / "side_by_side"


def cancer() -> tuple[np.ndarray, np.ndarray]:
    """Is the tumour benign? Naive Bayes on 569 patients, each predicted by folds without it."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    x, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return y, cross_val_predict(GaussianNB(), x, y, cv=folds, method="predict_proba")[:, 1]


def simulated(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Forecasts that are too extreme: where they say s, it happens with 0.15 + 0.7 s."""
    rng = np.random.default_rng(0)
    p = rng.beta(1.2, 1.0, n)
    return (rng.random(n) < 0.15 + 0.7 * p).astype(int), p


DATA = {"cancer": cancer, "simulated": simulated}


def draw_veridical(y: np.ndarray, p: np.ndarray) -> Figure:
    from veridical import plots

    return plots.reliability(y, p).figure


def draw_scikit_learn(y: np.ndarray, p: np.ndarray) -> Figure:
    from sklearn.calibration import CalibrationDisplay

    return CalibrationDisplay.from_predictions(y, p).figure_


def draw_netcal(y: np.ndarray, p: np.ndarray) -> Figure:
    from netcal.presentation import ReliabilityDiagram

    return ReliabilityDiagram().plot(p, y)


def draw_relplot(y: np.ndarray, p: np.ndarray) -> Figure:
    import relplot

    np.random.seed(0)  # noqa: NPY002 (its bootstrap draws from the global generator)
    drawn = relplot.rel_diagram(p, y)
    return drawn[0] if isinstance(drawn, tuple) else plt.gcf()


def draw_pycalib(y: np.ndarray, p: np.ndarray) -> Figure:
    from pycalib.visualisations import plot_reliability_diagram

    return plot_reliability_diagram(y, np.column_stack([1 - p, p]))


def draw_model_diagnostics(y: np.ndarray, p: np.ndarray) -> Figure:
    from model_diagnostics.calibration import plot_reliability_diagram

    _, ax = plt.subplots()
    return plot_reliability_diagram(y, p, ax=ax).figure


PACKAGES: dict[str, Callable[[np.ndarray, np.ndarray], Figure]] = {
    "veridical": draw_veridical,
    "scikit-learn": draw_scikit_learn,
    "netcal": draw_netcal,
    "relplot": draw_relplot,
    "pycalib": draw_pycalib,
    "model-diagnostics": draw_model_diagnostics,
}


def main() -> None:
    OUT.mkdir(exist_ok=True)
    record = OUT / "versions.json"
    versions = json.loads(record.read_text()) if record.exists() else {}
    data = {name: make() for name, make in DATA.items()}
    for package, draw in PACKAGES.items():
        for name, (y, p) in data.items():
            try:
                with plt.style.context("default"):  # some packages change settings for good
                    save(draw(y, p), OUT / f"{name}-{package}.png", tight=True)
            except ImportError as missing:
                print(f"{package} left out: {missing}")
                break
            plt.close("all")
        else:
            versions[package] = _version(package)
    versions["matplotlib"] = mpl.__version__
    record.write_text(json.dumps(versions, indent=2, sort_keys=True) + "\n")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a checkout
        import veridical

        return veridical.__version__


if __name__ == "__main__":
    main()
