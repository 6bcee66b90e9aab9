"""Calibrators made of other calibrators, and folds that do not depend on the order of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from veridical._core.formula import Nodes
from veridical._core.numeric.order import class_order, value_order
from veridical._core.sample import Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator, Notes, fit_rows
from veridical.calibrators._base.nodes import NoFormulaError, positive_class_last
from veridical.calibrators._base.rows import CheckedRows, positive_last
from veridical.exceptions import InvalidInputError, invalid

_HANDED_ON = {
    "labels": None,
    "pos_label": None,
    "input": "probability",
    "weight_type": "importance",
}


class WrappingCalibrator(Calibrator):
    """A calibrator made of fitted copies of another one.

    `input`, `labels`, `pos_label` and `weight_type` are set on the wrapper; it hands them on. Parts
    know classes by their indices, of two the positive one last.
    """

    calibrator: Any

    def _check_parameters(self) -> None:
        self._part()

    @abstractmethod
    def _combine(self, values: FloatArray) -> FloatArray:
        """Return calibrated probabilities (n, K), of two classes the positive one last."""

    def _predict(self, values: FloatArray) -> FloatArray:
        if values.ndim == 2:
            values = positive_last(values, self.positive_index_)
        return positive_last(self._combine(values), self.positive_index_)

    def _formula(self, inputs: Nodes) -> Nodes:
        outputs = self._combine_nodes(positive_class_last(inputs, self.positive_index_))
        return positive_class_last(outputs, self.positive_index_)

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        """Formula of `_combine`."""
        raise NoFormulaError(type(self).__name__)

    def _part(self, given: Any = None, *, input: str | None = None) -> Calibrator:
        """Copy of a wrapped calibrator, not fitted, that takes what the wrapper was given."""
        caller, given = type(self).__name__, self.calibrator if given is None else given
        if not isinstance(given, Calibrator):
            hint = f"e.g. `{caller}(PlattCalibrator())`."
            got = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            raise invalid(caller, "calibrator", "a calibrator", got, hint=hint)
        for name, default in _HANDED_ON.items():
            value = getattr(given, name)
            if value is not default and value != default and value != getattr(self, name):
                hint = f"set it on the wrapper: `{caller}(..., {name}=...)`."
                got = f"one with {name}={value!r}"
                raise invalid(caller, "calibrator", f"one without its own `{name}`", got, hint=hint)
        own = {name: None for name in ("labels", "pos_label") if getattr(given, name) is not None}
        return fresh_part(given, input=input or self.input, weight_type=self.weight_type, **own)


def fresh_part(calibrator: Calibrator, **parameters: Any) -> Calibrator:
    """Copy with these parameters, not fitted, which will not keep a fingerprint of its rows."""
    part: Calibrator = clone(calibrator)
    part.set_params(**parameters)
    part.keeps_fingerprint = False
    return part


def fit_part(part: Calibrator, rows: CheckedRows) -> Notes:
    """Fit a part, which knows classes by their indices, to checked rows."""
    return fit_rows(part, rows.by_index())


def fit_part_if_possible(part: Calibrator, rows: CheckedRows) -> Notes | None:
    """Fit a part to some of the rows; None if they do not allow it, e.g. are of one class."""
    try:
        return fit_part(part, rows)
    except InvalidInputError:
        return None


_MOST_COPIES = 10_000_000  # beyond, copies are dealt out by their numbers


def folds(rows: CheckedRows, n_folds: int) -> Iterator[tuple[CheckedRows, CheckedRows]]:
    """Training and held-out rows, each row held out once; folds that leave either empty are not."""
    for held in held_out_masses(rows, n_folds):
        yield rows_of_mass(rows, row_masses(rows) - held), rows_of_mass(rows, held)


def row_masses(rows: CheckedRows) -> FloatArray:
    """How many repetitions each row stands for: its weight if that is a frequency, else one."""
    weight = rows.weight
    if weight is None or rows.weight_type != "frequency" or np.any(weight != np.rint(weight)):
        return np.ones(len(rows.y))
    return weight


def held_out_masses(rows: CheckedRows, n_folds: int, *, seed: int = 0) -> Iterator[FloatArray]:
    """Mass of each row that is held out, fold by fold; a row's parts add up to its mass.

    Rows of each class are dealt out at random, from sorted rows so that neither their order nor
    that of the classes matters. Dealing neighbours out in turn would spread them more evenly still,
    and be wrong: each fold would repeat the chance fluctuations of the others, and overfitting
    would go unnoticed.
    With frequency weights the repetitions a row stands for are dealt out one by one, so a row may
    be in several folds with a part of its weight, and weights mean repetition exactly.
    """
    mass = row_masses(rows)
    place = np.argsort(class_order(rows.values, rows.y, mass, len(rows.classes)))[rows.y]
    order = value_order(rows.values, rows.y, rows.weight)
    order = order[np.argsort(place[order], kind="stable")]
    copies = mass[order].astype(np.int64)
    rng = np.random.default_rng(seed)
    if copies.sum() > _MOST_COPIES:
        dealt = rng.multinomial(copies, np.full(n_folds, 1 / n_folds)).T
    else:
        fold_of = _dealt(np.add.reduceat(copies, _starts(place[order])), n_folds, rng)
        first = np.cumsum(copies) - copies
        dealt = np.array([np.add.reduceat(fold_of == fold, first) for fold in range(n_folds)])
    for part in dealt:
        held = np.empty(len(order))
        held[order] = part
        if held.max() > 0 and np.any(held < mass):
            yield held


def rows_of_mass(rows: CheckedRows, mass: FloatArray) -> CheckedRows:
    """Rows of which a mass is given; whole rows unless weights are frequencies."""
    part = rows.take(mass > 0)
    if row_masses(rows) is not rows.weight:
        return part
    return replace(part, weight=mass[mass > 0])


def _starts(sorted_classes: IntArray) -> IntArray:
    return np.flatnonzero(np.diff(sorted_classes, prepend=-1))


def _dealt(counts: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Fold of each of `counts` items of each class: as even as can be in each class and in all."""
    ends = np.cumsum(counts)
    spans = zip((ends - counts).tolist(), ends.tolist(), strict=True)
    return np.concatenate([rng.permutation(np.arange(a, b)) % n_folds for a, b in spans])


class CrossFitted(NamedTuple):
    """Numbers of rows, increasing, what maps fitted to other rows say of them, and weights.

    With frequency weights a row may come several times, with a part of its weight each. `notes`
    are what the fits leave in doubt.
    """

    rows: IntArray
    p: FloatArray
    weight: FloatArray | None
    notes: Notes = ()

    @property
    def in_order(self) -> bool:
        """Whether every row comes once, in its place."""
        return bool(np.array_equal(self.rows, np.arange(len(self.rows))))


def cross_fitted(sample: Sample, calibrator: Calibrator, n_folds: int) -> CrossFitted:
    """Recalibrate every row by a copy of `calibrator` fitted to the other folds."""
    rows = CheckedRows(sample.p, sample.y, sample.weight, sample.weight_type, sample.classes)
    labels = list(range(len(sample.classes)))
    taken: list[IntArray] = []
    predicted: list[FloatArray] = []
    weights: list[FloatArray] = []
    notes: Notes = ()
    for mass in held_out_masses(rows, n_folds):
        kept, held = rows_of_mass(rows, row_masses(rows) - mass), rows_of_mass(rows, mass)
        part = fresh_part(calibrator, labels=labels, weight_type=sample.weight_type)
        notes += fit_part(part, kept)
        taken.append(np.flatnonzero(mass))
        predicted.append(part.predict_proba(held.values))
        weights.append(np.ones(len(held.y)) if held.weight is None else held.weight)
    order = np.argsort(np.concatenate(taken), kind="stable")
    weight = None if sample.weight is None else np.concatenate(weights)[order]
    return CrossFitted(
        np.concatenate(taken)[order], np.concatenate(predicted)[order], weight, notes
    )
