"""Every figure of an evaluation of arrays is the figure of its own function."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import (
    BinnedError,
    ClassSpecific,
    CumulativeError,
    Evaluation,
    Grouped,
    InvalidInputError,
    QuantileBins,
    SmoothError,
    SweepBins,
    TopK,
    UniformBins,
    VeridicalWarning,
    brier_score,
    classwise_calibration_error,
    decompose,
    evaluate,
    expected_calibration_error,
    log_loss,
    reliability_curve,
    spherical_score,
    zero_one_loss,
)


@pytest.fixture
def binary():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    return (rng.random(400) < p**1.3).astype(int), p


@pytest.fixture
def several():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([0.6, 0.8, 1.0], 600)
    return np.array([rng.choice(3, p=row) for row in p]), p


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_figures(binary, weighted):
    y, p = binary
    w = np.random.default_rng(2).gamma(2.0, size=400) if weighted else None
    e = evaluate(y, p, sample_weight=w, n_bins=10)
    assert isinstance(e, Evaluation)
    weight = np.ones(400) if w is None else w
    assert e.n_samples == 400
    assert e.sum_weight == pytest.approx(weight.sum())
    assert e.classes == (0, 1)
    assert e.base_rate[1] == pytest.approx(np.average(y, weights=weight))
    assert e.mean_predicted == pytest.approx(np.average(p, weights=weight))
    assert e.mean_observed == e.base_rate[1]
    assert e.calibration_in_the_large == pytest.approx(e.mean_observed - e.mean_predicted)
    assert e.observed_expected == pytest.approx(e.mean_observed / e.mean_predicted)
    assert e.auc == pytest.approx(oracles.auc(y, p, w))
    assert e.accuracy == pytest.approx(1 - zero_one_loss(y, p, sample_weight=w))
    for rule, function in (
        ("brier", brier_score), ("log", log_loss), ("spherical", spherical_score),
    ):  # fmt: skip
        assert e.scores[rule] == function(y, p, sample_weight=w)
    assert e.curve == reliability_curve(y, p, n_bins=10, sample_weight=w)
    for d in e.decompositions:
        assert d == decompose(y, p, rule=d.rule, sample_weight=w)
    expected = {
        "ECE": BinnedError(UniformBins(10)),
        "ECE equal-mass": BinnedError(QuantileBins(10)),
        "ECE sweep": BinnedError(SweepBins()),
        "ECE debiased": BinnedError(UniformBins(10), debias=True),
        "RMSCE": BinnedError(UniformBins(10), norm=2),
        "RMSCE debiased": BinnedError(UniformBins(10), norm=2, debias=True),
        "MCE": BinnedError(UniformBins(10), norm="max"),
        "smECE": SmoothError(),
        "KS": CumulativeError(),
    }
    assert {m.name for m in e.errors} == set(expected)
    for name, estimator in expected.items():
        assert e.error(name).value == estimator(y, p, sample_weight=w)
        assert e.error(name).lens == "binary"
        assert e.error(name).n_samples == 400


@pytest.mark.parametrize("weighted", [False, True])
def test_multiclass_figures(several, weighted):
    y, p = several
    w = np.random.default_rng(2).gamma(2.0, size=600) if weighted else None
    e = evaluate(y, p, sample_weight=w)
    assert (e.lens, e.classes) == ("confidence", (0, 1, 2))
    assert e.accuracy == pytest.approx(1 - zero_one_loss(y, p, sample_weight=w))
    assert e.scores["brier"] == brier_score(y, p, sample_weight=w)
    areas = [oracles.auc((y == k).astype(int), p[:, k], w) for k in range(3)]
    assert e.auc_by_class == pytest.approx(areas)
    assert e.auc == pytest.approx(np.mean(areas))
    assert e.error("ECE").value == expected_calibration_error(y, p, sample_weight=w)
    classwise = classwise_calibration_error(y, p, sample_weight=w)
    assert e.error("classwise ECE").value == classwise
    assert e.error("classwise ECE").lens == "classwise"
    assert e.mean_observed == pytest.approx(e.accuracy)
    assert e.decompositions[0].lens == "confidence"


@pytest.mark.parametrize(
    ("lens", "name", "names"),
    [
        ("classwise", "classwise", {"ECE", "RMSCE", "MCE", "ECE worst class", "canonical ECE"}),
        ("canonical", "canonical", {"ECE", "canonical ECE", "classwise ECE"}),
        (TopK(2), "top-2", {"ECE", "ECE variance-split", "classwise ECE", "canonical ECE"}),
    ],
)
def test_lenses_without_one_binary_problem_show_the_confidence(several, lens, name, names):
    e = evaluate(*several, lens=lens, n_bins=5)
    assert e.lens == name
    assert {m.name for m in e.errors} == names
    assert e.curve.lens == "confidence"
    expected = BinnedError(UniformBins(5))(*several, lens=lens)
    assert e.error("ECE").value == expected


@pytest.mark.parametrize("lens", [ClassSpecific(2), Grouped([[0, 1], [2]]), "pooled"])
def test_lenses_with_one_binary_problem_show_it(several, lens):
    e = evaluate(*several, lens=lens, n_bins=5)
    assert e.curve == reliability_curve(*several, lens=lens, n_bins=5)
    assert e.error("ECE").value == expected_calibration_error(*several, lens=lens, n_bins=5)


@pytest.mark.parametrize("n_bins", ["sqrt", "cbrt", "cv", 7])
def test_bins_may_be_counted_by_a_rule(binary, n_bins):
    e = evaluate(*binary, n_bins=n_bins)
    assert e.error("ECE").value == expected_calibration_error(*binary, n_bins=n_bins)
    assert str(n_bins) in e.error("ECE").definition


def test_shapes_of_two_classes_give_the_same_evaluation(binary):
    y, p = binary
    assert evaluate(y, p[:, None]) == evaluate(y, p)
    pair = evaluate(y, np.column_stack([1 - p, p]))
    assert pair.error("ECE").value == pytest.approx(evaluate(y, p).error("ECE").value)


def test_positive_class_may_be_chosen(binary):
    y, p = binary
    labels = np.where(y == 1, "yes", "no")
    e = evaluate(labels, p)
    assert e.classes == ("no", "yes")
    turned = evaluate(labels, 1 - p, pos_label="no")
    assert turned.classes == ("yes", "no")
    assert turned.auc == pytest.approx(e.auc)
    assert turned.base_rate[1] == pytest.approx(e.base_rate[0])


def test_labels_do_not_change_which_of_two_classes_is_positive(binary):
    y, p = binary
    labels = np.where(y == 1, "yes", "no")
    e = evaluate(labels, np.column_stack([p, 1 - p]), labels=["yes", "no"])
    assert e.classes[1] == "yes"  # the larger label, as documented
    assert e.mean_predicted == pytest.approx(p.mean())


def test_rows_of_weight_zero_do_not_exist(binary):
    y, p = binary
    w = np.random.default_rng(3).integers(0, 3, 400)
    weighted, kept = evaluate(y, p, sample_weight=w, n_bins=8), w > 0
    assert weighted == evaluate(y[kept], p[kept], sample_weight=w[kept], n_bins=8)
    assert weighted.n_samples == kept.sum()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_can_be_evaluated(n):
    y, p = np.array([0, 1, 1])[:n], np.array([0.2, 0.9, 0.4])[:n]
    with pytest.warns(VeridicalWarning):
        e = evaluate(y, p)
    assert e.n_samples == n
    assert e.error("ECE").value == pytest.approx(np.abs(y - p).mean())


def test_unknown_figures_are_errors_that_list_the_known_ones(binary):
    e = evaluate(*binary)
    with pytest.raises(KeyError, match="'ECE', 'ECE equal-mass'"):
        e.error("ICI")
    with pytest.raises(KeyError, match="group: `name` must be one of"):
        e.group("north")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lens": "confidense"}, "did you mean 'confidence'"),
        ({"n_bins": 0}, "`n_bins` must be a positive integer"),
        ({"confidence_level": 1.5}, "evaluate: `confidence_level` must be between 0 and 1"),
        ({"pos_label": 7}, "`pos_label` must be one of the classes"),
        ({"sample_weight": [1, 2]}, "evaluate: `sample_weight` must be of shape"),
        ({"by": ["a", "b"]}, "evaluate: `by` must be as long as"),
        ({"by": [["a"]] * 400}, "evaluate: `by` must be 1-d"),
        ({"by": "region"}, "evaluate: `by` must be a column or one key per row"),
        ({"y": "label"}, "`y` must be unset when arrays are given"),
        ({"prob": "p"}, "must be unset when arrays are given"),
    ],
    ids=str,
)
def test_bad_options_are_refused(binary, options, message):
    with pytest.raises(InvalidInputError, match=message):
        evaluate(*binary, **options)


def test_a_blank_key_is_a_group(binary):
    y, p = binary
    e = evaluate(y, p, by=["a", None] * 200, n_bins=5)
    assert [key for key, _ in e.groups] == ["a", "(missing)"]
    for start, (_, group) in enumerate(e.groups):
        assert group.figures() == evaluate(y[start::2], p[start::2], n_bins=5).figures()


def test_a_wrong_number_of_keys_is_not_blamed_on_the_weights(binary):
    with pytest.raises(InvalidInputError, match="`by` must be as long as `y_true`"):
        evaluate(*binary, by=["a", "b"], sample_weight=np.ones(400))


@pytest.mark.parametrize("given", [[0, 1], np.array([0, 1]), 3, None])
def test_without_predictions_a_frame_or_file_is_needed(given):
    with pytest.raises(InvalidInputError, match="`y_true` must be a frame or a file"):
        evaluate(given)
