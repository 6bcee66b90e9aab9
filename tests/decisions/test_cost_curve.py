"""Cost curves against costs by loops, and areas against the scores they equal."""

import json

import numpy as np
import pytest
from oracles import KINDS, ones, random_rows
from scipy.integrate import trapezoid
from sklearn.isotonic import IsotonicRegression

from veridical import InvalidInputError, decompose
from veridical.decisions._costs.cost_curve import cost_curve
from veridical.results.decision_curves import CostCurve


def rates(y, p, w, t):
    """False negative and false positive rate if p > t is called positive."""
    missed, alarmed, total = 0.0, 0.0, [0.0, 0.0]
    for label, score, v in zip(y, p, w, strict=True):
        total[int(label)] += v
        missed += v if label == 1 and not score > t else 0.0
        alarmed += v if label == 0 and score > t else 0.0
    return missed / total[1], alarmed / total[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_curve_between_corners_is_the_cost_of_the_cost_threshold(kind):
    y, p, w = random_rows(kind)
    p, w = p.astype(float), ones(w, len(y))
    curve = cost_curve(y, p, sample_weight=w)
    pi = sum(v for label, v in zip(y, w, strict=True) if label) / sum(w)
    for cost_fp, cost_fn in ((0.137, 0.871), (1.01, 0.993), (3.03, 0.777)):
        pc = pi * cost_fn / (pi * cost_fn + (1 - pi) * cost_fp)
        fnr, fpr = rates(y, p, w, cost_fp / (cost_fp + cost_fn))
        worst = pi * cost_fn + (1 - pi) * cost_fp
        normalised = (pi * cost_fn * fnr + (1 - pi) * cost_fp * fpr) / worst
        read = np.interp(pc, curve.probability_cost, curve.model)
        assert read == pytest.approx(normalised, abs=1e-10)
        best = min(
            fnr * pc + fpr * (1 - pc)
            for fnr, fpr in (rates(y, p, w, t) for t in [-1.0, *np.unique(p)])
        )
        lowest = np.interp(pc, curve.probability_cost, curve.envelope)
        assert lowest == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_areas_over_the_share_of_costs_are_brier_scores(kind):
    # Hernandez-Orallo, Flach & Ferri 2011; isotonic fit by scikit-learn.
    y, p, w = random_rows(kind)
    p = p.astype(float)
    share = np.array(ones(w, len(y))) / sum(ones(w, len(y)))
    curve = cost_curve(y, p, sample_weight=w)
    assert curve.brier == pytest.approx(share @ (p - y) ** 2, rel=1e-10)
    fit = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    assert curve.refinement == pytest.approx(share @ (fit - y) ** 2, rel=1e-9)
    parts = decompose(y, p, method="isotonic", sample_weight=w)
    assert curve.miscalibration == pytest.approx(parts.miscalibration, abs=1e-12)
    loss = -trapezoid(curve.loss, curve.cost_share)
    assert loss == pytest.approx(curve.brier, rel=1e-12)
    least = -trapezoid(curve.envelope_loss, curve.cost_share)
    assert least == pytest.approx(curve.refinement, rel=1e-12)


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted"])
def test_the_area_over_the_probability_cost_is_a_balanced_brier_score(kind):
    # Predictions moved to equal class shares, rows weighted so that classes count the same.
    y, p, w = random_rows(kind)
    p = np.clip(p, 0, 1)
    w = np.array(ones(w, len(y)))
    pi = w @ y / w.sum()
    balanced = p * (1 - pi) / (p * (1 - pi) + (1 - p) * pi)
    each = [w[y == k] @ (balanced - y)[y == k] ** 2 / w[y == k].sum() for k in (0, 1)]
    curve = cost_curve(y, p, sample_weight=w)
    assert curve.area == pytest.approx(sum(each) / 2, rel=1e-10)


def test_the_model_is_never_below_the_envelope_nor_that_above_constant_decisions():
    y, p, _ = random_rows("extreme")
    curve = cost_curve(y, p)
    assert (curve.model >= curve.envelope - 1e-12).all()
    trivial = np.minimum(curve.always_positive, curve.always_negative)
    assert (curve.envelope <= trivial + 1e-12).all()
    assert curve.probability_cost[[0, -1]].tolist() == [0.0, 1.0]
    assert (np.diff(curve.probability_cost) >= 0).all()


@pytest.mark.parametrize("kind", ["extreme", "tied"])
def test_where_constant_decisions_are_cheaper(kind):
    y, p, _ = random_rows(kind)
    curve = cost_curve(y, p)
    fine = (np.arange(20_000) + 0.5) / 20_000
    model = np.interp(fine, curve.probability_cost, curve.model)
    share = (model > np.minimum(fine, 1 - fine) + 1e-12).mean()
    assert curve.dearer_than_constant == pytest.approx(share, abs=1e-3)
    assert 0 < share < 1
    assert cost_curve([0, 1], [1.0, 0.0]).dearer_than_constant == pytest.approx(1)
    assert cost_curve([0, 1], [0.0, 1.0]).dearer_than_constant == 0


def test_constant_decisions_change_places_between_predictions():
    # Above PC = 0.2 all are called positive, for 1 - PC: more than PC up to 0.5. Below 0.1 none
    # are, for PC; between, the predictions separate the classes.
    curve = cost_curve([0, 1, 0, 1], [0.8, 0.9, 0.8, 0.9])
    assert curve.dearer_than_constant == pytest.approx(0.3)


def test_isotonic_predictions_are_their_own_envelope():
    y, p, _ = random_rows("plain", n=200)
    fit = IsotonicRegression().fit(p, y).predict(p)
    curve = cost_curve(y, fit)
    assert curve.model == pytest.approx(curve.envelope, abs=1e-9)


def test_lines_of_the_hull_touch_the_envelope():
    y, p, _ = random_rows("plain")
    curve = cost_curve(y, p)
    pc = curve.probability_cost[:, None]
    lines = (1 - curve.hull.tpr) * pc + curve.hull.fpr * (1 - pc)
    assert lines.min(axis=1) == pytest.approx(curve.envelope, abs=1e-12)


def test_weights_and_labels():
    y, p, _ = random_rows("tied")
    w = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = cost_curve(y, p, sample_weight=w)
    repeated = cost_curve(np.repeat(y, w), np.repeat(p, w))
    assert weighted.model == pytest.approx(repeated.model, abs=1e-12)
    assert weighted.brier == pytest.approx(repeated.brier, rel=1e-12)
    named = cost_curve(np.where(y == 1, "a", "b"), p, pos_label="a")
    assert named.brier == cost_curve(y, p).brier


def test_the_result_reads_well_and_loses_nothing():
    curve = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    assert "Brier score 0.1850 = 0.0600 for thresholds that are not the best + 0.1250" in str(curve)
    again = CostCurve.from_dict(json.loads(json.dumps(curve.to_dict())))
    assert again == curve
    assert curve.to_frame().shape == (len(curve), 8)
    with pytest.raises(ValueError, match="read-only"):
        curve.model[0] = 1


def test_a_class_that_did_not_occur_is_refused():
    with pytest.raises(InvalidInputError, match="cost_curve: `y_true` must be of two classes"):
        cost_curve([0, 0], [0.1, 0.2])
