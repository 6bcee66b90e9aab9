"""What every calibrator promises: containers, labels, weights, odd data, errors, persistence."""

import json
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score

import veridical.calibrators
from veridical.calibrators import Calibrator, IdentityCalibrator, NotFittedError
from veridical.calibrators._bbq import BBQCalibrator
from veridical.calibrators._beta import BetaCalibrator
from veridical.calibrators._class_conditional import ClassConditionalCalibrator
from veridical.calibrators._confidence_reduced import ConfidenceReducedCalibrator
from veridical.calibrators._density import DensityCalibrator
from veridical.calibrators._dirichlet import DirichletCalibrator
from veridical.calibrators._ensemble_temperature import EnsembleTemperatureCalibrator
from veridical.calibrators._grouped import GroupedCalibrator
from veridical.calibrators._histogram import HistogramCalibrator
from veridical.calibrators._isotonic import IsotonicCalibrator
from veridical.calibrators._matrix import MatrixCalibrator
from veridical.calibrators._mixing import MixingCalibrator
from veridical.calibrators._near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._one_vs_rest import OneVsRestCalibrator
from veridical.calibrators._platt import PlattCalibrator
from veridical.calibrators._quadratic import QuadraticCalibrator
from veridical.calibrators._scaling_binning import ScalingBinningCalibrator
from veridical.calibrators._simplex_histogram import SimplexHistogramCalibrator
from veridical.calibrators._spline import SplineCalibrator
from veridical.calibrators._structured import (
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators._temperature import TemperatureCalibrator
from veridical.calibrators._vector import VectorCalibrator
from veridical.calibrators._venn_abers import VennAbersCalibrator
from veridical.exceptions import InvalidInputError, VeridicalWarning

BINARY = {
    "platt": PlattCalibrator(),
    "beta": BetaCalibrator(),
    "quadratic": QuadraticCalibrator(),
    "spline": SplineCalibrator(),
    "histogram": HistogramCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "strict isotonic": IsotonicCalibrator(strict=True),
    "near-isotonic": NearIsotonicCalibrator(),
    "bbq": BBQCalibrator(),
    "scaling-binning": ScalingBinningCalibrator(),
    "venn-abers": VennAbersCalibrator(),
    "density": DensityCalibrator(),
}
MULTICLASS = {
    "identity": IdentityCalibrator(),
    "simplex histogram": SimplexHistogramCalibrator(),
    "temperature": TemperatureCalibrator(),
    "ensemble temperature": EnsembleTemperatureCalibrator(),
    "vector": VectorCalibrator(),
    "matrix": MatrixCalibrator(),
    "dirichlet": DirichletCalibrator(),
    "structured vector": StructuredVectorCalibrator(),
    "structured matrix": StructuredMatrixCalibrator(),
    "one-vs-rest platt": OneVsRestCalibrator(PlattCalibrator()),
    "one-vs-rest isotonic": OneVsRestCalibrator(IsotonicCalibrator()),
    "class-conditional": ClassConditionalCalibrator(TemperatureCalibrator()),
    "confidence-reduced": ConfidenceReducedCalibrator(BetaCalibrator()),
    "mixing": MixingCalibrator(TemperatureCalibrator(), mix=0.05),
    "fitted mixing": MixingCalibrator(OneVsRestCalibrator(IsotonicCalibrator(laplace=0))),
    "grouped": GroupedCalibrator(TemperatureCalibrator()),
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


@pytest.fixture
def two(binary):
    return Case(binary.y, binary.p, binary.w, NEW)


@pytest.fixture
def three(multiclass):
    new = softmax(np.random.default_rng(1).normal(0, 2, (40, 3)), axis=1)
    return Case(multiclass.y, multiclass.p, multiclass.w, np.vstack([new, np.eye(3)]))


@pytest.fixture(
    params=[("two", name) for name in EVERY] + [("three", name) for name in MULTICLASS],
    ids=lambda param: " classes, ".join(param),
)
def both(request, two, three):
    """Every calibrator with two classes, and those that can with three."""
    kind, name = request.param
    return EVERY[name], two if kind == "two" else three


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


def options(model, values):
    """`by` for maps of groups: a function of a row that forgets the order of its columns."""
    if not isinstance(model, GroupedCalibrator):
        return {}
    p = probabilities(values, model.input)
    spread = p.max(axis=1) - p.min(axis=1)
    return {"by": np.where(spread > 0.4137, "sure", "unsure")}


def fit(calibrator, p, y, w=None, **params):
    model = clone(calibrator).set_params(**params)
    return model.fit(p, y, w, **options(model, p))


def predict(model, p):
    return model.predict_proba(p, **options(model, p))


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


# --- scikit-learn's contract


def test_every_class_is_here():
    def leaves(cls):
        below = cls.__subclasses__()
        return {cls} if not below else set().union(*(leaves(sub) for sub in below))

    found = {c for c in leaves(Calibrator) if c.__module__.startswith("veridical.")}
    named = {c for c in found if not c.__name__.startswith("_")}
    assert named <= {type(c) for c in EVERY.values()} | {MatrixCalibrator}


@everyone
def test_parameters(name):
    calibrator = EVERY[name]
    params = calibrator.get_params(deep=False)
    rebuilt = type(calibrator)(**params)
    assert rebuilt.get_params(deep=False) == params
    copy = clone(calibrator)
    assert copy is not calibrator
    assert set(copy.get_params()) == set(calibrator.get_params())
    assert copy.set_params(weight_type="frequency").weight_type == "frequency"
    assert calibrator.weight_type == "importance"


@everyone
def test_fit_returns_self_and_keeps_parameters(name, two):
    model = clone(EVERY[name])
    before = {key: repr(value) for key, value in model.get_params().items()}
    assert model.fit(two.p, two.y, **options(model, two.p)) is model
    assert {key: repr(value) for key, value in model.get_params().items()} == before


def test_predictions_are_probabilities(both):
    calibrator, data = both
    model = fit(calibrator, data.p, data.y)
    k = 2 if data.p.ndim == 1 else 3
    assert_probabilities(predict(model, data.p), len(data.p), k)
    assert_probabilities(predict(model, data.new), len(data.new), k)


def test_predicted_label_is_the_most_probable(both):
    calibrator, data = both
    model = fit(calibrator, data.p, data.y)
    p = predict(model, data.new)
    labels = model.predict(data.new, **options(model, data.new))
    np.testing.assert_array_equal(labels, model.classes_[p.argmax(axis=1)])


def test_inputs_are_left_alone(both):
    calibrator, data = both
    p, y, w = data.p.copy(), data.y.copy(), data.w.copy()
    predict(fit(calibrator, data.p, data.y, data.w), data.p)
    for before, after in ((p, data.p), (y, data.y), (w, data.w)):
        np.testing.assert_array_equal(before, after)


def test_fitting_again_starts_anew(both):
    calibrator, data = both
    model = clone(calibrator)
    half = slice(0, 300)
    model.fit(data.p[half], data.y[half], **options(model, data.p[half]))
    model.fit(data.p, data.y, **options(model, data.p))
    expected = predict(fit(calibrator, data.p, data.y), data.new)
    np.testing.assert_array_equal(predict(model, data.new), expected)


def test_two_fits_are_identical(both):
    calibrator, data = both
    first, second = (predict(fit(calibrator, data.p, data.y), data.new) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", [n for n in EVERY if n != "grouped"])  # needs `by` at every call
def test_cross_validation_finds_an_improvement(name, two):
    scores = cross_val_score(
        clone(EVERY[name]), two.p.reshape(-1, 1), two.y, cv=3, scoring="neg_log_loss"
    )
    assert np.isfinite(scores).all()
    if name != "identity":
        assert scores.mean() > -log_loss(two.y, two.p)  # the fixture is over-confident


# --- labels and containers


@everyone
def test_string_labels(name, two):
    numbers = predict(fit(EVERY[name], two.p, two.y), two.new)
    model = fit(EVERY[name], two.p, np.array(["no", "yes"])[two.y])
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(predict(model, two.new), numbers)
    assert set(model.predict(two.new, **options(model, two.new))) <= {"no", "yes"}


@everyone
def test_boolean_labels(name, two):
    model = fit(EVERY[name], two.p, two.y == 1)
    assert model.classes_.tolist() == [False, True]
    np.testing.assert_array_equal(
        predict(model, two.new), predict(fit(EVERY[name], two.p, two.y), two.new)
    )


BINS_ALL_BUT_THE_FIRST = {"simplex histogram"}
FOLDS_IN_COLUMN_ORDER = {"fitted mixing"}


@pytest.mark.parametrize("name", sorted(EVERY.keys() - BINS_ALL_BUT_THE_FIRST))
def test_order_of_two_labels(name, two):
    # One column is the probability of the larger label wherever its column is; two are in order.
    p = np.where(two.p == 0.5, 0.51, two.p)  # the top class of a tie depends on the order
    new = two.new[two.new != 0.5]
    y = np.array(["no", "yes"])[two.y]
    plain = predict(fit(EVERY[name], p, y), new)
    turned = fit(EVERY[name], p, y, labels=["yes", "no"])
    assert turned.classes_.tolist() == ["yes", "no"]
    np.testing.assert_allclose(predict(turned, new)[:, ::-1], plain, atol=1e-9)
    pair = fit(EVERY[name], np.column_stack([p, 1 - p]), y, labels=["yes", "no"])
    np.testing.assert_allclose(
        predict(pair, np.column_stack([new, 1 - new]))[:, ::-1], plain, atol=1e-9
    )


@pytest.mark.parametrize(
    "name", sorted(MULTICLASS.keys() - BINS_ALL_BUT_THE_FIRST - FOLDS_IN_COLUMN_ORDER)
)
def test_order_of_three_labels(name, three):
    p, y = untied_three()
    plain = predict(fit(MULTICLASS[name], p, y), three.new[:40])
    order = [2, 0, 1]
    turned = predict(fit(MULTICLASS[name], p[:, order], y, labels=order), three.new[:40][:, order])
    np.testing.assert_allclose(turned, plain[:, order], atol=1e-6)


@everyone
def test_shapes_of_two_classes_agree(name, two):
    expected = predict(fit(EVERY[name], two.p, two.y), two.new)
    column = fit(EVERY[name], two.p[:, None], two.y)
    np.testing.assert_allclose(predict(column, two.new[:, None]), expected, atol=1e-12)
    pair = fit(EVERY[name], np.column_stack([1 - two.p, two.p]), two.y)
    new = np.column_stack([1 - two.new, two.new])
    np.testing.assert_allclose(predict(pair, new), expected, atol=1e-9)
    np.testing.assert_allclose(predict(pair, two.new), expected, atol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(both, library, need):
    frames = need(library)
    calibrator, data = both
    if data.p.ndim == 1:
        p, new = frames.Series(data.p), frames.Series(data.new)
    else:
        p, new = (frames.DataFrame(dict(zip("abc", x.T, strict=True))) for x in (data.p, data.new))
    y, w = frames.Series(data.y), frames.Series(data.w)
    expected = predict(fit(calibrator, data.p, data.y, data.w), data.new)
    # Frames keep columns together, so sums of rows may be rounded in another order.
    np.testing.assert_allclose(predict(fit(calibrator, p, y, w), new), expected, atol=1e-9)


def test_lists(both):
    calibrator, data = both
    expected = predict(fit(calibrator, data.p, data.y), data.new)
    got = predict(fit(calibrator, data.p.tolist(), data.y.tolist()), data.new.tolist())
    np.testing.assert_array_equal(got, expected)


def test_single_precision(both):
    calibrator, data = both
    p, new = data.p.astype(np.float32), data.new.astype(np.float32)
    single = predict(fit(calibrator, p, data.y), new)
    assert single.dtype == np.float64
    double = predict(fit(calibrator, p.astype(float), data.y), new.astype(float))
    np.testing.assert_allclose(single, double, atol=1e-5)


# --- weights and order


def test_weight_zero_is_removal(both):
    calibrator, data = both
    w = data.w.copy()
    w[::3] = 0
    kept = w > 0
    weighted = fit(calibrator, data.p, data.y, w)
    removed = fit(calibrator, data.p[kept], data.y[kept], w[kept])
    np.testing.assert_allclose(predict(weighted, data.new), predict(removed, data.new), atol=1e-12)


def test_factor_of_importance_weights_means_nothing(both):
    calibrator, data = both
    plain, scaled = (fit(calibrator, data.p, data.y, c * data.w) for c in (1, 1000.0))
    np.testing.assert_allclose(predict(scaled, data.new), predict(plain, data.new), atol=1e-6)
    equal = fit(calibrator, data.p, data.y, np.full(len(data.y), 0.3))
    bare = fit(calibrator, data.p, data.y)
    np.testing.assert_allclose(predict(equal, data.new), predict(bare, data.new), atol=1e-6)


def test_frequency_weight_is_repetition(both):
    calibrator, data = both
    times = np.random.default_rng(2).integers(0, 4, len(data.y))
    weighted = fit(calibrator, data.p, data.y, times, weight_type="frequency")
    repeated = fit(calibrator, np.repeat(data.p, times, axis=0), np.repeat(data.y, times))
    np.testing.assert_allclose(predict(weighted, data.new), predict(repeated, data.new), atol=1e-6)


def test_weights_matter(both):
    calibrator, data = both
    if isinstance(calibrator, IdentityCalibrator):
        return
    w = np.where(data.y == 1, 5.0, 1.0)
    weighted, bare = (predict(fit(calibrator, data.p, data.y, x), data.new) for x in (w, None))
    assert np.abs(weighted - bare).max() > 1e-3


def test_order_of_rows_means_nothing(both):
    calibrator, data = both
    order = np.random.default_rng(3).permutation(len(data.y))
    shuffled = fit(calibrator, data.p[order], data.y[order], data.w[order])
    plain = fit(calibrator, data.p, data.y, data.w)
    np.testing.assert_allclose(predict(shuffled, data.new), predict(plain, data.new), atol=1e-6)


# --- scales

SLOPES_OF_COLUMNS = {"vector", "matrix"}  # to which a constant added to a row matters


@everyone
def test_logits_mean_the_same_as_probabilities(name, two):
    # At the fitted predictions; between them, maps that interpolate differ by the scale.
    z = logit(two.p)
    if name in SLOPES_OF_COLUMNS:
        z = np.log(np.column_stack([1 - two.p, two.p]))
    plain = fit(EVERY[name], two.p, two.y)
    of_logits = fit(EVERY[name], z, two.y, input="logit")
    np.testing.assert_allclose(predict(of_logits, z), predict(plain, two.p), atol=1e-6)


HELD_OUT_ROWS_ARE_INTERPOLATED = {"fitted mixing"}


@pytest.mark.parametrize("name", sorted(MULTICLASS.keys() - HELD_OUT_ROWS_ARE_INTERPOLATED))
def test_three_logits_mean_the_same_as_probabilities(name):
    p, y = untied_three()  # rounding parts ties of logits
    z = np.log(p) + (0 if name in SLOPES_OF_COLUMNS else 3)
    plain = fit(MULTICLASS[name], p, y)
    of_logits = fit(MULTICLASS[name], z, y, input="logit")
    np.testing.assert_allclose(predict(of_logits, z), predict(plain, p), atol=1e-6)


@pytest.mark.parametrize("name", ["platt", "beta", "spline", "temperature", "strict isotonic"])
def test_strictly_monotone_maps_keep_the_auc(name, two):
    p = predict(fit(EVERY[name], two.p, two.y), two.p)[:, 1]
    assert roc_auc_score(two.y, p) == pytest.approx(roc_auc_score(two.y, two.p), abs=1e-12)


@pytest.mark.parametrize("name", ["isotonic", "venn-abers", "one-vs-rest isotonic"])
def test_monotone_maps_never_reverse_the_order(name, two):
    p = predict(fit(EVERY[name], two.p, two.y), np.linspace(0, 1, 1001))[:, 1]
    assert np.diff(p).min() >= 0


# --- errors


@everyone
def test_not_fitted(name, two):
    with pytest.raises(NotFittedError, match="must be fitted") as caught:
        clone(EVERY[name]).predict_proba(two.p)
    assert isinstance(caught.value, InvalidInputError)
    assert isinstance(caught.value, SklearnNotFittedError)


@everyone
def test_wrong_number_of_classes_when_predicting(name, two, three):
    model = fit(EVERY[name], two.p, two.y)
    with pytest.raises(InvalidInputError, match="of 2 classes"):
        predict(model, three.new)


@multiclass_only
def test_two_columns_for_a_map_of_three(name, two, three):
    model = fit(MULTICLASS[name], three.p, three.y)
    with pytest.raises(InvalidInputError, match="of 3 classes"):
        predict(model, two.new)


@pytest.mark.parametrize("name", BINARY)
def test_binary_maps_refuse_three_classes(name, three):
    with pytest.raises(InvalidInputError, match="OneVsRestCalibrator"):
        fit(BINARY[name], three.p, three.y)
    with pytest.raises(InvalidInputError, match="OneVsRestCalibrator"):
        fit(BINARY[name], np.log(three.p + 0.1), three.y, input="logit")


@everyone
def test_missing_predictions(name, two):
    p = two.p.copy()
    p[7] = np.nan
    with pytest.raises(InvalidInputError, match="finite"):
        fit(EVERY[name], p, two.y)
    with pytest.raises(InvalidInputError, match="finite"):
        fit(EVERY[name], p, two.y, input="logit")
    model = fit(EVERY[name], two.p, two.y)
    with pytest.raises(InvalidInputError, match="finite"):
        predict(model, p)


@everyone
def test_arguments_that_do_not_fit(name, two):
    model = clone(EVERY[name])
    by = options(model, two.p)
    with pytest.raises(InvalidInputError):
        model.fit(two.y, two.p, **by)  # swapped
    with pytest.raises(InvalidInputError, match="as long as"):
        model.fit(two.p, two.y[:-1], **by)
    with pytest.raises(InvalidInputError, match="sample_weight"):
        model.fit(two.p, two.y, two.w[:-1], **by)
    with pytest.raises(InvalidInputError, match="input"):
        clone(model).set_params(input="probabilities").fit(two.p, two.y, **by)
    with pytest.raises(InvalidInputError, match="weight_type"):
        clone(model).set_params(weight_type="counts").fit(two.p, two.y, **by)
    with pytest.raises(InvalidInputError, match="empty"):
        model.fit([], [], **{key: [] for key in by})
    assert not hasattr(model, "classes_")


# --- odd data: finite probabilities or an error that says why


@everyone
@pytest.mark.parametrize("kind", ["probability", "logit"])
@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_only(name, two, kind, outcome):
    p = two.p if kind == "probability" else logit(two.p)
    new = NEW if kind == "probability" else np.array([-800.0, -3, 0, 2, 800])
    fits_or_says_why(EVERY[name], p, np.full(len(p), outcome), new, input=kind)


@everyone
def test_equal_scores(name):
    y = np.array([0, 1, 1, 1] * 20)
    for constant in (0.0, 0.3, 0.5, 1.0):
        fits_or_says_why(EVERY[name], np.full(80, constant), y, NEW)
    fits_or_says_why(EVERY[name], np.full(80, 2.5), y, np.array([-9.0, 2.5, 9]), input="logit")


@everyone
@pytest.mark.parametrize("sign", [1, -1])
def test_separable_classes(name, sign):
    p = np.linspace(0.02, 0.98, 60)
    y = (sign * (p - 0.5) > 0).astype(int)
    fits_or_says_why(EVERY[name], p, y, NEW)
    fits_or_says_why(EVERY[name], logit(p), y, np.array([-800.0, -3, 0, 2, 800]), input="logit")


@everyone
def test_predictions_of_zero_and_one(name):
    p = np.array([0.0] * 20 + [1.0] * 20 + [0.5] * 5)
    y = np.array([0] * 18 + [1] * 2 + [1] * 19 + [0] + [0, 1, 0, 1, 1])
    fits_or_says_why(EVERY[name], p, y, NEW)
    fits_or_says_why(EVERY[name], p[:40], y[:40], NEW)


@everyone
@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(name, n):
    for p in ([0.3, 0.8, 0.6], [0.5, 0.5, 0.5], [0.0, 1.0, 0.2]):
        for code in range(2**n):
            y = np.array([code >> i & 1 for i in range(n)])
            fits_or_says_why(EVERY[name], np.array(p[:n]), y, NEW)


@everyone
def test_extreme_logits(name):
    z = np.array([-700.0, -30, -1, 0, 2, 40, 750] * 6)
    y = np.array([0, 0, 1, 0, 1, 1, 1] * 5 + [1, 0, 1, 0, 1, 1, 0])
    fits_or_says_why(EVERY[name], z, y, np.array([-1e4, -700, 0.0, 3, 1e4]), input="logit")


@multiclass_only
def test_odd_data_of_three_classes(name, three):
    calibrator = MULTICLASS[name]
    fits_or_says_why(calibrator, three.p, np.zeros(len(three.y), dtype=int), three.new)
    fits_or_says_why(calibrator, three.p, three.y % 2, three.new)  # class 2 never happens
    fits_or_says_why(calibrator, np.full((60, 3), 1 / 3), np.arange(60) % 3, three.new)
    fits_or_says_why(calibrator, np.eye(3)[np.arange(60) % 3], np.arange(60) % 3, three.new)
    fits_or_says_why(calibrator, np.eye(3)[np.arange(60) % 3], np.arange(60) // 20, three.new)
    for n in (1, 2, 3):
        fits_or_says_why(calibrator, three.p[:n], three.y[:n], three.new)
    z = 600 * np.log(three.p + 0.05)
    fits_or_says_why(calibrator, z, three.y, z, input="logit")


@multiclass_only
def test_absent_class_is_known(name, three):
    model = fit(MULTICLASS[name], three.p, np.minimum(three.y, 1))
    assert model.classes_.tolist() == [0, 1, 2]


# --- persistence and fingerprints


def test_json_keeps_every_bit(both, monkeypatch):
    calibrator, data = both
    package = veridical.calibrators
    classes = {type(c).__name__: type(c) for c in EVERY.values()}
    monkeypatch.setattr(package, "__all__", sorted({*package.__all__, *classes}))
    for name, cls in classes.items():
        monkeypatch.setattr(package, name, cls, raising=False)
    for labels in (data.y, np.array(["a", "b", "c"])[data.y]):
        model = fit(calibrator, data.p, labels, data.w)
        text = json.dumps(model.to_dict(), allow_nan=False)
        again = Calibrator.from_dict(json.loads(text))
        assert type(again) is type(model)
        assert json.dumps(again.to_dict(), allow_nan=False) == text
        np.testing.assert_array_equal(predict(again, data.new), predict(model, data.new))
        assert again.classes_.tolist() == model.classes_.tolist()
        expected = model.predict(data.new, **options(model, data.new))
        np.testing.assert_array_equal(again.predict(data.new, **options(model, data.new)), expected)


def test_fitted_rows_are_known_again(both):
    calibrator, data = both
    rng = np.random.default_rng(11)
    p, q = (rng.dirichlet(np.ones(3 if data.p.ndim == 2 else 2), 300) for _ in range(2))
    model = fit(calibrator, p, data.y[:300])
    assert model.seen(p, data.y[:300]) == 1
    assert model.seen(q, data.y[:300]) == 0
    copy = model.to_dict()
    model.forget()
    assert "fingerprint_" in copy["fitted"]
    assert "fingerprint_" not in model.to_dict()["fitted"]
