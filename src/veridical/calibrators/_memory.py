"""Which rows a calibrator was fitted on, asked of its fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from veridical._core.score_border import check_scored_rows
from veridical._core.typing import ArrayLike
from veridical._core.validation import check_sample
from veridical.calibrators._fingerprint import Overlap
from veridical.calibrators._orientation import oriented
from veridical.exceptions import invalid

if TYPE_CHECKING:
    from veridical.calibrators._calibrator import Calibrator

_WORTH_A_NOTE = 0.01


def overlap_of(calibrator: Calibrator, y_prob: ArrayLike, y: ArrayLike, *, caller: str) -> Overlap:
    """Look up rows in the fingerprint of a fitted calibrator."""
    values = calibrator._checked_values(y_prob, caller=caller)
    if not hasattr(calibrator, "fingerprint_"):
        hint = "fit it again with `keeps_fingerprint = True`."
        raise invalid(caller, "calibrator", "with a fingerprint", "one without", hint=hint)
    labels = np.asarray(calibrator.classes_)
    if calibrator.input == "probability":
        sample = check_sample(y, values, caller=caller, labels=labels)
        return calibrator.fingerprint_.overlap(sample.p, sample.y)
    rows = check_scored_rows(
        y, values, caller=caller, labels=labels, sample_weight=None, weight_type="importance"
    )
    return calibrator.fingerprint_.overlap(*oriented(rows))


def overlap_note(
    calibrator: Calibrator, y_prob: ArrayLike, y: ArrayLike, *, caller: str = "evaluate"
) -> str | None:
    """Sentence about rows the calibrator was fitted on, None if there is nothing to say.

    Speaks up where at least 1 in 100 rows were fitted on and chance does not explain it:
    predictions of two decimals coincide so often that a part of the same rows goes unnoticed. To
    report on the rows a calibrator was fitted to is a common mistake (004 section 86.7).

    Parameters
    ----------
    calibrator : Calibrator
        Fitted; without a fingerprint there is never a note.
    y_prob : array-like
        Predictions before calibration, as its `fit` took them.
    y : array-like of shape (n,)
        Labels.
    caller : str
        Who asks: it opens the error message.

    Examples
    --------
    >>> from veridical.calibrators import IdentityCalibrator
    >>> p, y = [0.11, 0.22, 0.33, 0.44, 0.55, 0.66, 0.77, 0.88], [0, 0, 1, 0, 1, 0, 1, 1]
    >>> calibrator = IdentityCalibrator().fit(p, y)
    >>> overlap_note(calibrator, p, y).split(",")[0]
    'all of these rows were used to fit the calibrator'
    >>> overlap_note(calibrator, [0.1, 0.9], [0, 1])
    """
    if not hasattr(calibrator, "fingerprint_"):
        return None
    overlap = overlap_of(calibrator, y_prob, y, caller=caller)
    if not (overlap.beyond_chance and overlap.share >= _WORTH_A_NOTE):
        return None
    share = f"{overlap.share:.0%}" if overlap.share < 0.995 else "all"
    return (
        f"{share} of these rows were used to fit the calibrator, whose errors look smaller on "
        "them than on new rows"
    )
