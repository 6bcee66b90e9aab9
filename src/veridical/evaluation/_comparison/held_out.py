"""What a calibrator does to predictions of rows it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.runtime.progress import track
from veridical._core.typing import Array, ArrayLike, FloatArray
from veridical.evaluation._comparison.compare import compare
from veridical.evaluation._figures.evaluate import evaluate
from veridical.exceptions import InvalidInputError
from veridical.results import Comparison, Evaluation

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator
    from veridical.selection.core import CrossFit

_FEW_ROWS = 50  # so few may not allow every figure of a comparison


def held_out(
    calibrator: Calibrator,
    values: FloatArray,
    y: Array,
    sample_weight: ArrayLike | None,
    *,
    n_folds: int,
    lens: Any,
    n_bins: Any,
) -> Comparison | Evaluation | str:
    """Predictions before and after calibration by maps fitted to the other folds.

    Everything the calibrator decides, an automatic choice too, is decided anew in each fold, so
    that the comparison is fair; it describes maps fitted to (n_folds - 1) / n_folds of the rows.
    Scores are no probabilities and have no "before": then only what comes out is evaluated. A text
    says why nothing could be held out.
    """
    from veridical.calibrators import IdentityCalibrator
    from veridical.calibrators.core import check_rows, positive_column, warn_of
    from veridical.selection.core import make_folds

    rows = check_rows(
        values,
        y,
        sample_weight,
        input=calibrator.input,
        labels=calibrator.labels,
        weight_type="importance",
        caller="AutoCalibrator",
    )
    folds = make_folds(rows, (n_folds,))
    after = _predictions(calibrator, folds)
    if isinstance(after, str):
        return after
    warn_of(after.notes)
    classes = rows.classes
    if len(classes) == 2 and not positive_column(classes):
        classes = classes[::-1]  # rows have the positive class last
    held = [fold.held for fold in folds]
    outcomes = np.asarray(classes)[np.concatenate([part.y for part in held])]
    weights = [part.weight for part in held if part.weight is not None]
    options: dict[str, Any] = {
        "lens": lens,
        "n_bins": n_bins,
        "labels": list(classes),
        "sample_weight": np.concatenate(weights) if weights else None,
    }
    if calibrator.input == "score":
        return evaluate(outcomes, after.given, **options)
    before = _predictions(IdentityCalibrator(input=calibrator.input), folds)
    if isinstance(before, str):
        return before
    models = {"before": before.given, "after": after.given}
    try:
        return compare(models, outcomes, reference="before", **options)
    except InvalidInputError as error:
        if len(rows.y) >= _FEW_ROWS:
            raise
        return str(error).splitlines()[0]  # bins of one row, say: that must not cost the fit


def _predictions(calibrator: Calibrator, folds: Any) -> CrossFit | str:
    from sklearn.base import clone

    from veridical.selection import AutoCalibrator
    from veridical.selection.core import cross_fit

    part: Calibrator = clone(calibrator)
    part.set_params(labels=None)  # rows hold class indices
    if isinstance(part, AutoCalibrator):
        limit = part.max_seconds
        part.set_params(max_seconds=None if limit is None else limit / max(1, len(folds)))
        return cross_fit(part, folds, iter(range(len(folds))))  # draws its own bars
    return cross_fit(part, folds, iter(track(len(folds), "holding out folds")))
