"""What CalArena publishes of networks, experiment by experiment, and what its abstract says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from veridical_lab._frame.page import Page
from veridical_lab.arena.recorded import recorded
from veridical_lab.arrays import FloatArray

Losses = Mapping[str, FloatArray]

SMOOTH, BINS = ("TS", "Beta", "Quadratic"), ("Hist-uniform", "Hist-quantile")
DEDICATED, SINGLE = ("SMS", "TS"), ("Isotonic", "Hist-quantile")
_HIGH = 100  # classes


def published_section(page: Page) -> None:
    """Add the published losses, summed up, and the statements of the abstract about them."""
    found = recorded("calarena")
    page.section("What CalArena publishes, counted again")
    page.text(
        f"""The log loss of every experiment is public ({found["source"]}); the predictions, 1.7 GB,
        are not at hand, so no experiment can be run again. Below are the image benchmarks: 13 of
        two classes and 20 of 4 to 200. Standard errors are over experiments, which share data
        sets."""
    )
    two, many = (_losses(found[name]) for name in ("cv-binary", "cv-multiclass"))
    classes = np.array(found["cv-multiclass"]["classes"])
    _summary(page, "Two classes", two)
    _summary(page, "4 to 200 classes", many)
    high = {name: loss[classes >= _HIGH] for name, loss in many.items()}
    few = {name: loss[classes < _HIGH] for name, loss in many.items()}
    page.check(f"""
        - Their numbers, smooth and binned maps | smooth calibration functions outperform binning |
          {mean_text(contrast(two, SMOOTH, BINS))} < 0 | log loss, mean of {", ".join(SMOOTH)}
          less mean of {", ".join(BINS)}, 13 experiments of two classes
        - Their numbers, 100 and 200 classes | dedicated multiclass methods are essential in high
          dimensions | {mean_text(contrast(high, DEDICATED, SINGLE))} < 0 | log loss of
          {", ".join(DEDICATED)} less {", ".join(SINGLE)} one against the rest, 6 experiments; of 4
          to 10 classes it is {contrast(few, DEDICATED, SINGLE).mean():.2f}
        - Their numbers, trees, many classes | generic models are not competitive |
          {mean_text(contrast(many, ["LightGBM"], ["SMS"]))} > 0 | log loss of LightGBM less SMS, 20
          experiments; above 0 in all of them
        - Their numbers, trees, two classes | generic models are not competitive |
          {mean_text(contrast(two, ["CatBoost", "LightGBM"], ["Beta"]))} > 0 | log loss of both tree
          ensembles less beta calibration, 13 experiments: of two classes their own numbers do not
          show it
    """)


def contrast(losses: Losses, first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """Mean loss of some methods less that of others, in every experiment.

    Examples
    --------
    >>> losses = {"a": np.array([1.0, 2.0]), "b": np.array([0.5, 1.0]), "c": np.array([0.0, 1.0])}
    >>> contrast(losses, ["a"], ["b", "c"]).tolist()
    [0.75, 1.0]
    """
    a, b = (np.mean([losses[name] for name in names], axis=0) for names in (first, second))
    return np.asarray(a - b)


def mean_text(differences: FloatArray) -> str:
    """Mean over experiments and its standard error, as `Page.check` reads them.

    Examples
    --------
    >>> mean_text(np.array([1.0, 3.0]))
    '2.0 ~ 1.0'
    """
    error = float(differences.std(ddof=1)) / len(differences) ** 0.5
    return f"{float(differences.mean())} ~ {error}"


def _losses(benchmark: Mapping[str, Mapping[str, Sequence[float]]]) -> Losses:
    return {name: np.array(values) for name, values in benchmark["log_loss"].items()}


def _summary(page: Page, caption: str, losses: Losses) -> None:
    change = {name: loss - losses["Base-model"] for name, loss in losses.items()}
    page.table(
        {
            "method": list(losses),
            "mean log loss": [float(loss.mean()) for loss in losses.values()],
            "change": [float(one.mean()) for one in change.values()],
            "experiments made worse": [int((one > 0).sum()) for one in change.values()],
        },
        caption=caption,
    )
