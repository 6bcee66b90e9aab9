"""Section 5.1: true errors, and what fixed bins converge to."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np

from veridical.binning import UniformBins
from veridical.experiments._page import Page
from veridical.miscalibration import BinnedError
from veridical.simulation import true_calibration_error, two_normals_model, two_normals_task

BINS = (10, 100)
_CELLS, _REACH = 1 << 14, 9.0  # quadrature: cells of equal width on [-9, 9], cut at bin edges
_COUNTS = (1, 2, 5, 10, 20, 50, 100, 1000)


@cache
def true_error(model: str) -> float:
    """Return the expected miscalibration of a model of section 5.1, total variation."""
    return true_calibration_error(two_normals_task(), two_normals_model(model))


@cache
def bin_limit(n_bins: int, *, distance: str = "tv") -> float:
    """Return what the estimate of the uncalibrated model tends to as rows are added, bins fixed.

    The population is written as weighted rows: the midpoints of narrow cells, with the exact
    masses of both classes there. A plug-in error is a function of the weighted distribution.
    """
    task, model = two_normals_task(), two_normals_model("uncalibrated")
    inner = np.arange(1, n_bins) / n_bins
    cuts = (np.log(inner / (1 - inner)) - model.intercept) / model.slope  # no cell is in two bins
    edges = np.union1d(np.linspace(-_REACH, _REACH, _CELLS + 1), cuts)
    mass = task.interval_mass(edges)
    p = model((edges[:-1] + edges[1:]) / 2)
    y = np.repeat(task.labels, len(p))
    estimator = BinnedError(UniformBins(n_bins), distance=distance)
    return estimator(y, np.vstack([p, p]), sample_weight=mass.T.ravel())


def limit_section(page: Page) -> None:
    """Add the true errors of section 5.1 and Theorems 1 and 2 in numbers."""
    page.section("Section 5.1: true errors, and what fixed bins converge to")
    page.text(
        """Two standard normal classes at -1 and 1, and three logistic models: the true posterior, a
        constant, and one that leans the wrong way. The true errors are integrals. With bins held
        fixed, an estimate converges too, to at most the truth (Theorem 2); only with ever finer
        bins does the limit reach it (Theorem 1)."""
    )
    truth = true_error("uncalibrated")
    page.number("Section 5.1, uncalibrated model", truth, printed=0.56, tolerance=0.005)
    for model in ("perfect", "constant"):
        page.number(f"Section 5.1, {model} model", true_error(model), printed=0, tolerance=1e-6)
    task, uncalibrated = two_normals_task(), two_normals_model("uncalibrated")
    confidence = true_calibration_error(task, uncalibrated, lens="confidence")
    squared = 2 * true_calibration_error(task, uncalibrated, norm=2) ** 2
    page.number("Section 5.1, uncalibrated model, maximum lens", confidence)
    page.number("Section 5.1, uncalibrated model, squared Euclidean distance", squared)
    limits = {count: bin_limit(count) for count in _COUNTS}
    page.table(
        {
            "bins": list(_COUNTS),
            "limit of the estimate": list(limits.values()),
            "below the truth by": [truth - limit for limit in limits.values()],
        },
        digits=7,
    )
    for count in BINS:
        page.number(f"Section 5.1, limit with {count} bins", limits[count])
    page.claim(
        "Theorem 2", "with fixed bins the limit is at most the truth",
        holds=max(limits.values()) < truth, value=truth - limits[10],
        reason="truth minus limit with 10 bins; positive for every number of bins tried",
    )  # fmt: skip
    rest = [truth - limits[count] for count in _COUNTS]
    finer = all(after <= before + 1e-9 for before, after in itertools.pairwise(rest))
    page.claim(
        "Theorem 1", "with finer bins the limit tends to the truth",
        holds=finer and rest[-1] < 1e-6, value=rest[-1],
        reason="truth minus limit with 1,000 bins; it falls with every refinement",
    )  # fmt: skip
    page.text(
        f"""Two columns, p and 1 - p, are equally far off, so the Euclidean distance of two classes
        is √2 = {math.sqrt(2):.4f} times the total variation, for any model and any bins:
        {bin_limit(100, distance="l2"):.6f} with 100 bins. Squared, it is
        {bin_limit(100, distance="sqeuclidean"):.6f} here. The model is so far off that the two
        happen to be close; for a model that is nearly calibrated they are not (see below)."""
    )
