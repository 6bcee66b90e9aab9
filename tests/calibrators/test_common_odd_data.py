"""Every calibrator on wrong arguments and on odd data: an error that says why, or a sane map."""

import numpy as np
import pytest
from calibrators.every_calibrator import (
    BINARY,
    EVERY,
    MULTICLASS,
    NEW,
    everyone,
    fit,
    fits_or_says_why,
    multiclass_only,
    options,
    predict,
)
from scipy.special import logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from veridical.calibrators import NotFittedError
from veridical.exceptions import InvalidInputError

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


@everyone
def test_tiny_probabilities(name):
    p = np.array([5e-324, 1e-310, 1e-200, 1e-20, 0.5, 1 - 1e-16] * 8)
    y = np.array([0, 0, 0, 1, 0, 1] * 4 + [0, 1, 0, 0, 1, 1] * 4)
    fits_or_says_why(EVERY[name], p, y, np.append(NEW, [5e-324, 1e-100]))


def test_no_rows_to_predict(both):
    calibrator, data = both
    model = fit(calibrator, data.p, data.y)
    none = data.new[:0]
    try:
        p = model.predict_proba(none, **({"by": []} if options(model, data.new) else {}))
    except InvalidInputError:
        return
    assert p.shape == (0, 2 if data.p.ndim == 1 else 3)
