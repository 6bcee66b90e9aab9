"""Decision curves against another package, loops over rows and resampling."""

import json
import math

import numpy as np
import pytest
from oracles import KINDS, ones, random_rows

from veridical import InvalidInputError, VeridicalWarning
from veridical.decisions._costs.decision_curve import decision_curve
from veridical.decisions._costs.expected_cost import expected_cost
from veridical.results.decision_curves import DecisionCurve

Y = [0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0]
P = [0.12, 0.31, 0.44, 0.05, 0.83, 0.67, 0.52, 0.28, 0.19, 0.08,
     0.91, 0.36, 0.23, 0.58, 0.41, 0.03, 0.15, 0.62, 0.74, 0.27]  # fmt: skip
T = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7]

# Python package dcurves 1.1.7 (lifelines 0.30.3, pandas 3.1.1):
# dca(data=DataFrame({"y": Y, "p": P}), outcome="y", modelnames=["p"], thresholds=T, **options)
# columns net_benefit and net_intervention_avoided of model "p", net_benefit of model "all".
RECORDED = [
    (
        {},
        [0.31842105263157894, 0.2944444444444444, 0.26249999999999996, 0.1923076923076923, 0.15,
         0.15],
        [0.05000000000000015, 0.14999999999999997, 0.29999999999999993, 0.35714285714285715,
         0.45000000000000007, 0.5642857142857143],
        [0.3157894736842105, 0.27777777777777773, 0.18749999999999997, 0.0, -0.30000000000000004,
         -1.1666666666666665],
    ),
    (
        {"prevalence": 0.1},
        [0.0562753036437247, 0.023076923076923064, -0.021153846153846148, -0.06339814032121724,
         -0.06703296703296703, 0.04285714285714286],
        [0.06923076923076917, 0.20769230769230757, 0.4153846153846154, 0.596546310832025,
         0.732967032967033, 0.8755102040816325],
        [0.052631578947368425, 0.0, -0.125, -0.3846153846153846, -0.8, -1.9999999999999996],
    ),
    (
        {"harm": 0.02},  # harm={"p": 0.02}
        [0.2984210526315789, 0.2744444444444444, 0.24249999999999997, 0.1723076923076923, 0.13,
         0.13],
        [-0.3300000000000002, -0.03000000000000019, 0.21999999999999997, 0.32,
         0.43000000000000005, 0.5557142857142857],
        [0.3157894736842105, 0.27777777777777773, 0.18749999999999997, 0.0, -0.30000000000000004,
         -1.1666666666666665],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "benefit", "avoided", "everyone"), RECORDED)
def test_figures_are_those_of_dcurves(options, benefit, avoided, everyone):
    curve = decision_curve(Y, P, thresholds=T, **options)
    assert curve.net_benefit == pytest.approx(benefit, abs=1e-12)
    assert curve.avoided == pytest.approx(avoided, abs=1e-12)
    assert curve.treat_all == pytest.approx(everyone, abs=1e-12)


def by_loops(y, p, w, t):
    """Benefit of each row by the model and if everyone is treated."""
    odds = t / (1 - t)
    worth = [1.0 if label == 1 else -odds for label in y]
    return [v if score >= t else 0.0 for v, score in zip(worth, p, strict=True)], worth


@pytest.mark.parametrize("kind", KINDS)
def test_means_and_limits_are_those_of_the_rows(kind):
    y, p, w = random_rows(kind)
    share = np.array(ones(w, len(y)))
    share /= share.sum()
    curve = decision_curve(y, p, sample_weight=w, confidence_level=0.9)
    for i in (4, 19, 39, 69, 89):
        t = float(p.dtype.type(curve.threshold[i]))
        model, everyone = map(np.array, by_loops(y, p, w, t))
        nb, treat_all = share @ model, share @ everyone
        assert curve.net_benefit[i] == pytest.approx(nb, abs=1e-6 if t != (i + 1) / 100 else 1e-12)
        over = model - everyone if treat_all > 0 else model
        for low, high, values in (
            (curve.low, curve.high, model),
            (curve.advantage_low, curve.advantage_high, over),
        ):
            spread = math.sqrt(share**2 @ (values - share @ values) ** 2)
            assert high[i] - low[i] == pytest.approx(2 * 1.644854 * spread, rel=1e-5, abs=1e-9)
        assert curve.advantage[i] == pytest.approx(nb - max(treat_all, 0), abs=1e-6)
        assert curve.called[i] == pytest.approx(share @ (p.astype(float) >= t), abs=1e-9)


def test_limits_with_a_known_prevalence_are_those_of_two_samples():
    y, p, _ = random_rows("plain")
    curve = decision_curve(y, p, thresholds=[0.3], prevalence=0.05)
    hit, alarm, odds = (p >= 0.3)[y == 1], (p >= 0.3)[y == 0], 0.3 / 0.7
    parts = hit.var() / len(hit) * 0.05**2 + alarm.var() / len(alarm) * (0.95 * odds) ** 2
    assert curve.high - curve.net_benefit == pytest.approx(1.959964 * math.sqrt(parts), rel=1e-6)


def test_limits_are_those_of_a_bootstrap():
    y, p, _ = random_rows("plain", n=400)
    curve = decision_curve(y, p, thresholds=[0.2, 0.6], confidence_level=0.9)
    rng = np.random.default_rng(0)
    for i, t in enumerate((0.2, 0.6)):
        model = np.array(by_loops(y, p, None, t)[0])
        means = [model[rng.integers(0, 400, 400)].mean() for _ in range(4000)]
        assert curve.low[i] == pytest.approx(np.quantile(means, 0.05), abs=0.004)
        assert curve.high[i] == pytest.approx(np.quantile(means, 0.95), abs=0.004)


def test_an_integer_frequency_is_repetition():
    y, p, _ = random_rows("tied")
    w = np.random.default_rng(3).integers(0, 4, len(y))
    for prevalence in (None, 0.2):
        options = {"thresholds": T, "prevalence": prevalence}
        weighted = decision_curve(y, p, sample_weight=w, weight_type="frequency", **options)
        repeated = decision_curve(np.repeat(y, w), np.repeat(p, w), **options)
        for name in ("net_benefit", "low", "advantage_high", "avoided", "called"):
            expected = getattr(repeated, name)
            assert getattr(weighted, name) == pytest.approx(expected, abs=1e-12), name


def test_net_benefit_is_expected_cost_in_other_units():
    y, p, w = random_rows("weighted")
    curve = decision_curve(y, p, sample_weight=w, thresholds=T)
    for t, benefit in zip(T, curve.net_benefit, strict=True):
        cost = expected_cost(y, p, (t, 1 - t), sample_weight=w).realised.estimate
        assert curve.prevalence - cost / (1 - t) == pytest.approx(benefit, abs=1e-12)


def test_a_row_at_the_threshold_is_called_in_every_precision():
    scores = np.arange(1, 100) / 100
    for dtype in (np.float64, np.float32):
        y = np.arange(99) % 2
        curve = decision_curve(y, scores.astype(dtype))
        assert curve.called == pytest.approx(np.arange(99, 0, -1) / 99)


def test_edges_of_the_range():
    curve = decision_curve(Y, P, thresholds=[0, 0.99])
    assert curve.net_benefit == pytest.approx([0.35, 0])
    assert curve.avoided[0] == 0
    assert decision_curve(Y, P, thresholds=0, harm=0.1).avoided[0] == -np.inf
    assert len(decision_curve(Y, P)) == 99


def test_labels_and_weights_of_zero():
    plain = decision_curve(Y, P)
    named = decision_curve(np.where(np.array(Y) == 1, "a", "b"), P, pos_label="a")
    assert named == plain
    gone = decision_curve([*Y, 1], [*P, 0.5], sample_weight=[1.0] * 20 + [0.0])
    assert gone.low == pytest.approx(plain.low, abs=1e-14)


def test_one_class_alone_is_a_doubt():
    with pytest.warns(VeridicalWarning, match="only 0 occurred"):
        curve = decision_curve([0, 0], [0.1, 0.6], thresholds=[0.5])
    assert curve.net_benefit.tolist() == [-0.5]
    assert curve.notes == ("only 0 occurred",)
    with pytest.raises(InvalidInputError, match="`y_true` must be of two classes"):
        decision_curve([0, 0], [0.1, 0.6], prevalence=0.1)


def test_the_result_reads_well_and_loses_nothing():
    curve = decision_curve(Y, P, thresholds=T)
    assert str(curve).startswith("net benefit above treating all or none at 0.05 to 0.7;")
    assert DecisionCurve.from_dict(json.loads(json.dumps(curve.to_dict()))) == curve
    assert curve.to_frame().shape == (6, 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": [0.5, 1.0]}, "`thresholds` must be probabilities in"),
        ({"thresholds": []}, "`thresholds` must be probabilities in"),
        ({"harm": "x"}, "`harm` must be a finite number"),
        ({"prevalence": 0}, "`prevalence` must be between 0 and 1"),
        ({"confidence_level": 95}, "`confidence_level` must be between 0 and 1"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        decision_curve(Y, P, **options)
