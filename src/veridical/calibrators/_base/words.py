"""What a fitted map does, in sentences whose figures are made from the map itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np

from veridical._core.formula import probability_of
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator

_POINTS = (0.1, 0.5, 0.9)  # what becomes of them is said, if such predictions were seen
_SURE = 0.9  # of several classes: what one of them is given
_HARDLY = 0.05  # in log odds: 0.5 and 0.512
_DIGITS = 3

Map = Callable[[FloatArray], FloatArray]


def explanation(calibrator: Calibrator, map: Map | None = None) -> str:
    """Two or three sentences; see `Calibrator.explain`.

    `map` gives the probabilities of all classes, where `predict_proba` needs more than scores.
    """
    predict = map or calibrator.predict_proba
    binary = len(calibrator.classes_) == 2
    figures = _binary(calibrator, predict) if binary else _several(calibrator, predict)
    return " ".join(filter(None, [calibrator._in_words(), figures, _seen(calibrator)]))


def number(value: float) -> str:
    """A figure of a sentence, to three digits.

    Examples
    --------
    >>> number(1.79999), number(2.0), number(-0.012345)
    ('1.8', '2', '-0.0123')
    """
    return f"{value:.{_DIGITS}g}"


def share(p: float) -> str:
    """A probability to two digits of itself or of its complement, whichever is smaller.

    Examples
    --------
    >>> share(0.7654), share(0.9996), share(0.00123), share(0.5)
    ('0.77', '0.9996', '0.0012', '0.5')
    """
    least = min(p, 1 - p)
    if least <= 0 or p < 1e-4:
        return f"{p:.2g}"
    return f"{p:.{1 - math.floor(math.log10(least))}f}".rstrip("0")


def _binary(calibrator: Calibrator, predict: Map) -> str:
    """What becomes of a low, a middle and a high score, and how that treats the model."""
    from scipy.special import expit, logit

    points = _points(calibrator)
    given = points if calibrator.input == "probability" else np.asarray(expit(points))
    found = predict(points)[:, calibrator.positive_index_]
    outcome = getattr(calibrator, "outcome_name_", None)
    meaning = probability_of(calibrator.positive_label, outcome)
    names = [f"{point:.12g}" for point in points.tolist()]
    becomes = [
        _becomes(name, p, alike=calibrator.input == "probability")
        for name, p in zip(names, found.tolist(), strict=True)
    ]
    listed = " and ".join(filter(None, [", ".join(becomes[:-1]), becomes[-1]]))
    text = f"As the {meaning}, {listed}"
    if calibrator.input != "probability":
        text = text.replace("As the", f"As a {calibrator.input} for the", 1)
    if calibrator.input == "score":
        return f"{text}."
    with np.errstate(divide="ignore"):
        before, after = logit(given), logit(found)
    return f"{text}: {_order(before, after) or _treatment(after - before, given)}."


def _becomes(name: str, p: float, *, alike: bool) -> str:
    """What becomes of a score, in at least its digits where these were needed to tell it apart."""
    text = share(p)
    if alike and share(float(name)) != name:
        decimals = max(len(each.partition(".")[2]) for each in (name, text))
        text = f"{p:.{decimals}f}" if "e" not in name + text else text
    return f"{name} {'stays' if alike and float(name) == float(text) else 'becomes'} {text}"


def _points(calibrator: Calibrator) -> FloatArray:
    """Three scores among those that were seen; one if only one was."""
    from scipy.special import expit, logit

    low, high = getattr(calibrator, "score_range_", (-math.inf, math.inf))
    if low == high:
        return np.array([low])
    if calibrator.input == "score":
        low, high = (low, high) if math.isfinite(low) else (-1.0, 1.0)
        return _apart(np.quantile([low, high], [0.1, 0.5, 0.9]))
    usual = np.array(_POINTS if calibrator.input == "probability" else (-2.0, 0.0, 2.0))
    if low <= usual[0] and usual[-1] <= high:
        return usual
    ends = np.array([low, high])
    if calibrator.input == "probability":
        ends = logit(np.clip(ends, 1e-12, 1 - 1e-12))
    inner = np.quantile(ends, [0.1, 0.5, 0.9])
    if calibrator.input != "probability":
        return _apart(inner)
    inner = np.asarray(expit(inner))
    short = np.array([float(share(p)) for p in inner.tolist()])
    return short if low <= short[0] < short[1] < short[2] <= high else _apart(inner)


def _apart(values: FloatArray) -> FloatArray:
    """Numbers to two digits, or to as many as keep them apart.

    Examples
    --------
    >>> _apart(np.array([0.4961, 0.5, 0.5039])).tolist()
    [0.496, 0.5, 0.504]
    """
    if not (np.diff(values) > 0).all():
        return np.unique(values)
    for digits in range(2, 17):
        short = np.array([float(f"{x:.{digits}g}") for x in values.tolist()])
        steps = np.diff(short) / np.diff(values)
        if (np.abs(steps - 1) <= 0.1).all():
            return short
    return values


def _order(before: FloatArray, after: FloatArray) -> str:
    """What becomes of the order of predictions, if it is not kept; from log odds."""
    if before[-1] - before[0] <= 1:
        return ""
    if np.ptp(after) <= _HARDLY:
        return "predictions are taken to tell nothing"
    if (np.diff(after) < -_HARDLY).all():
        return "the model is taken to be the wrong way round"
    return "the order of predictions is not kept" if after[0] - after[-1] > _HARDLY else ""


def _treatment(moved: FloatArray, given: FloatArray) -> str:
    """How changes of log odds at a low, a middle and a high prediction treat the model."""
    signs = np.where(np.abs(moved) <= _HARDLY, 0, np.sign(moved)).astype(int).tolist()
    across = given[0] < 0.5 < given[-1]
    if not any(signs):
        return "hardly anything changes"
    if signs[0] > 0 > signs[-1]:
        word = "over-confident" if across else "too extreme in both directions"
    elif signs[0] < 0 < signs[-1]:
        word = "under-confident" if across else "too modest in both directions"
    elif max(signs) <= 0:
        word = "saying too much"
    elif min(signs) >= 0:
        word = "saying too little"
    else:
        return "some are raised and some are lowered"
    return f"the model is taken to be {word}"


def _several(calibrator: Calibrator, predict: Map) -> str:
    """What becomes of 0.9 for each class, the other classes being alike."""
    from scipy.special import logit

    if calibrator.input == "score":
        return ""
    n_classes = len(calibrator.classes_)
    rows = np.full((n_classes, n_classes), (1 - _SURE) / (n_classes - 1))
    np.fill_diagonal(rows, _SURE)
    found = np.diag(predict(rows if calibrator.input == "probability" else np.log(rows)))
    least, most = int(found.argmin()), int(found.argmax())
    labels = calibrator.classes_.tolist()
    text = f"Where a class has {_SURE:g} and the others share the rest equally, {_SURE:g}"
    if share(float(found[least])) == share(float(found[most])):
        one = share(float(found[least]))
        verb = "stays" if float(one) == _SURE else "becomes"
        text += f" {verb} {one} for each of {n_classes} classes"
    else:
        text += (
            f" becomes {share(float(found[least]))} for {labels[least]!r} and up to"
            f" {share(float(found[most]))} for {labels[most]!r}, of {n_classes} classes"
        )
    with np.errstate(divide="ignore"):
        moved = logit(found) - logit(_SURE)
    signs = set(np.where(np.abs(moved) <= _HARDLY, 0, np.sign(moved)).astype(int).tolist())
    if signs == {0}:
        return f"{text}: hardly anything changes."
    if {-1, 1} <= signs:
        return f"{text}: some classes are raised and some are lowered."
    word = "over-confident" if -1 in signs else "under-confident"
    return f"{text}: the model is taken to be {word}{' of some classes' if 0 in signs else ''}."


def _seen(calibrator: Calibrator) -> str:
    """Between which scores rows were seen, rounded away from them."""
    fingerprint = getattr(calibrator, "fingerprint_", None)
    rows = "" if fingerprint is None else f" in {fingerprint.rows:,} rows"
    if not hasattr(calibrator, "score_range_"):
        fitted_on = getattr(calibrator, "fitted_on_", None)
        if fitted_on is not None:
            return f"Fitted to {fitted_on}."
        return f"Fitted to {fingerprint.rows:,} rows." if fingerprint is not None else ""
    low, high = calibrator.score_range_
    if low == high:
        return f"Only {low:.12g} was seen{rows}."
    ends = [
        f"below {outward(low, -1, of=min(abs(low), high - low))}",
        f"above {outward(high, 1, of=min(abs(high), high - low))}",
    ]
    if calibrator.input == "probability":
        near_one = 0.9 < high < 1 - 1e-12  # digits of what is missing to one
        ends[1] = f"above {outward(high, 1, of=1 - high if near_one else high)}"
        ends = [end for end, x in zip(ends, (low, 1 - high), strict=True) if x > 1e-12]
    return f"Nothing was seen {' or '.join(ends)}{rows}." if ends else ""


def outward(value: float, way: int, *, of: float | None = None) -> str:
    """A number rounded down (way -1) or up (way 1), to three digits of itself or of another one.

    Examples
    --------
    >>> outward(0.021289, -1), outward(0.1, -1), outward(-3.1416, 1)
    ('0.0212', '0.1', '-3.14')
    >>> outward(0.99997344, 1, of=1 - 0.99997344)
    '0.9999735'
    """
    size = abs(value if of is None else of)
    if size == 0 or not math.isfinite(size):
        return f"{value:.15g}"
    exact, unit = (
        Decimal(repr(value)),
        Decimal(1).scaleb(math.floor(math.log10(size)) - _DIGITS + 1),
    )
    rounding = ROUND_CEILING if way > 0 else ROUND_FLOOR
    return f"{float(exact.quantize(unit, rounding)):.15g}"
