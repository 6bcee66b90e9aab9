"""Figures 1 and 2: the reliability curve of a small network, without and with its histogram."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.curves import reliability_curve
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import drawn
from veridical_lab._frame.page import Page
from veridical_lab.plots.panels import Bars, Line, Mark, Panel, draw_panels

_BINS = 12  # the default of kyle
_TRAIN, _TEST, _CLASSES = 600, 10_000, 3
_OUTER = 0.9  # confidences beyond which predictions crowd


def show_small_network(lab: Laboratory, page: Page) -> None:
    """Train small networks on made-up data, and ask where their ECE comes from."""
    cells = [{"repetition": r} for r in range(2 if lab.quick else 10)]
    found = lab.map("small network", _train, cells)
    first = found[0]
    page.section("Figures 1 and 2: a reliability curve hides its weights")
    page.text(
        f"""A network with one hidden layer of 100 units, trained for 100 epochs on {_TRAIN} rows of
        scikit-learn's `make_classification` with {_CLASSES} classes; {_TEST:,} others test it
        ({len(cells)} data sets; the picture shows the first). The middle are bins up to a
        confidence of {_OUTER}."""
    )
    edges = [*first["lower"], first["upper"][-1]]
    curve = Line(first["predicted"], first["observed"], "observed", 0, markers=True)
    share = np.array(first["count"]) / _TEST
    caption = """The same curve twice: where it is farthest from the diagonal there are few rows. |
        Two reliability diagrams of a small network, the right one with a histogram"""
    both: list[Mark] = [Bars(edges, share, "share of rows", 1), curve]
    panels = [
        Panel([curve], "as in Figure 1", "confidence", "accuracy", "square"),
        Panel(
            both, "as in Figure 2", "confidence", "accuracy, share of rows", "square", legend=True
        ),
    ]
    page.figure("small-network", draw_panels(panels, columns=2, size=(3.4, 3.2)), caption)
    deepest = [one["largest gap"] for one in found]
    page.check(f"""Figure 1 | in the middle there are large deviations from the diagonal |
        {drawn(deepest)} as large | largest |accuracy - confidence| of a middle bin, mean over
        networks; at the outer end {np.mean([one["outer gap"] for one in found]):.3f}""")
    rows = float(np.mean([one["middle rows"] for one in found]))
    part = [one["middle part"] for one in found]
    page.check(f"""
        - Figure 2, population | most of the bins in the middle are almost empty in comparison |
          {drawn([one["largest middle"] for one in found])} as few | share of rows in the fullest
          middle bin; all of them together hold {rows:.2f}
        - Figure 2, contribution | and hence they do not contribute much to the ECE |
          {drawn(part)} as not much | their share of the ECE, with {rows:.2f} of the rows; the ECE
          is that of the last bins,
          where the curve looks best
    """)


def _train(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    import warnings

    from sklearn.datasets import make_classification
    from sklearn.neural_network import MLPClassifier

    seed = int(rng.integers(1 << 31))
    shape = {"n_features": 20, "n_informative": 8, "n_classes": _CLASSES}
    x, y = make_classification(
        _TRAIN + _TEST, **shape, class_sep=1.2, flip_y=0.05, random_state=seed
    )
    model = MLPClassifier((100,), learning_rate_init=0.01, max_iter=100, random_state=seed)
    with warnings.catch_warnings(record=True):  # a hundred epochs are enough to be over-confident
        warnings.simplefilter("always")
        model.fit(x[:_TRAIN], y[:_TRAIN])
    p = model.predict_proba(x[_TRAIN:])
    curve = reliability_curve(y[_TRAIN:], p, lens="confidence", n_bins=_BINS, interval=None)
    middle = curve.upper <= _OUTER
    gap, weight = np.abs(curve.gap), curve.count / _TEST
    ece = float(weight @ gap)
    full = middle & (curve.count >= 20)
    drawn = ("lower", "upper", "count", "predicted", "observed")
    return {
        **{name: getattr(curve, name) for name in drawn},
        "largest gap": float(gap[full].max()),
        "outer gap": float(gap[-1]),
        "middle rows": float(weight[middle].sum()),
        "largest middle": float(weight[middle].max()),
        "middle part": float(weight[middle] @ gap[middle]) / ece,
        "ece": ece,
    }
