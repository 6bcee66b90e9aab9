"""Who takes part: calibrators of this package and of others behind one call.

A contender maps (p_cal, y_cal, p_test) to calibrated probabilities of the test rows; p is
(n, K), also for K = 2. Packages are imported at the first call, so an absent one is reported as
missing and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

Prepared = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray], Prepared]

UNCALIBRATED = "uncalibrated"


@dataclass(frozen=True)
class Contender:
    """A named calibrator: `fit(p_cal, y_cal)` gives the map of test rows.

    The limits keep slow methods inside the time of a run: no cell with more classes than
    `max_classes` or more calibration rows than `max_rows` (`max_rows_many` for K > 2), and only
    the first `splits` splits (`splits_many` for K > 2). `twin` names the contender that this
    one is identical to when K > 2, so that its figures can be taken over.
    """

    name: str
    package: str
    fit: Fit
    max_classes: int = 10**6
    max_rows: int = 10**6
    max_rows_many: int = 10**6
    splits: int = 5
    splits_many: int = 5
    twin: str | None = None

    def suits(self, n_classes: int, n: int, split: int = 0) -> bool:
        """Whether the contender meets a cell."""
        many = n_classes > 2
        rows, splits = (
            (self.max_rows_many, self.splits_many) if many else (self.max_rows, self.splits)
        )
        return n_classes <= self.max_classes and n <= rows and split < splits

    def version(self) -> str | None:
        """Package and version, None where it is not installed."""
        if self.package == "none":
            return "none"
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:  # a checkout on the path
            return _checkout() if self.package == "veridical" else None


def _checkout() -> str | None:
    try:
        from veridical import __version__
    except ImportError:
        return None
    return f"veridical {__version__}"


def fit_predict(
    contender: Contender, p_cal: np.ndarray, y_cal: np.ndarray, p_test: np.ndarray
) -> np.ndarray:
    """Calibrated probabilities of the test rows, checked to be probabilities.

    Rows are divided by their sums: packages that calibrate class by class leave them unequal
    to one, and a score of rows that do not sum to one compares nothing.
    """
    p = np.asarray(contender.fit(p_cal, y_cal)(p_test), dtype=np.float64)
    if p.ndim == 1:
        p = np.column_stack([1 - p, p])
    if p.shape != p_test.shape:
        msg = f"output of shape {p.shape}, expected {p_test.shape}"
        raise ValueError(msg)
    total = p.sum(axis=1, keepdims=True)
    if not np.isfinite(p).all() or (p < -1e-12).any() or (total <= 0).any():
        msg = "output is not finite, is negative, or a row has no mass"
        raise ValueError(msg)
    return np.maximum(p, 0) / total


def _identity(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
    del p_cal, y_cal
    return lambda p: p


def ours(make: Callable[[Any], Any], *, binary: bool = False) -> Fit:
    """A calibrator of this package; binary maps go one against the rest when K > 2.

    `make` gets the module of calibrators, so that nothing is imported before it is used.
    """

    def fit(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
        import veridical.calibrators as calibrators

        calibrator = make(calibrators)
        if p_cal.shape[1] == 2:
            fitted = calibrator.fit(p_cal[:, 1], y_cal)
            return lambda p: fitted.predict_proba(p[:, 1])
        if binary:
            calibrator = calibrators.OneVsRestCalibrator(calibrator)
        return calibrator.fit(p_cal, y_cal).predict_proba

    return fit


def _auto(**options: Any) -> Fit:
    def make(calibrators: Any) -> Any:
        del calibrators
        from veridical.selection import AutoCalibrator

        return AutoCalibrator(**options)

    return ours(make)


def _own(name: str, fit: Fit, **limits: Any) -> Contender:
    return Contender(name, "veridical", fit, **limits)


OURS = [
    Contender(UNCALIBRATED, "none", _identity),
    _own("auto", _auto()),
    _own("auto-before", _auto()),  # with an earlier checkout on the path: see README.md
    _own("auto-select", _auto(strategy="select"), splits=2, splits_many=2),
    _own("temperature", ours(lambda c: c.TemperatureCalibrator())),
    _own("ensemble-temperature", ours(lambda c: c.EnsembleTemperatureCalibrator())),
    _own("mixed-temperature", ours(lambda c: c.MixingCalibrator(c.TemperatureCalibrator()))),
    _own("vector", ours(lambda c: c.VectorCalibrator())),
    _own("structured-vector", ours(lambda c: c.StructuredVectorCalibrator())),
    _own("structured-matrix", ours(lambda c: c.StructuredMatrixCalibrator())),
    _own("matrix", ours(lambda c: c.MatrixCalibrator())),
    _own("dirichlet", ours(lambda c: c.DirichletCalibrator())),
    _own(
        "dirichlet-searched",
        ours(
            lambda c: c.DirichletCalibrator(off_diagonal_strength="auto", intercept_strength="auto")
        ),
    ),
    _own("platt", ours(lambda c: c.PlattCalibrator(), binary=True)),
    _own("beta", ours(lambda c: c.BetaCalibrator(), binary=True)),
    _own("quadratic", ours(lambda c: c.QuadraticCalibrator(), binary=True)),
    _own("spline", ours(lambda c: c.SplineCalibrator(), binary=True)),
    _own("isotonic", ours(lambda c: c.IsotonicCalibrator(), binary=True)),
    _own("isotonic-centred", ours(lambda c: c.IsotonicCalibrator(centered=True), binary=True)),
    _own("near-isotonic", ours(lambda c: c.NearIsotonicCalibrator(), binary=True)),
    _own("venn-abers", ours(lambda c: c.VennAbersCalibrator(), binary=True)),
    _own("histogram", ours(lambda c: c.HistogramCalibrator(), binary=True)),
    _own("bbq", ours(lambda c: c.BBQCalibrator(), binary=True)),
    _own("scaling-binning", ours(lambda c: c.ScalingBinningCalibrator(), binary=True)),
    _own(
        "scaling-binning-beta",
        ours(lambda c: c.ScalingBinningCalibrator(calibrator=c.BetaCalibrator()), binary=True),
    ),
    _own("density", ours(lambda c: c.DensityCalibrator(), binary=True)),
    _own("simplex-histogram", ours(lambda c: c.SimplexHistogramCalibrator()), max_classes=12),
    _own(
        "class-conditional-temperature",
        ours(lambda c: c.ClassConditionalCalibrator(c.TemperatureCalibrator())),
    ),
    _own(
        "confidence-reduced-beta",
        ours(lambda c: c.ConfidenceReducedCalibrator(c.BetaCalibrator())),
    ),
]


def everyone() -> dict[str, Contender]:
    """All contenders by name."""
    from peers import PEERS

    return {contender.name: contender for contender in [*OURS, *PEERS]}
