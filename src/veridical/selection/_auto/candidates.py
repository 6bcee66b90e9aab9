"""Which maps are tried, by number of classes and kind of input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veridical.calibrators import (
    BetaCalibrator,
    BoostedCalibrator,
    Calibrator,
    EnsembleTemperatureCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    SplineCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from veridical.exceptions import invalid

_FEW_CLASSES = 30  # up to here one map a class is worth its time
_ROWS_A_CLASS = 30  # and from here it has rows enough
_ROWS_OF_TREES = 200  # below, leaves of twenty rows tell too little
_BINS_OF_SCORES = 10
_MANY_CLASSES = 150  # up to here a full matrix is worth its time


@dataclass(frozen=True)
class Candidate:
    """A map to try.

    Attributes
    ----------
    name : as the evidence names it
    calibrator : not fitted
    safe : whether it stays near the model's own predictions and may stand in for them
    jumps : whether it is made of steps, which cost most where a map is shipped
    costly : whether it takes much to fit and to ship, and has to gain the more
    """

    name: str
    calibrator: Calibrator
    safe: bool = False
    jumps: bool = False
    costly: bool = False


def default_candidates(n_classes: int, size: float, input: str, strategy: str) -> list[Candidate]:
    """Candidates from the simplest to the most flexible.

    Chosen on one half of the data sets of the league (benchmarks/league): what is here lowered the
    mean rank of the pool there, what is not did not. A pool takes the ensemble of temperatures,
    which can stay near the identity; who must deploy one simple map gets the plain one.
    """
    if input == "score" and n_classes == 2:  # which are no probabilities to be linear in
        maps = [c for c in _binary(_BINS_OF_SCORES) if c.name != "sigmoid"]
        return [c for c in maps if input in c.calibrator._inputs]
    first = Candidate("ensemble temperature", EnsembleTemperatureCalibrator(), safe=True)
    if strategy == "select":
        first = Candidate("temperature", TemperatureCalibrator())
    return [first, *(_binary(_bins(size)) if n_classes == 2 else _multiclass(n_classes, size))]


def _bins(size: float) -> int:
    return min(max(round(size**0.4), 5), 20)


def _binary(n_bins: int) -> list[Candidate]:
    return [
        Candidate("platt", PlattCalibrator()),
        Candidate("sigmoid", PlattCalibrator(feature="probability")),
        Candidate("beta", BetaCalibrator()),
        Candidate("spline", SplineCalibrator(smoothness=10.0)),
        Candidate("loose spline", SplineCalibrator(smoothness=1.0)),
        Candidate("venn-abers", VennAbersCalibrator(), jumps=True),
        Candidate("histogram", HistogramCalibrator(n_bins=n_bins), jumps=True),
    ]


def _multiclass(n_classes: int, size: float) -> list[Candidate]:
    found = [Candidate("vector", StructuredVectorCalibrator(strength=0.05))]
    if n_classes <= _MANY_CLASSES:
        found += [
            Candidate(f"matrix {ridge:g}", StructuredMatrixCalibrator(strength=ridge))
            for ridge in (0.5, 0.05, 0.0015)
        ]
    if n_classes <= _FEW_CLASSES:
        extended = StructuredMatrixCalibrator(strength=0.005, features="extended")
        found.append(Candidate("extended matrix", extended))
    if n_classes <= _FEW_CLASSES and size >= _ROWS_A_CLASS * n_classes:
        spline, isotonic = SplineCalibrator(smoothness=10.0), IsotonicCalibrator()
        found += [
            Candidate("one-vs-rest spline", OneVsRestCalibrator(spline)),
            Candidate("one-vs-rest isotonic", OneVsRestCalibrator(isotonic)),
        ]
    if n_classes <= _FEW_CLASSES and size >= _ROWS_OF_TREES:
        trees = BoostedCalibrator(max_rounds=20, learning_rate=0.4, cv=None)
        found.append(Candidate("trees", trees, costly=True))
    return found


def given_candidates(given: Any, caller: str) -> list[Candidate]:
    """Candidates of the user: a sequence of calibrators or a mapping from names to them."""
    pairs = list(given.items()) if hasattr(given, "items") else [(None, c) for c in _listed(given)]
    for _, calibrator in pairs:
        if not isinstance(calibrator, Calibrator):
            hint = 'e.g. `{"platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}`.'
            raise invalid(caller, "candidates", "calibrators", repr(calibrator), hint=hint)
    if not pairs:
        hint = "leave it out for candidates that suit the data."
        raise invalid(caller, "candidates", "at least one calibrator", "none", hint=hint)
    names = [str(name) if name else type(c).__name__ for name, c in pairs]
    taken = {name for name in names if names.count(name) > 1} | ({"identity"} & set(names))
    if taken:
        hint = "name them: `candidates={name: calibrator, ...}`."
        raise invalid(caller, "candidates", "of different names", min(taken), hint=hint)
    return [Candidate(name, c) for name, (_, c) in zip(names, pairs, strict=True)]


def _listed(given: Any) -> Sequence[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]
