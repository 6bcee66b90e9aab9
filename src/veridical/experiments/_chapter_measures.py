"""What one draw of the chapter's demonstration gives, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning import UniformBins
from veridical.decomposition import decompose
from veridical.experiments._chapter_draw import Study, another_draw
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.scores import brier_score

ERROR = BinnedError(UniformBins(10, closed="left"))  # bins as R's findInterval makes them


def measures(study: Study, n_resamples: int, rng: np.random.Generator) -> dict[str, float]:
    """Return named numbers of one draw; names are "what, version"."""
    from sklearn.metrics import roc_auc_score

    y = study.draw.test
    found: dict[str, float] = {"slope, Platt": float(study.platt.slope_)}
    log_odds, truth = study.truth()
    exact = study.probabilities(log_odds)
    for version, p in study.test.items():
        test = consistency_test(ERROR, y, p, n_resamples=n_resamples, rng=rng)
        binned = decompose(y, p, method="bins", binning=ERROR.binning)
        found |= {
            f"Brier, {version}": brier_score(y, p),
            f"ECE, {version}": test.statistic,
            f"null, {version}": test.null_level.mean,
            f"p-value, {version}": test.pvalue,
            f"true error, {version}": true_error(exact[version], truth),
            f"AUC, {version}": float(roc_auc_score(y, p)),
            f"discrimination, {version}": decompose(y, p).discrimination,
            f"resolution, {version}": binned.discrimination,
            f"within bins, {version}": binned.within_bin,
        }
    found |= {f"ECE, {variant}": ERROR(y, p) for variant, p in study.variants().items()}
    return found


def repetition(cell: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One cell of the experiment: another draw of the same law."""
    return dict(measures(Study(another_draw(rng)), int(cell["n_resamples"]), rng))


def true_error(probabilities: FloatArray, truth: FloatArray) -> float:
    """Mean distance of P(Y = 1 | probability) from the probability, over equally likely slices.

    Examples
    --------
    A probability given to slices of 0.2 and 0.6 stands for 0.4:

    >>> true_error([0.5, 0.5, 0.9], [0.2, 0.6, 0.9]).__round__(9)
    0.066666667
    """
    levels, level = np.unique(probabilities, return_inverse=True)
    count = np.bincount(level)
    met = np.bincount(level, truth) / count
    return float(np.average(np.abs(met - levels), weights=count))
