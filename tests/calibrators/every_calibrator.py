"""Every calibrator, and how tests that go for all of them fit and use it."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone

from veridical.calibrators import CompactCalibrator, IdentityCalibrator
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._logistic.quadratic import QuadraticCalibrator
from veridical.calibrators._logistic.spline import SplineCalibrator
from veridical.calibrators._online.online import OnlineCalibrator
from veridical.calibrators._segments.segment import SegmentCalibrator
from veridical.calibrators._segments.tree import CalibrationTree
from veridical.calibrators._softmax.dirichlet import DirichletCalibrator
from veridical.calibrators._softmax.linear import MatrixCalibrator, VectorCalibrator
from veridical.calibrators._softmax.structured import (
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators._softmax.temperature import (
    EnsembleTemperatureCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators._steps.bbq import BBQCalibrator
from veridical.calibrators._steps.density import DensityCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator, SimplexHistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._steps.venn_abers import VennAbersCalibrator
from veridical.calibrators._trees.boosted import BoostedCalibrator
from veridical.calibrators._wrappers.chained import ChainedCalibrator
from veridical.calibrators._wrappers.grouped import GroupedCalibrator
from veridical.calibrators._wrappers.mixtures import AveragedCalibrator, MixingCalibrator
from veridical.calibrators._wrappers.reductions import (
    ClassConditionalCalibrator,
    ConfidenceReducedCalibrator,
    OneVsRestCalibrator,
)
from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.selection import AutoCalibrator

BINARY = {
    "platt": PlattCalibrator(),
    "sigmoid": PlattCalibrator(feature="probability"),
    "beta": BetaCalibrator(),
    "quadratic": QuadraticCalibrator(),
    "spline": SplineCalibrator(),
    "histogram": HistogramCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "strict isotonic": IsotonicCalibrator(strict=True),
    "near-isotonic": NearIsotonicCalibrator(),
    "bbq": BBQCalibrator(),
    "scaling-binning": ScalingBinningCalibrator(),
    "beta-binning": ScalingBinningCalibrator(calibrator=BetaCalibrator()),
    "venn-abers": VennAbersCalibrator(),
    "density": DensityCalibrator(),
    "compact": CompactCalibrator(HistogramCalibrator()),
}
MULTICLASS = {
    "identity": IdentityCalibrator(),
    "simplex histogram": SimplexHistogramCalibrator(),
    "temperature": TemperatureCalibrator(),
    "ensemble temperature": EnsembleTemperatureCalibrator(),
    "vector": VectorCalibrator(),
    "matrix": MatrixCalibrator(),
    "dirichlet": DirichletCalibrator(),
    "searched dirichlet": DirichletCalibrator(
        off_diagonal_strength=[1, 30], intercept_strength=[1, 30], cv=3
    ),
    "structured vector": StructuredVectorCalibrator(),
    "structured matrix": StructuredMatrixCalibrator(),
    "extended matrix": StructuredMatrixCalibrator(features="extended"),
    "one-vs-rest platt": OneVsRestCalibrator(PlattCalibrator()),
    "one-vs-rest isotonic": OneVsRestCalibrator(IsotonicCalibrator()),
    "class-conditional": ClassConditionalCalibrator(TemperatureCalibrator()),
    "confidence-reduced": ConfidenceReducedCalibrator(BetaCalibrator()),
    "mixing": MixingCalibrator(TemperatureCalibrator(), mix=0.05),
    "fitted mixing": MixingCalibrator(OneVsRestCalibrator(IsotonicCalibrator(laplace=0))),
    "grouped": GroupedCalibrator(TemperatureCalibrator()),
    "chained": ChainedCalibrator(
        [TemperatureCalibrator(), OneVsRestCalibrator(IsotonicCalibrator())]
    ),
    "averaged": AveragedCalibrator([TemperatureCalibrator(), IdentityCalibrator()], weights=[3, 1]),
    "online": OnlineCalibrator(),
    "boosted": BoostedCalibrator(),
    "boosted identity": BoostedCalibrator(IdentityCalibrator(), depth=2, max_rounds=20, cv=3),
    "segments": SegmentCalibrator(TemperatureCalibrator(), depth=1, min_rows=20, cv=3),
    "tree": CalibrationTree(TemperatureCalibrator(), min_rows=20, cv=3),
    "auto": AutoCalibrator(candidates=[TemperatureCalibrator(), VectorCalibrator()]),
}
EVERY = BINARY | MULTICLASS
NEW = np.array([0.0, 1e-9, 0.013, 0.2, 0.5, 0.77, 0.995, 1.0])

everyone = pytest.mark.parametrize("name", EVERY)
multiclass_only = pytest.mark.parametrize("name", MULTICLASS)


@dataclass
class Case:
    """Labels, predictions on a grid (many ties, as everywhere in these tests) and new ones."""

    y: np.ndarray
    p: np.ndarray
    w: np.ndarray
    new: np.ndarray


def untied_three():
    """Three classes, over-confident, all predictions different."""
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(3), 400)
    truth = p**0.7 / (p**0.7).sum(axis=1, keepdims=True)
    return p, (rng.random(400)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)


def probabilities(values, kind):
    """Probabilities (n, K) behind predictions of any form."""
    values = np.asarray(values, dtype=float)
    if values.ndim == 2 and values.shape[1] > 1:
        return softmax(values, axis=1) if kind == "logit" else values
    p = values.reshape(-1)
    p = expit(p) if kind == "logit" else p
    return np.column_stack([1 - p, p])


BY = (GroupedCalibrator, SegmentCalibrator, CalibrationTree)  # maps that need `by` at every call


def options(model, values):
    """`by` for maps of groups: a function of a row that forgets the order of its columns."""
    if not isinstance(model, BY):
        return {}
    p = probabilities(values, model.input)
    spread = p.max(axis=1) - p.min(axis=1)
    keys = np.where(spread > 0.4137, "sure", "unsure")
    return {"by": keys if isinstance(model, GroupedCalibrator) else {"kind": keys}}


def fit(calibrator, p, y, w=None, **params):
    model = clone(calibrator).set_params(**params)
    return model.fit(p, y, w, **options(model, p))


def predict(model, p):
    return model.predict_proba(p, **options(model, p))


def usual(calibrator, data, *, weighted=False):
    """What a map fitted to a case says of its new predictions; most laws compare with it."""
    parts = (data.y, data.p, data.new, *([data.w] if weighted else []))
    key = (repr(calibrator), *((each.shape, each.dtype.str, each.tobytes()) for each in parts))
    if key not in _USUAL:
        model = fit(calibrator, data.p, data.y, data.w if weighted else None)
        _USUAL[key] = predict(model, data.new)
        _USUAL[key].setflags(write=False)
    return _USUAL[key]


_USUAL = {}


def assert_probabilities(p, n, k):
    assert p.shape == (n, k)
    assert np.isfinite(p).all()
    assert p.min() >= 0
    assert p.max() <= 1
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-9)


def fits_or_says_why(calibrator, p, y, new, **params):
    """Fit to odd data: either sane probabilities or the library's own error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        try:
            model = fit(calibrator, p, y, **params)
        except InvalidInputError:
            return
        k = 2 if np.ndim(p) == 1 else np.shape(p)[1]
        assert_probabilities(predict(model, new), len(new), k)
