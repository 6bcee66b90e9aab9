"""Which maps are tried, by number of classes and kind of input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veridical import calibrators as known  # imports those that are tried, and no other
from veridical.exceptions import invalid

_FEW_CLASSES = 30  # up to here one map a class is worth its time
_ROWS_A_CLASS = 30  # and from here it has rows enough
_FEW_A_CLASS = 10  # and from here it may be what is needed, and has to show it
_ROWS_OF_TREES = 200  # below, leaves of twenty rows tell too little
_BINS_OF_SCORES = 10
_MANY_CLASSES = 150  # up to here a full matrix is worth its time
_IMAGINED_ROWS = 2.0  # in all, of maps that are given: nothing is known of them


@dataclass(frozen=True)
class Candidate:
    """A map to try.

    Attributes
    ----------
    name : as the evidence names it
    calibrator : not fitted
    safe : whether it stays near the model's own predictions and may stand in for them
    jumps : whether it is made of steps, which cost most where a map is shipped
    costly : whether it has to gain the more, since it takes much to fit and to ship, or few rows
        tell little of it
    time : of a prediction of more than two classes, over that of a structured matrix, beside what
        all maps of a pool have in common; measured with ten classes and 100,000 rows
    imagined : rows that it is taken to have foretold best before any was held out
    """

    name: str
    calibrator: known.Calibrator
    safe: bool = False
    jumps: bool = False
    costly: bool = False
    time: float = 0.0
    imagined: float = 0.25


def default_candidates(n_classes: int, size: float, input: str, strategy: str) -> list[Candidate]:
    """Candidates from the simplest to the most flexible.

    Chosen on one half of the data sets of the league (benchmarks/league): what is here lowered the
    mean rank of the pool there, what is not did not. A pool takes the ensemble of temperatures,
    which can stay near the identity; who must deploy one simple map gets the plain one.
    """
    if input == "score" and n_classes == 2:  # which are no probabilities to be linear in
        maps = [c for c in _binary(_BINS_OF_SCORES) if c.name != "sigmoid"]
        return [c for c in maps if input in c.calibrator._inputs]
    first = Candidate(
        "ensemble temperature", known.EnsembleTemperatureCalibrator(), safe=True, time=0.4
    )
    if strategy == "select":
        first = Candidate("temperature", known.TemperatureCalibrator())
    return [first, *(_binary(_bins(size)) if n_classes == 2 else _multiclass(n_classes, size))]


def _bins(size: float) -> int:
    return min(max(round(size**0.4), 5), 20)


def _binary(n_bins: int) -> list[Candidate]:
    return [
        Candidate("platt", known.PlattCalibrator(), imagined=0.5),
        Candidate("sigmoid", known.PlattCalibrator(feature="probability"), imagined=0.5),
        Candidate("beta", known.BetaCalibrator(), imagined=1.5),
        Candidate("spline", known.SplineCalibrator(smoothness=10.0), imagined=0.75),
        Candidate("loose spline", known.SplineCalibrator(smoothness=1.0), imagined=0.75),
        Candidate("venn-abers", known.VennAbersCalibrator(), jumps=True, imagined=0.75),
        Candidate("histogram", known.HistogramCalibrator(n_bins=n_bins), jumps=True),
    ]


def _multiclass(n_classes: int, size: float) -> list[Candidate]:
    vector = known.StructuredVectorCalibrator(strength=0.05)
    found = [Candidate("vector", vector, time=0.25, imagined=0.5)]
    if n_classes <= _MANY_CLASSES:
        for ridge, imagined in ((0.5, 0.5), (0.05, 0.5), (0.0015, 0.25)):
            matrix = known.StructuredMatrixCalibrator(strength=ridge)
            found.append(Candidate(f"matrix {ridge:g}", matrix, time=0.35, imagined=imagined))
    if n_classes <= _FEW_CLASSES:
        extended = known.StructuredMatrixCalibrator(strength=0.005, features="extended")
        found.append(Candidate("extended matrix", extended, time=0.95))
    if n_classes <= _FEW_CLASSES and size >= _FEW_A_CLASS * n_classes:
        found += _class_by_class(few=size < _ROWS_A_CLASS * n_classes)
    if n_classes <= _FEW_CLASSES and size >= _ROWS_OF_TREES:
        trees = known.BoostedCalibrator(max_rounds=20, learning_rate=0.4, cv=None)
        found.append(Candidate("trees", trees, costly=True, time=1.3))
    return found


def _class_by_class(*, few: bool) -> list[Candidate]:
    """Maps of one class against the rest; of few rows one that never says 0 or 1, on probation."""
    if few:
        steps = known.OneVsRestCalibrator(known.VennAbersCalibrator())
        return [Candidate("one-vs-rest venn-abers", steps, costly=True, time=1.3)]
    spline, isotonic = known.SplineCalibrator(smoothness=10.0), known.IsotonicCalibrator()
    smooth = known.OneVsRestCalibrator(spline)
    return [
        Candidate("one-vs-rest spline", smooth, time=1.5, imagined=0.5),
        Candidate("one-vs-rest isotonic", known.OneVsRestCalibrator(isotonic), time=1.0),
    ]


def given_candidates(given: Any, caller: str) -> list[Candidate]:
    """Candidates of the user: a sequence of calibrators or a mapping from names to them."""
    pairs = list(given.items()) if hasattr(given, "items") else [(None, c) for c in _listed(given)]
    for _, calibrator in pairs:
        if not isinstance(calibrator, known.Calibrator):
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
    each = _IMAGINED_ROWS / len(pairs)
    return [Candidate(n, c, imagined=each) for n, (_, c) in zip(names, pairs, strict=True)]


def _listed(given: Any) -> Sequence[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]
