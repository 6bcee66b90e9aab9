"""Every exportable calibrator, fitted to small data, and scores that are hard on exports."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from veridical.calibrators import (
    AveragedCalibrator,
    BBQCalibrator,
    BetaCalibrator,
    BoostedCalibrator,
    Calibrator,
    ClassConditionalCalibrator,
    DensityCalibrator,
    DirichletCalibrator,
    EnsembleTemperatureCalibrator,
    HistogramCalibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    MatrixCalibrator,
    MixingCalibrator,
    NearIsotonicCalibrator,
    OneVsRestCalibrator,
    OnlineCalibrator,
    PlattCalibrator,
    QuadraticCalibrator,
    ScalingBinningCalibrator,
    SplineCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
    VennAbersCalibrator,
)

BINARY: dict[str, Calibrator] = {
    "platt": PlattCalibrator(),
    "sigmoid": PlattCalibrator(feature="probability"),
    "beta": BetaCalibrator(),
    "quadratic": QuadraticCalibrator(),
    "spline": SplineCalibrator(smoothness=1.0),
    "histogram": HistogramCalibrator(),
    "uniform": HistogramCalibrator(strategy="uniform"),
    "isotonic": IsotonicCalibrator(),
    "bare": IsotonicCalibrator(laplace=0),
    "strict": IsotonicCalibrator(strict=True),
    "centred": IsotonicCalibrator(centered=True),
    "near": NearIsotonicCalibrator(),
    "venn": VennAbersCalibrator(),
    "cross_venn": VennAbersCalibrator(cv=3),
    "bbq": BBQCalibrator(),
    "density": DensityCalibrator(),
    "scaling_binning": ScalingBinningCalibrator(n_bins=5),
    "beta_binning": ScalingBinningCalibrator(n_bins=5, calibrator=BetaCalibrator()),
}
ANY: dict[str, Calibrator] = {
    "identity": IdentityCalibrator(),
    "temperature": TemperatureCalibrator(),
    "ensemble": EnsembleTemperatureCalibrator(),
    "vector": VectorCalibrator(),
    "matrix": MatrixCalibrator(),
    "dirichlet": DirichletCalibrator(off_diagonal_strength=0.1, intercept_strength=5),
    "structured_vector": StructuredVectorCalibrator(),
    "structured_matrix": StructuredMatrixCalibrator(),
    "extended_matrix": StructuredMatrixCalibrator(features="extended"),
    "structured_bare": StructuredMatrixCalibrator(pseudo_rows=0),
    "one_vs_rest": OneVsRestCalibrator(IsotonicCalibrator()),
    "one_vs_rest_bare": OneVsRestCalibrator(IsotonicCalibrator(laplace=0)),
    "one_vs_rest_each": OneVsRestCalibrator(BetaCalibrator(), normalize=False),
    "mixing": MixingCalibrator(OneVsRestCalibrator(BetaCalibrator()), mix=0.1),
    "averaged": AveragedCalibrator([TemperatureCalibrator(), VectorCalibrator()], weights=[3, 1]),
    "online": OnlineCalibrator(),
    "boosted": BoostedCalibrator(
        MixingCalibrator(IdentityCalibrator(), mix=0.9), depth=2, max_rounds=9
    ),
    "conditional": ClassConditionalCalibrator(TemperatureCalibrator(), min_rows=20),
}
ALL = {**BINARY, **ANY}
STEPS_OF_SEVERAL = ("one_vs_rest", "one_vs_rest_bare")  # no formula of logits of three classes
SMOOTH = {name: each for name, each in ANY.items() if name not in STEPS_OF_SEVERAL}
CANDIDATES = {"platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
SPECIAL = [0.0, 1.0, 0.5, 5e-324, 1e-310, 1e-300, 1e-17, 1 - 2**-53, 0.5 + 2**-52, 1 / 3, 0.1]


@cache
def fitted(
    name: str, *, input: str = "probability", labels: tuple[Any, ...] = (0, 1)
) -> Calibrator:
    """One of `ALL`, fitted to 240 rows of two classes with zeros, ones and ties."""
    p, y = binary_rows()
    given = p if input == "probability" else log_odds(p)
    calibrator = ALL[name]
    calibrator = type(calibrator)(**calibrator.get_params(deep=False))
    calibrator.set_params(input=input, labels=list(labels))
    return calibrator.fit(_columns(given, labels, input), y)


def _columns(given: np.ndarray, labels: tuple[Any, ...], input: str) -> np.ndarray:
    """One column; two of them where the positive class comes first."""
    if labels[1] > labels[0]:
        return given
    other = 1 - given if input == "probability" else np.zeros(len(given))
    return np.column_stack([given, other])


@cache
def fitted_three(name: str, *, input: str = "probability") -> Calibrator:
    """One of `ANY`, fitted to 240 rows of three classes with zeros."""
    p, y = three_rows()
    given = p if input == "probability" else three_logits(p)
    calibrator = ANY[name]
    calibrator = type(calibrator)(**calibrator.get_params(deep=False))
    return calibrator.set_params(input=input).fit(given, y)


def binary_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    p = rng.beta(0.9, 0.9, 240)
    p[:60] = p[:60].round(1)
    y = (rng.random(240) < 0.1 + 0.8 * p**1.5).astype(int)
    p[:6], y[:6] = [0, 0, 1, 1, 5e-324, 1e-17], [0, 1, 0, 1, 0, 0]
    return p, y


def three_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    p = rng.multinomial(50, rng.dirichlet([0.7, 0.7, 0.7], 240)) / 50
    truth = 0.8 * p**0.7 / (p**0.7).sum(axis=1, keepdims=True) + 0.2 / 3
    y = (rng.random(240)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)
    return p, y


def log_odds(p: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p, 1e-6) / np.maximum(1 - p, 1e-6))


def three_logits(p: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p, 1e-4)) + np.linspace(-1, 1, len(p))[:, None]


def hard_scores(calibrator: Calibrator) -> np.ndarray:
    """Random, special and fitted scores, and neighbours between which the map jumps."""
    p, _ = binary_rows()
    scores = np.concatenate([SPECIAL, np.random.default_rng(9).random(60), p[:40]])
    for name in ("edges_", "knots_"):
        scores = np.append(scores, np.asarray(getattr(calibrator, name, []))[:25])
    for sign in (0.0, 2.0):
        scores = np.append(scores, np.nextafter(scores, sign))
    if calibrator.input != "probability":
        larger = np.random.default_rng(10).normal(0, 30, 20)
        extreme = [0.0, 5e-324, -1e-200, 1e-160, 36.0, -800.0, 5e3, -1e6]
        scores = np.concatenate([log_odds(p[:80]), scores, larger, extreme])
        return np.concatenate([scores, jumps(calibrator, -3.0, 3.0)])
    scores = scores[(scores >= 0) & (scores <= 1)]
    return np.concatenate([scores, jumps(calibrator, 0.0, 1.0)])


def jumps(calibrator: Calibrator, low: float, high: float) -> np.ndarray:
    """Neighbouring numbers at some places where the map jumps, found by halving intervals."""
    grid = np.linspace(low, high, 60)
    values = calibrator.predict_proba(grid)[:, 0]
    places = np.flatnonzero(np.diff(values) != 0)[:12]
    if not len(places):
        return np.array([])
    left, right = grid[places], grid[places + 1]
    start = values[places]
    for _ in range(70):
        middle = (left + right) / 2
        same = calibrator.predict_proba(middle)[:, 0] == start
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return np.concatenate([left, right])


def hard_rows() -> np.ndarray:
    """Rows of three probabilities, with corners, zeros, subnormal numbers and ties."""
    p, _ = three_rows()
    rng = np.random.default_rng(11)
    hard = [
        [1, 0, 0],
        [0, 1, 0],
        [0.5, 0.5, 0],
        [1 / 3, 1 / 3, 1 / 3],
        [5e-324, 1, 0],
        [1e-300, 1e-17, 1.0],
        [0.1, 0.2, 0.7],
    ]
    return np.concatenate([hard, p[:40], rng.dirichlet([0.3, 1, 1], 60)])
