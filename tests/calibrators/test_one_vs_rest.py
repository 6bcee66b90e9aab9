"""One binary map a class, normalised."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.isotonic import IsotonicRegression

from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    ConfidenceReducedCalibrator,
    IdentityCalibrator,
    MixingCalibrator,
    ScalingBinningCalibrator,
)
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._wrappers.reductions import (
    OneVsRestCalibrator,
    odds_against_rest,
    odds_of_class,
)
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.selection import AutoCalibrator, CalibratedClassifier


def test_matches_scikit_learns_isotonic_maps_class_by_class(multiclass):
    p, y, w = multiclass.p, multiclass.y, multiclass.w
    columns = [
        IsotonicRegression(out_of_bounds="clip")
        .fit(p[:, k], y == k, sample_weight=w)
        .predict(p[:, k])
        for k in range(3)
    ]
    expected = np.column_stack(columns)
    expected /= expected.sum(axis=1, keepdims=True)
    calibrator = OneVsRestCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y, w)
    np.testing.assert_allclose(calibrator.predict_proba(p), expected, atol=1e-12)


def test_two_classes_are_the_binary_map(binary):
    p, y, w = binary.p, binary.y, binary.w
    plain = PlattCalibrator().fit(p, y, w).predict_proba(p)
    wrapped = OneVsRestCalibrator(PlattCalibrator()).fit(p, y, w)
    np.testing.assert_array_equal(wrapped.predict_proba(p), plain)
    scores = 3 * p - 1
    plain = PlattCalibrator(input="score").fit(scores, y).predict_proba(scores)
    wrapped = OneVsRestCalibrator(PlattCalibrator(), input="score").fit(scores, y)
    np.testing.assert_array_equal(wrapped.predict_proba(scores), plain)


@pytest.mark.parametrize("kind", ["probability", "logit"])
def test_row_that_no_map_believes_in_stays_as_predicted(kind):
    # Classes only ever happened where 0.6 was said, so all maps say 0 below 0.5.
    p = np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])
    new = np.array([[0.4, 0.35, 0.25]])
    maps = HistogramCalibrator(n_bins=2, strategy="uniform", laplace=0)
    given, columns = new, new
    if kind == "logit":
        p, given = np.log(p), np.log(new)
        columns = np.log(new / (1 - new))
    calibrator = OneVsRestCalibrator(maps, input=kind).fit(p, [0, 1, 2])
    each = [part.predict_proba(columns[:, k])[0, 1] for k, part in enumerate(calibrator.parts_)]
    assert each == [0, 0, 0]
    np.testing.assert_allclose(calibrator.predict_proba(given), new, atol=1e-12)
    np.testing.assert_allclose(calibrator.predict_proba(p), np.eye(3), atol=1e-12)


def test_scores_that_no_map_believes_in_become_class_shares():
    # Each class happens at its own score of 1 and nowhere else; new rows have none.
    scores = np.eye(3)[[0, 0, 1, 2]]
    calibrator = OneVsRestCalibrator(IsotonicCalibrator(laplace=0), input="score")
    calibrator.fit(scores, [0, 0, 1, 2])
    got = calibrator.predict_proba([[0, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(got, [[0.5, 0.25, 0.25], [1, 0, 0]])


def test_class_that_never_happens_keeps_a_small_probability(multiclass):
    y = np.minimum(multiclass.y, 1)
    calibrator = OneVsRestCalibrator(PlattCalibrator()).fit(multiclass.p, y)
    assert calibrator.shares_[2] == 0
    p = calibrator.predict_proba(multiclass.p)[:, 2]
    assert 0 < p.mean() < 0.03


def test_logits_stay_exact_where_the_softmax_saturates():
    # Log odds 100 and 200 are both probability 1 in double precision.
    z = np.array([[100.0, 0, -50], [200, 0, -50], [0, 100, -50], [0, 0, 0]])
    odds = odds_against_rest(z)
    assert odds[0, 0] == pytest.approx(100 - np.log1p(np.exp(-50)))
    assert odds[1, 0] == pytest.approx(200 - np.log1p(np.exp(-50)))
    assert odds[0, 2] == pytest.approx(-150)
    np.testing.assert_allclose(odds[3], np.log(1 / 2))
    np.testing.assert_allclose(odds_of_class(z, np.array([2, 2, 2, 2])), odds[:, 2])


def test_log_odds_against_a_naive_sum():
    z = np.random.default_rng(0).normal(0, 3, (50, 5))
    naive = [
        [row[k] - logsumexp([row[j] for j in range(5) if j != k]) for k in range(5)] for row in z
    ]
    np.testing.assert_allclose(odds_against_rest(z), naive, atol=1e-12)
    p = softmax(z, axis=1)
    np.testing.assert_allclose(odds_against_rest(z), np.log(p / (1 - p)), atol=1e-9)


def test_calibrated_rows_are_left_alone():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 40_000)
    y = (rng.random(len(p))[:, None] > p.cumsum(axis=1)).sum(axis=1)
    got = OneVsRestCalibrator(PlattCalibrator()).fit(p, y).predict_proba(p)
    assert np.abs(got - p).max() < 0.03


def test_wrapped_calibrator_is_checked(multiclass):
    p, y = multiclass.p, multiclass.y
    with pytest.raises(InvalidInputError, match="got the class PlattCalibrator"):
        OneVsRestCalibrator(PlattCalibrator).fit(p, y)
    with pytest.raises(InvalidInputError, match="`calibrator` must be a calibrator; got None"):
        OneVsRestCalibrator(None).fit(p, y)
    with pytest.raises(InvalidInputError, match="without its own `labels`"):
        OneVsRestCalibrator(PlattCalibrator(labels=[0, 1])).fit(p, y)
    with pytest.raises(InvalidInputError, match=r"set it on the wrapper.*weight_type"):
        OneVsRestCalibrator(PlattCalibrator(weight_type="frequency")).fit(p, y)
    with pytest.raises(InvalidInputError, match="without its own `input`"):
        OneVsRestCalibrator(PlattCalibrator(input="logit")).fit(p, y)
    agreed = OneVsRestCalibrator(PlattCalibrator(input="logit"), input="logit")
    assert agreed.fit(np.log(p + 0.1), y).parts_[0].input == "logit"


def test_wrapped_calibrator_is_not_fitted_itself(multiclass):
    inner = PlattCalibrator()
    OneVsRestCalibrator(inner).fit(multiclass.p, multiclass.y)
    assert not hasattr(inner, "classes_")


def test_identity_gives_the_rows_back(multiclass):
    got = OneVsRestCalibrator(IdentityCalibrator()).fit(multiclass.p, multiclass.y)
    np.testing.assert_allclose(got.predict_proba(multiclass.p), multiclass.p, atol=1e-12)


@pytest.mark.parametrize("kind", ["probability", "logit"])
def test_not_normalised_each_class_is_its_own_binary_map(multiclass, kind):
    p, y, w = multiclass.p, multiclass.y, multiclass.w
    given = p if kind == "probability" else np.log(p + 0.01)
    columns = p if kind == "probability" else odds_against_rest(given)
    each = OneVsRestCalibrator(PlattCalibrator(), normalize=False, input=kind).fit(given, y, w)
    alone = PlattCalibrator(input=kind)
    expected = [
        alone.fit(columns[:, k], y == k, w).predict_proba(columns[:, k])[:, 1] for k in range(3)
    ]
    np.testing.assert_allclose(each.predict_proba(given), np.column_stack(expected), atol=1e-12)
    assert np.ptp(each.predict_proba(given).sum(axis=1)) > 1e-3
    normal = OneVsRestCalibrator(PlattCalibrator(), input=kind).fit(given, y, w)
    divided = each.predict_proba(given) / each.predict_proba(given).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(normal.predict_proba(given), divided, atol=1e-12)
    np.testing.assert_array_equal(each.predict(given), normal.predict(given))


def test_not_normalised_laws_of_order_and_of_weights(multiclass):
    p, y, w = multiclass.p, multiclass.y, np.rint(multiclass.w * 2)
    make = OneVsRestCalibrator(BetaCalibrator(), normalize=False, weight_type="frequency")
    expected = make.fit(p, y, w).predict_proba(p)
    counts = w.astype(int)
    again = make.fit(np.repeat(p, counts, axis=0), np.repeat(y, counts)).predict_proba(p)
    np.testing.assert_allclose(again, expected, atol=1e-8)
    turn = np.array([2, 0, 1])
    turned = make.fit(p[:, turn], turn.argsort()[y], w).predict_proba(p[:, turn])
    np.testing.assert_allclose(turned, expected[:, turn], atol=1e-12)


def test_not_normalised_two_classes_are_still_a_distribution(binary):
    each = OneVsRestCalibrator(PlattCalibrator(), normalize=False).fit(binary.p, binary.y)
    np.testing.assert_allclose(each.predict_proba(binary.p).sum(axis=1), 1, atol=1e-12)


def test_not_normalised_is_saved_and_files_without_the_parameter_are_read(multiclass):
    each = OneVsRestCalibrator(PlattCalibrator(), normalize=False).fit(multiclass.p, multiclass.y)
    again = Calibrator.from_dict(each.to_dict())
    np.testing.assert_array_equal(
        again.predict_proba(multiclass.p), each.predict_proba(multiclass.p)
    )
    old = each.to_dict()
    del old["parameters"]["normalize"]
    assert Calibrator.from_dict(old).normalize


def test_what_is_made_of_maps_refuses_rows_that_are_no_distributions(multiclass):
    each = OneVsRestCalibrator(PlattCalibrator(), normalize=False)
    p, y = multiclass.p, multiclass.y
    for whole in (
        AveragedCalibrator([each, IdentityCalibrator()]),
        MixingCalibrator(each),
        OneVsRestCalibrator(each),
    ):
        with pytest.raises(InvalidInputError, match="normalize"):
            whole.fit(p, y)
    chosen = AutoCalibrator(candidates=[each, IdentityCalibrator()]).fit(p, y)
    assert "left out" in str(chosen.evidence_)
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InvalidInputError, match="normalize"):
        CalibratedClassifier(LogisticRegression(), each, cv=2).fit(p, y)
    with pytest.raises(InvalidInputError, match="`normalize` must be"):
        OneVsRestCalibrator(PlattCalibrator(), normalize="no").fit(p, y)
    whole = MixingCalibrator(OneVsRestCalibrator(PlattCalibrator())).fit(p, y).to_dict()
    part = whole["fitted"]["part_"]["calibrator"]
    part["parameters"]["normalize"] = False
    with pytest.raises(InvalidInputError, match="normalize"):
        Calibrator.from_dict(whole)


def hundred_classes(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(100, size=n)
    z = rng.normal(size=(n, 100))
    z[np.arange(n), y] += 3.2
    return softmax(2 * z, axis=1), y


@pytest.mark.parametrize("bins", [HistogramCalibrator(), ScalingBinningCalibrator()])
def test_bins_that_lose_the_order_of_many_classes_are_warned_of(bins):
    p, y = hundred_classes(3000, 1)
    model = OneVsRestCalibrator(bins)
    with pytest.warns(VeridicalWarning, match="bins lose the order of 100 classes"):
        model.fit(p, y)
    new, outcome = hundred_classes(3000, 2)
    raw = (new.argmax(axis=1) == outcome).mean()
    assert (model.predict(new) == outcome).mean() < raw - 0.2
    # What the message names keeps the accuracy, without a warning.
    for way_out in (
        OneVsRestCalibrator(HistogramCalibrator(strategy="uniform")),
        OneVsRestCalibrator(BetaCalibrator()),
        ConfidenceReducedCalibrator(bins),
    ):
        kept = (way_out.fit(p, y).predict(new) == outcome).mean()
        assert kept > raw - 0.025


def test_bins_of_few_classes_are_not_warned_of():
    rng = np.random.default_rng(3)
    for _ in range(20):
        p = rng.dirichlet(np.ones(4), 300)
        y = (rng.random(300)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=3)
        OneVsRestCalibrator(HistogramCalibrator()).fit(p, y)  # warnings are errors
