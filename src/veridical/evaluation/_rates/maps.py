"""Scores after a map that has not seen the label of the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.evaluation._rates.rows import CALLER, RateRows
from veridical.exceptions import invalid

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

_FOLDS = 5
_KNOTS = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the ranks of scores; the same from either end
_RIDGE = 1.0  # in rows, on columns of unit spread
_STEPS, _LONGEST, _ENDED = 30, 3.0, 1e-8
_SPREAD = 1e-9  # of a column, below which its values are all the same
_NEAREST = 1e-6  # to 0 and 1, before log odds are taken
WORDS = "ridge logistic in the log odds and five bends in the ranks of scores, 5 folds"


def cross_fitted(rows: RateRows, calibrator: Any, seed: int) -> tuple[FloatArray, str]:
    """Mapped scores (n, C) and the map in words.

    A labelled row gets what a map fitted without its fold says; another row the mean of the maps
    of all folds (Zrnic & Candes 2024, doi 10.1073/pnas.2322083121).
    """
    if calibrator is None:
        return rows.score, "none"
    fold = _folds(rows, seed)
    if isinstance(calibrator, str) and calibrator == "auto":
        parts = [_ridge(rows, c, fold) for c in range(rows.score.shape[1])]
        return np.column_stack(parts), WORDS
    from veridical.calibrators import Calibrator

    if not isinstance(calibrator, Calibrator):
        hint = 'pass "auto", None or e.g. `PlattCalibrator()`.'
        raise invalid(
            CALLER, "calibrator", '"auto", None or a calibrator', repr(calibrator), hint=hint
        )
    if calibrator.input != "probability":
        hint = "scores are probabilities by then: `scale` says what they are written in."
        got = f"input={calibrator.input!r}"
        raise invalid(CALLER, "calibrator", "one of probabilities", got, hint=hint)
    return _calibrated(rows, calibrator, fold), f"{type(calibrator).__name__}, 5 folds"


def fit_weight(rows: RateRows) -> FloatArray:
    """Weights of labelled rows, of mean one: what each stands for."""
    weight = np.ones(rows.m) if rows.weight is None else rows.weight[: rows.m]
    if rows.label_prob is not None:
        weight = weight / rows.label_prob
    return weight / weight.mean()


def _folds(rows: RateRows, seed: int) -> IntArray:
    """Fold of each labelled row: at random, whole clusters at once, whatever the order of rows."""
    order = np.lexsort(_sorting_keys(rows.outcome, rows.score[: rows.m]))
    unit = np.arange(rows.m) if rows.clusters is None else rows.clusters[: rows.m]
    _, first, place = np.unique(unit[order], return_index=True, return_inverse=True)
    dealt = np.empty(len(first), dtype=np.intp)
    dealt[np.argsort(first)] = np.random.default_rng(seed).permutation(len(first)) % _FOLDS
    fold = np.empty(rows.m, dtype=np.intp)
    fold[order] = dealt[place.reshape(-1)]
    return fold


def _sorting_keys(outcome: FloatArray, score: FloatArray) -> tuple[FloatArray, ...]:
    """Outcomes and scores from the rarest class on, whichever is called the positive one."""
    if outcome.shape[1] == 1:
        outcome, score = np.hstack([1 - outcome, outcome]), np.hstack([1 - score, score])
    rarest = np.lexsort((score.mean(axis=0), outcome.mean(axis=0)))
    return (*outcome[:, rarest].T, *score[:, rarest].T)


def _ridge(rows: RateRows, c: int, fold: IntArray) -> FloatArray:
    """Map of one class by logistic regression whose slopes are drawn to 0, where labels are all."""
    from scipy.special import expit

    columns = score_columns(rows.score[:, c], rows.ranks[c])
    weight, y = fit_weight(rows), rows.outcome[:, c]
    parts = [
        fit_ridge(columns[:, : rows.m][:, fold != k], y[fold != k], weight[fold != k])
        for k in np.unique(fold)
    ]
    mapped = np.mean([expit(part @ columns) for part in parts], axis=0)
    for k, part in zip(np.unique(fold), parts, strict=True):
        held = np.flatnonzero(fold == k)
        mapped[held] = expit(part @ columns[:, held])
    return np.asarray(mapped)


def score_columns(score: FloatArray, rank: FloatArray) -> FloatArray:
    """What a ridge map is linear in, (8, n): 1, log odds, rank and its bends; of unit spread."""
    near = np.clip(score, _NEAREST, 1 - _NEAREST)
    columns = [np.log(near / (1 - near)), rank, *(np.abs(rank - knot) for knot in _KNOTS)]
    centred = [column - column.mean() for column in columns]
    scaled = [z / z.std() if z.std() > _SPREAD else np.zeros_like(z) for z in centred]
    return np.stack([np.ones(len(score)), *scaled])


def fit_ridge(columns: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Parameters of the map: half a row of each outcome at the mean, and a ridge on slopes.

    Newton steps, none longer than `_LONGEST`. Where they would not end the map is a worse one, but
    limits hold with any map that has not seen the label.
    """
    from scipy.special import expit

    slopes = np.full(len(columns), _RIDGE)
    slopes[0] = 0.0
    share = (float(weight @ y) + 0.5) / (float(weight.sum()) + 1)
    at = np.zeros(len(columns))
    at[0] = np.log(share / (1 - share))
    for _ in range(_STEPS):
        p, centre = expit(at @ columns), expit(at[0])
        gradient = columns @ (weight * (y - p)) - slopes * at
        gradient[0] += 0.5 - centre
        hessian = (columns * (weight * p * (1 - p))) @ columns.T + np.diag(slopes)
        hessian[0, 0] += centre * (1 - centre)
        step = np.linalg.solve(hessian, gradient)
        size = float(np.abs(step).max())
        at += step / max(1.0, size / _LONGEST)
        if size < _ENDED:
            break
    return at


def _calibrated(rows: RateRows, calibrator: Calibrator, fold: IntArray) -> FloatArray:
    """Map by a calibrator of the user's, fitted once a fold."""
    from veridical.calibrators.core import CheckedRows, fit_part, fresh_part

    weight = None if rows.weight is None and rows.label_prob is None else fit_weight(rows)
    two = rows.score.shape[1] == 1
    values = rows.score[:, 0] if two else rows.score
    classes = (0, 1) if two else tuple(range(len(rows.classes)))
    codes = rows.outcome[:, 0] if two else rows.outcome.argmax(axis=1)
    data = CheckedRows(values[: rows.m], codes.astype(np.intp), weight, "importance", classes)
    mapped = np.zeros_like(rows.score)
    parts = np.unique(fold)
    for k in parts:
        held = fold == k
        part = fresh_part(calibrator, labels=None, pos_label=None)
        fit_part(part, data.take(~held))
        said = part.predict_proba(values)[:, -rows.score.shape[1] :]
        mapped[rows.m :] += said[rows.m :] / len(parts)
        mapped[: rows.m][held] = said[: rows.m][held]
    return mapped
