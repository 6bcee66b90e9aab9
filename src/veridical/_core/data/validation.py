"""The border: user data in, one checked sample out; nothing below checks inputs again.

Probabilities and real-valued scores (logits, decision values) have one entrance each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.data.classes import Classes, declared_order, read_classes
from veridical._core.data.columns import names_of
from veridical._core.data.faults import Option, at_first, probability_error, rounding_note
from veridical._core.data.labels import NotLabelsError, check_label_array
from veridical._core.numeric.scan import Scan, in_unit_interval, scan_matrix
from veridical._core.sample import BinarySample, MulticlassSample, Sample, effective_size
from veridical._core.typing import Array, ArrayLike, BoolArray, FloatArray, IntArray, WeightType
from veridical.exceptions import invalid, unknown_option, warn_of

__all__ = [
    "check_level",
    "check_option",
    "check_probabilities",
    "check_sample",
    "check_weight",
    "float_array",
    "is_integer",
    "is_number",
    "kept_rows",
    "tame_weights",
]


def check_sample(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    caller: str,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    predictions_first: bool = False,
    option: Option = None,
) -> Sample:
    """Check everything about the data once, and return what the rest of the library trusts.

    Shapes (n,), (n, 1) and (n, 2) give a `BinarySample`, (n, K) with K >= 3 a `MulticlassSample`.
    `predictions_first` is for callers whose own first argument are the predictions; `option` is
    their parameter that says what predictions are, for advice.
    """
    check_option(caller, "weight_type", weight_type, ("importance", "frequency"))
    p = float_array(y_prob, caller=caller, param="y_prob")
    if predictions_first:
        option = "input"
    try:
        y = check_label_array(y_true, caller=caller, drops=option == "scale")
    except NotLabelsError as error:
        if np.isin(p, (0, 1)).all():
            got = "fractions in y_true and only 0 and 1 in y_prob"
            right = "labels first, then probabilities"
            if predictions_first:
                right = "predictions first, then labels, as everywhere in scikit-learn"
            hint = f"the arguments look swapped: {right}."
            raise invalid(caller, "y_true", "class labels", got, hint=hint) from error
        raise
    if len(y) != len(p):
        hint = "pass one probability (or row of probabilities) per label."
        got = f"{len(p)} rows for {len(y)} labels"
        raise invalid(caller, "y_prob", "as long as `y_true`", got, hint=hint)
    if len(y) == 0:
        hint = "pass at least one row."
        raise invalid(caller, "y_true", "non-empty", "0 rows", hint=hint)
    weight = check_weight(sample_weight, len(y), caller=caller)
    weight = _usable_weights(weight, weight_type, caller)
    matrix = _check_shape(p, caller=caller, param="y_prob")
    if matrix.ndim == 1:
        _check_values(matrix, None, caller=caller, param="y_prob", option=option)
    classes = _classes(y_true, y, y_prob, matrix, labels, pos_label, caller)
    scan: Scan | None = None
    notes: tuple[str, ...] = ()
    if matrix.ndim == 2:
        matrix = classes.arranged(matrix)
        scan, notes = _check_values(
            matrix, classes.codes, caller=caller, param="y_prob", option=option
        )
    sample = _assemble(classes, matrix, scan, weight, weight_type)
    if notes:
        sample = replace(sample, notes=notes)
    if weight is not None and not weight.all():
        return sample.take(np.flatnonzero(weight))  # weight zero means the row is not there
    return sample


def _classes(
    y_true: Any, y: Array, y_prob: Any, p: FloatArray, labels: Any, pos_label: Any, caller: str
) -> Classes:
    """The classes, read from labels and the names of columns; what was assumed is said."""
    found = read_classes(
        y,
        1 if p.ndim == 1 else p.shape[1],
        names=names_of(y_prob),
        declared=declared_order(y_true),
        labels=labels,
        pos_label=pos_label,
        caller=caller,
    )
    warn_of(found.notes, caller=caller)
    return found


def check_probabilities(
    p: FloatArray,
    *,
    caller: str,
    param: str = "y_prob",
    option: Option = None,
    rounded: bool = False,
) -> FloatArray:
    """Return probabilities as (n,) or (n, K >= 2), or say what is wrong.

    Predictions may be `rounded`, so that rows miss one by what it explains; what is true or
    computed may not.
    """
    p = _check_shape(p, caller=caller, param=param)
    _check_values(p, None, caller=caller, param=param, option=option, rounded=rounded)
    return p


_ROWS = "pass one probability per row, or one row of class probabilities per label."


def _check_shape(p: FloatArray, *, caller: str, param: str, hint: str = _ROWS) -> FloatArray:
    if p.ndim == 2 and p.shape[1] == 1:
        p = p[:, 0]
    if p.ndim not in (1, 2) or (p.ndim == 2 and p.shape[1] == 0):
        raise invalid(caller, param, "of shape (n,) or (n, K)", f"shape {p.shape}", hint=hint)
    # NumPy adds in another order, and so rounds differently, if the memory is laid out otherwise.
    return np.ascontiguousarray(p)


def _check_values(
    p: FloatArray,
    codes: IntArray | None,
    *,
    caller: str,
    param: str,
    option: Option = None,
    rounded: bool = True,
) -> tuple[Scan | None, tuple[str, ...]]:
    """Raise unless all is in [0, 1] and rows sum to one; what was found, and what is to be said."""
    if p.ndim == 1:
        if not in_unit_interval(p):
            raise probability_error(p, caller, param, option)
        return None, ()
    scan = scan_matrix(p, np.zeros(len(p), dtype=np.intp) if codes is None else codes)
    if scan.valid:
        return scan, ()
    note = rounding_note(p) if rounded else None
    if note is None:
        raise probability_error(p, caller, param, option)
    return None, (note,)  # ties are possible where the scan did not look for them


def float_array(values: ArrayLike, *, caller: str, param: str) -> FloatArray:
    """Return numbers as a float32 or float64 array, without a copy where they are one already."""
    p = to_numpy(values, caller=caller, param=param)
    if p.dtype == np.float32 or p.dtype == np.float64:
        return p
    target = np.float32 if p.dtype == np.float16 else np.float64
    try:
        return _to_float(p, target)
    except (TypeError, ValueError, OverflowError) as error:
        hint = "pass probabilities as numbers; y_true comes first, y_prob second."
        text = p.size and p.dtype.kind in "US"
        got = f"values such as {p.ravel()[0].item()!r}" if text else f"type {p.dtype}"
        if isinstance(error, OverflowError):
            got = "an integer beyond 1e308"
        elif p.dtype.kind == "O" and any(np.ndim(value) for value in p.flat):
            got, hint = "rows of different lengths", "pass as many numbers in every row."
        raise invalid(caller, param, "numeric", got, hint=hint) from error


def _to_float(values: Array, target: Any) -> FloatArray:
    """Numbers as floats; texts, dates and complex numbers are none, even where NumPy would try."""
    holds_text = values.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in values.flat)
    if values.dtype.kind not in "fiubO" or holds_text:
        raise TypeError(str(values.dtype))
    if values.dtype.kind == "O":
        values = np.where(missing_values(values), np.nan, values)  # NA of pandas is no number
    with np.errstate(over="ignore"):  # becomes infinite, which the border refuses
        return values.astype(target)


def kept_rows(sample_weight: ArrayLike | None, sample: Sample) -> BoolArray:
    """Which of the rows the user gave are in the sample: those of weight zero are not."""
    if sample_weight is None:
        return np.ones(sample.n, dtype=bool)
    weight = to_numpy(sample_weight, caller="", param="sample_weight").reshape(-1)
    return np.asarray(weight != 0)


def check_weight(weight: ArrayLike | None, n: int, *, caller: str) -> FloatArray | None:
    """Return weights as float64, or None when there are none."""
    if weight is None:
        return None
    array = to_numpy(weight, caller=caller, param="sample_weight")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n,):
        hint = "pass one weight per row."
        raise invalid(caller, "sample_weight", f"of shape ({n},)", f"{array.shape}", hint=hint)
    try:
        array = np.ascontiguousarray(_to_float(array, np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        hint = "pass one number per row."
        got = f"values of type {array.dtype}"
        raise invalid(caller, "sample_weight", "numeric", got, hint=hint) from error
    bad = ~((array >= 0) & np.isfinite(array))
    if bad.any():
        hint = "weights count how much a row matters: zero or more."
        got = at_first(array, bad)
        raise invalid(caller, "sample_weight", "finite and non-negative", got, hint=hint)
    if not array.any():
        hint = "give at least one row a positive weight."
        raise invalid(caller, "sample_weight", "positive somewhere", "all zeros", hint=hint)
    least, most = float(array.min(where=array > 0, initial=math.inf)), float(array.max())
    if most > _WIDEST * least:
        hint = "beside the largest, a row of the smallest counts for nothing: make its weight 0."
        expected = f"within a factor of {_WIDEST:g} of one another"
        got = f"{least:.3g} and {most:.3g}"
        raise invalid(caller, "sample_weight", expected, got, hint=hint)
    return array


_WIDEST = 1e100  # ratio of weights whose squares are still numbers
_MOST_COUNTED = 2.0**53  # rows that a float counts one by one, and that can be drawn as integers


def check_option(caller: str, param: str, value: object, valid: Iterable[str]) -> None:
    """Raise unless `value` is one of the names in `valid`."""
    options = tuple(valid)
    if not isinstance(value, str) or value not in options:
        raise unknown_option(caller, param, value, options)


def is_integer(value: object) -> bool:
    """Whether `value` is a whole number, of Python or NumPy, but not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether `value` is a finite number, of Python or NumPy, but not a boolean."""
    known = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    try:
        return known and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond the floats
        return False


def check_level(caller: str, value: float, param: str = "confidence_level") -> float:
    """Return `value` as a float strictly between 0 and 1."""
    try:
        level = float(value)
    except (TypeError, ValueError, OverflowError):
        level = math.nan
    if not 0 < level < 1:
        hint = f"pass a fraction such as {0.95 if param == 'confidence_level' else 0.05}."
        raise invalid(caller, param, "between 0 and 1", f"{value!r}", hint=hint)
    return level


def _assemble(
    found: Classes,
    p: FloatArray,
    scan: Scan | None,
    weight: FloatArray | None,
    weight_type: WeightType,
) -> Sample:
    codes, classes, positive = found.codes, found.labels, found.positive
    if len(classes) > 2:
        return MulticlassSample(
            y=codes,
            p=p,
            weight=weight,
            weight_type=weight_type,
            classes=classes,
            confidence=None if scan is None else scan.confidence,
            right=None if scan is None else scan.right,
        )
    pair = p if p.ndim == 2 else None
    if positive == 0:
        codes, classes = 1 - codes, classes[::-1]
        pair = None if pair is None else pair[:, ::-1]
    return BinarySample(
        y=codes,
        p=p if pair is None else np.ascontiguousarray(pair[:, 1]),
        weight=weight,
        weight_type=weight_type,
        classes=classes,
        pair=pair,
        positive_first=positive == 0,
    )


def _usable_weights(
    weight: FloatArray | None, weight_type: WeightType, caller: str
) -> FloatArray | None:
    """Weights whose squares are numbers: scaled if only ratios matter, refused if they count."""
    if weight is None:
        return None
    if weight_type == "importance":
        return tame_weights(weight)
    if weight.sum() > _MOST_COUNTED:
        hint = 'frequencies count rows: divide them, or use weight_type="importance".'
        expected, got = f"counts of at most {_MOST_COUNTED:g} rows", f"{weight.sum():.3g}"
        raise invalid(caller, "sample_weight", expected, got, hint=hint)
    return weight


def tame_weights(weight: FloatArray) -> FloatArray:
    """Weights whose squares neither overflow nor vanish; a common factor means nothing to them."""
    largest = float(weight.max())
    if 1e-100 < largest < 1e100:
        return weight
    return np.ldexp(weight, -math.frexp(largest)[1])  # a power of two: exact


@dataclass(frozen=True, kw_only=True)
class ScoredRows:
    """Class indices and scores of checked rows.

    Attributes
    ----------
    y : index of each row's class in `classes`
    scores : (n,), larger for the positive of two classes; or (n, K) in the order of `classes`
    weight, weight_type : as in `BinarySample`
    classes : labels in column order
    positive : place of the positive class of two
    """

    y: IntArray
    scores: FloatArray
    weight: FloatArray | None
    weight_type: WeightType
    classes: tuple[Any, ...]
    positive: int = 1

    @property
    def size(self) -> float:
        """Sample size that counts for anything depending on n."""
        return effective_size(self.weight, len(self.y), self.weight_type)


def check_scores(scores: ArrayLike, *, caller: str, param: str = "y_prob") -> FloatArray:
    """Return finite scores as float64 of shape (n,) or (n, K >= 2)."""
    given = float_array(scores, caller=caller, param=param).astype(np.float64, copy=False)
    hint = "pass one score per row, or one row of scores per label."
    values = _check_shape(given, caller=caller, param=param, hint=hint)
    bad = ~np.isfinite(values)
    if bad.any():
        first = int(bad.reshape(len(values), -1).any(axis=1).argmax())
        hint = "drop or fix the rows without a score."
        got = f"a missing or infinite value in row {first} ({int(bad.sum())} of {values.size})"
        raise invalid(caller, param, "finite", got, hint=hint)
    return values


def check_scored_rows(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    caller: str,
    labels: ArrayLike | None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None,
    weight_type: WeightType,
) -> ScoredRows:
    """Check labels, scores and weights; rows of weight zero are dropped."""
    check_option(caller, "weight_type", weight_type, ("importance", "frequency"))
    values = check_scores(scores, caller=caller)
    y = check_label_array(y_true, caller=caller)
    if len(y) != len(values):
        hint = "pass one score (or row of scores) per label."
        got = f"{len(values)} rows for {len(y)} labels"
        raise invalid(caller, "y_prob", "as long as `y`", got, hint=hint)
    if len(y) == 0:
        raise invalid(caller, "y", "non-empty", "0 rows", hint="pass at least one row.")
    weight = check_weight(sample_weight, len(y), caller=caller)
    weight = _usable_weights(weight, weight_type, caller)
    found = _classes(y_true, y, scores, values, labels, pos_label, caller)
    values, codes = found.arranged(values), found.codes
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        codes, values, weight = codes[kept], values[kept], weight[kept]
    return ScoredRows(
        y=codes,
        scores=values,
        weight=weight,
        weight_type=weight_type,
        classes=found.labels,
        positive=found.positive,
    )
