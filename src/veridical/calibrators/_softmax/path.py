"""Maps that differ in their ridges only, fitted one after the other to the same rows.

Optima along a path of ridges are near each other, and so are those of almost the same rows, as of
folds and of all rows. A search that begins near its end takes fewer and cheaper steps; where it
ends is the optimum all the same, to the same gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import Notes
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._softmax.inverse_temperature import fit_inverse_temperature
from veridical.calibrators._softmax.linear import as_matrix, full_objective
from veridical.calibrators._softmax.scales import HessianScale
from veridical.calibrators._softmax.structured import StructuredMatrixCalibrator
from veridical.calibrators._softmax.truncated_newton import truncated_newton
from veridical.exceptions import invalid


@dataclass(frozen=True)
class RidgePath:
    """Where a path of fits ended, for others that begin there.

    Attributes
    ----------
    strengths : ridges from the strongest on
    optima : parameters at each
    scales : Hessians there without their penalty, where they are small enough to be formed
    inverse : inverse temperature of the features
    notes : what the fits leave in doubt
    """

    strengths: tuple[float, ...]
    optima: tuple[FloatArray, ...]
    scales: tuple[HessianScale | None, ...]
    inverse: float
    notes: Notes

    def among(self, parts: Sequence[Calibrator]) -> RidgePath:
        """The path of the ridges of some of its maps."""
        ridges = [float(part.strength) for part in _check_alike(parts)]
        kept = [i for i, each in enumerate(self.strengths) if each in ridges]
        return RidgePath(
            tuple(self.strengths[i] for i in kept),
            tuple(self.optima[i] for i in kept),
            tuple(self.scales[i] for i in kept),
            self.inverse,
            self.notes,
        )


def fit_path(
    maps: Sequence[Calibrator],
    rows: CheckedRows,
    near: RidgePath | None = None,
    *,
    roughly: bool = False,
) -> RidgePath:
    """Fit structured matrices that differ in `strength` alone; each is as if fitted by itself.

    Logarithms and the temperature are found once, the strongest ridge comes first, and each search
    begins where the last one ended. `near` is the path of the same ridges for almost the same rows:
    then searches begin at its optima, moved by what the last one was off, and where there are few
    classes no Hessian is formed. `roughly` is for maps that are judged and thrown away.

    Examples
    --------
    >>> import numpy as np
    >>> p, y = np.random.default_rng(0).dirichlet(np.ones(3), 60), np.arange(60) % 3
    >>> parts = [StructuredMatrixCalibrator(strength=s) for s in (0.5, 0.005)]
    >>> path = fit_path(parts, parts[0]._read_rows(p, y, None))
    >>> alone = StructuredMatrixCalibrator(strength=0.005).fit(p, y)
    >>> bool(np.abs(parts[1].coef_ - alone.coef_).max() < 1e-6)
    True
    """
    parts = _check_alike(maps)
    order = sorted(range(len(parts)), key=lambda i: -parts[i].strength)
    strengths = tuple(float(parts[i].strength) for i in order)
    if near is not None and near.strengths != strengths:
        hint = "fit the same ridges to all rows first."
        raise invalid("fit_path", "near", f"of {strengths}", f"{near.strengths}", hint=hint)
    rows = rows.by_index()
    for part in parts:
        part._start_fit()
    first = parts[order[0]]
    logits, outcomes = first._logits_to_fit(rows)
    inverse = fit_inverse_temperature(logits, outcomes).inverse
    first._scale_by(inverse, outcomes.size)
    features = first._features(logits)
    objective = full_objective(
        features, outcomes, first._penalty(outcomes.n_classes, outcomes.size)
    )
    identity, few = objective.centre, len(objective.centre) <= objective.exact_up_to
    optima: list[FloatArray] = []
    scales: list[HessianScale | None] = []
    notes: Notes = ()
    for number, index in enumerate(order):
        part = parts[index]
        part.floor_ = first.floor_
        part._scale_by(inverse, outcomes.size)
        objective = objective.with_penalty(part._penalty(outcomes.n_classes, outcomes.size))
        start, scale = optima[-1] if optima else identity, scales[-1] if scales else None
        if near is not None:
            start, scale = near.optima[number] * (near.inverse / inverse), near.scales[number]
            if optima:
                start = start + optima[-1] - near.optima[number - 1] * (near.inverse / inverse)
        minimum = truncated_newton(objective, start, scale, roughly=roughly)
        coef, intercept = as_matrix(minimum.theta, outcomes.n_classes)
        notes += part._take(coef, intercept, minimum, features, outcomes)
        part._remember(rows)
        optima.append(minimum.theta)
        if few and near is None:
            _, p = objective.value(minimum.theta)
            scale = HessianScale(objective.hessian(p, penalised=False))
        scales.append(scale if few else None)
    return RidgePath(strengths, tuple(optima), tuple(scales), inverse, notes)


def paths_of(parts: Sequence[Calibrator]) -> list[list[int]]:
    """Numbers of those maps that can be fitted together, path by path; others are in none."""
    found: dict[tuple[object, ...], dict[float, int]] = {}
    for number, part in enumerate(parts):
        if isinstance(part, StructuredMatrixCalibrator):  # one of equal ones
            found.setdefault(_kind(part), {}).setdefault(float(part.strength), number)
    return [list(path.values()) for path in found.values()]


def _kind(part: StructuredMatrixCalibrator) -> tuple[object, ...]:
    return type(part), part.input, part.features, part.pseudo_rows, part.weight_type


def _check_alike(maps: Sequence[Calibrator]) -> list[StructuredMatrixCalibrator]:
    """Raise unless the maps are of one kind."""
    parts = [part for part in maps if isinstance(part, StructuredMatrixCalibrator)]
    if len(parts) < len(maps) or len({_kind(part) for part in parts}) != 1:
        hint = "fit other maps by themselves."
        expected = "structured matrices that differ in `strength` alone"
        raise invalid("fit_path", "maps", expected, repr(list(maps)), hint=hint)
    return parts
