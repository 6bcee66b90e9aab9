"""What every calibrator promises: parameters, labels, containers, scales, persistence."""

import copy
import importlib
import inspect
import json
import pickle
import pkgutil

import numpy as np
import pytest
from calibrators.every_calibrator import (
    BY,
    EVERY,
    MULTICLASS,
    assert_probabilities,
    everyone,
    fit,
    options,
    predict,
    untied_three,
    usual,
)
from scipy.special import logit
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score

import veridical.calibrators
from veridical.calibrators import Calibrator

# --- scikit-learn's contract


def test_every_class_is_here():
    package = veridical.calibrators
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

    def below(cls):
        return {cls}.union(*(below(sub) for sub in cls.__subclasses__()))

    found = {c for c in below(Calibrator) if c.__module__.startswith("veridical.calibrators.")}
    public = {c.__name__ for c in found if not inspect.isabstract(c) and c.__name__[0] != "_"}
    bases = {"PenalisedCalibrator"}  # of vector and matrix scaling
    chosen = {"AutoCalibrator"}  # of the layer above
    assert public - bases == {type(c).__name__ for c in EVERY.values()} - chosen


@everyone
def test_parameters(name):
    calibrator = EVERY[name]
    params = calibrator.get_params(deep=False)
    rebuilt = type(calibrator)(**params)
    assert rebuilt.get_params(deep=False) == params
    cloned = clone(calibrator)
    assert cloned is not calibrator
    assert set(cloned.get_params()) == set(calibrator.get_params())
    assert cloned.set_params(weight_type="frequency").weight_type == "frequency"
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


def test_predictions_are_memory_of_their_own(both):
    calibrator, data = both
    assert not np.shares_memory(predict(fit(calibrator, data.p, data.y), data.new), data.new)


def test_fitting_again_starts_anew(both):
    calibrator, data = both
    model = clone(calibrator)
    half = slice(0, 300)
    model.fit(data.p[half], data.y[half], **options(model, data.p[half]))
    model.fit(data.p, data.y, **options(model, data.p))
    expected = usual(calibrator, data)
    np.testing.assert_array_equal(predict(model, data.new), expected)


def test_two_fits_are_identical(both):
    calibrator, data = both
    first, second = (predict(fit(calibrator, data.p, data.y), data.new) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", [n for n, each in EVERY.items() if not isinstance(each, BY)])
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
    numbers = usual(EVERY[name], two)
    model = fit(EVERY[name], two.p, np.array(["no", "yes"])[two.y])
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(predict(model, two.new), numbers)
    assert set(model.predict(two.new, **options(model, two.new))) <= {"no", "yes"}


@everyone
def test_boolean_labels(name, two):
    model = fit(EVERY[name], two.p, two.y == 1)
    assert model.classes_.tolist() == [False, True]
    np.testing.assert_array_equal(predict(model, two.new), usual(EVERY[name], two))


@everyone
def test_order_of_two_labels(name, two):
    # One column is the probability of the positive class wherever its column is; two are in order.
    # The top class of a tie, and the bin of an edge, depend on the order: predictions have neither.
    p, new = 0.98 * two.p + 0.0037, 0.98 * two.new + 0.0037
    y = np.array(["no", "yes"])[two.y]
    plain = predict(fit(EVERY[name], p, y), new)
    turned = fit(EVERY[name], p, y, labels=["yes", "no"], pos_label="yes")
    assert turned.classes_.tolist() == ["yes", "no"]
    np.testing.assert_allclose(predict(turned, new)[:, ::-1], plain, atol=1e-9)
    pair = fit(EVERY[name], np.column_stack([p, 1 - p]), y, labels=["yes", "no"])
    np.testing.assert_allclose(
        predict(pair, np.column_stack([new, 1 - new]))[:, ::-1], plain, atol=1e-9
    )


@pytest.mark.parametrize("name", MULTICLASS)
def test_order_of_three_labels(name, three):
    p, y = untied_three()
    plain = predict(fit(MULTICLASS[name], p, y), three.new[:40])
    order = [2, 0, 1]
    turned = predict(fit(MULTICLASS[name], p[:, order], y, labels=order), three.new[:40][:, order])
    np.testing.assert_allclose(turned, plain[:, order], atol=1e-6)


@everyone
def test_shapes_of_two_classes_agree(name, two):
    expected = usual(EVERY[name], two)
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
        p, new = (frames.DataFrame(dict(zip("012", x.T, strict=True))) for x in (data.p, data.new))
    y, w = frames.Series(data.y), frames.Series(data.w)
    expected = usual(calibrator, data, weighted=True)
    # Frames keep columns together, so sums of rows may be rounded in another order.
    np.testing.assert_allclose(predict(fit(calibrator, p, y, w), new), expected, atol=1e-9)


def test_lists(both):
    calibrator, data = both
    expected = usual(calibrator, data)
    got = predict(fit(calibrator, data.p.tolist(), data.y.tolist()), data.new.tolist())
    np.testing.assert_array_equal(got, expected)


def test_single_precision(both):
    calibrator, data = both
    p, new = data.p.astype(np.float32), data.new.astype(np.float32)
    single = predict(fit(calibrator, p, data.y), new)
    assert single.dtype == np.float64
    double = predict(fit(calibrator, p.astype(float), data.y), new.astype(float))
    np.testing.assert_allclose(single, double, atol=1e-5)


def test_strides_byte_order_and_read_only_memory(both):
    calibrator, data = both
    expected = usual(calibrator, data, weighted=True)
    p = np.repeat(data.p, 2, axis=0)[::2]  # every other row of a larger array
    y, w = np.repeat(data.y, 2)[::2], data.w.astype(">f8")
    for array in (p, y, w):
        array.flags.writeable = False
    np.testing.assert_allclose(predict(fit(calibrator, p, y, w), data.new), expected, atol=1e-9)
    turned = fit(calibrator, np.asfortranarray(data.p), data.y, data.w)
    np.testing.assert_allclose(predict(turned, np.asfortranarray(data.new)), expected, atol=1e-9)


@everyone
@pytest.mark.parametrize("pair", [(-1, 1), (1, 2), (10, 7)])
def test_numbers_that_are_no_indices(name, two, pair):
    expected = usual(EVERY[name], two)
    small, large = sorted(pair)
    y = np.where(two.y == 1, large, small)
    model = fit(EVERY[name], two.p, y.astype(float))
    assert model.classes_.tolist() == [small, large]
    np.testing.assert_array_equal(predict(model, two.new), expected)


# --- scales

SLOPES_OF_COLUMNS = {"vector", "matrix"}  # to which a constant added to a row matters
# Rows held out lie between those fitted, where maps of two scales differ a little.
INTERPOLATES = {"auto": 0.02, "fitted mixing": 1e-5}


@everyone
def test_logits_mean_the_same_as_probabilities(name, two):
    # At the fitted predictions; between them, maps that interpolate differ by the scale.
    z = logit(two.p)
    if name in SLOPES_OF_COLUMNS:
        z = np.log(np.column_stack([1 - two.p, two.p]))
    plain = fit(EVERY[name], two.p, two.y)
    of_logits = fit(EVERY[name], z, two.y, input="logit")
    close = INTERPOLATES.get(name, 1e-6)
    np.testing.assert_allclose(predict(of_logits, z), predict(plain, two.p), atol=close)


HELD_OUT_ROWS_ARE_INTERPOLATED = {"fitted mixing"}


@pytest.mark.parametrize("name", sorted(MULTICLASS.keys() - HELD_OUT_ROWS_ARE_INTERPOLATED))
def test_three_logits_mean_the_same_as_probabilities(name):
    p, y = untied_three()  # rounding parts ties of logits
    z = np.log(p) + (0 if name in SLOPES_OF_COLUMNS | {"auto"} else 3)  # "auto" tries vectors
    plain = fit(MULTICLASS[name], p, y)
    of_logits = fit(MULTICLASS[name], z, y, input="logit")
    # Weights of maps are searched for, not solved for; floors of folds are those of fewer rows.
    close = {"auto": 1e-3, "boosted": 1e-4}.get(name, 1e-6)
    np.testing.assert_allclose(predict(of_logits, z), predict(plain, p), atol=close)


@pytest.mark.parametrize("name", ["platt", "beta", "spline", "temperature", "strict isotonic"])
def test_strictly_monotone_maps_keep_the_auc(name, two):
    p = predict(fit(EVERY[name], two.p, two.y), two.p)[:, 1]
    assert roc_auc_score(two.y, p) == pytest.approx(roc_auc_score(two.y, two.p), abs=1e-12)


@pytest.mark.parametrize("name", ["isotonic", "venn-abers", "one-vs-rest isotonic"])
def test_monotone_maps_never_reverse_the_order(name, two):
    p = predict(fit(EVERY[name], two.p, two.y), np.linspace(0, 1, 1001))[:, 1]
    assert np.diff(p).min() >= 0


# --- persistence and fingerprints


def test_pickle_and_deep_copy(both):
    calibrator, data = both
    model = fit(calibrator, data.p, data.y)
    expected = predict(model, data.new)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(predict(again, data.new), expected)


def test_json_keeps_every_bit(both):
    calibrator, data = both
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
    assert "fingerprint_" in model.to_dict()["fitted"]
    model.forget()
    assert "fingerprint_" not in model.to_dict()["fitted"]
