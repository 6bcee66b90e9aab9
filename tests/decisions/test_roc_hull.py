"""The ROC convex hull against a hull of points, isotonic regression and brute force."""

import json
from itertools import pairwise

import numpy as np
import pytest
from oracles import KINDS, ones, random_rows
from sklearn.isotonic import IsotonicRegression

from veridical import InvalidInputError
from veridical.decisions._costs.cost_curve import roc_hull
from veridical.decisions._costs.thresholds import cost_threshold
from veridical.lenses import ClassSpecific
from veridical.results.decision_curves import RocHull


def roc_points(y, p, w):
    """False and true positive rate of "positive from t on" for every t, by loops."""
    points = [(0.0, 0.0)]
    total = [sum(v for label, v in zip(y, w, strict=True) if label == k) for k in (0, 1)]
    for t in sorted({float(score) for score in p}, reverse=True):
        called = [0.0, 0.0]
        for label, score, v in zip(y, p, w, strict=True):
            if score >= t:
                called[int(label)] += v
        points.append((called[0] / total[0], called[1] / total[1]))
    return points


def upper_hull(points):
    """Monotone chain from left to right; strictly convex up to rounding."""
    hull = []
    for point in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1), (x2, y2) = hull[-2], hull[-1], point
            if (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0) >= -1e-12:
                hull.pop()
            else:
                break
        hull.append(point)
    return hull


@pytest.mark.parametrize("kind", KINDS)
def test_vertices_are_the_hull_of_the_curve(kind):
    y, p, w = random_rows(kind)
    hull = roc_hull(y, p, sample_weight=w)
    expected = upper_hull(roc_points(y, p, ones(w, len(y))))
    assert np.column_stack([hull.fpr, hull.tpr]) == pytest.approx(np.array(expected), abs=1e-10)
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(expected))
    assert hull.auc == pytest.approx(area, abs=1e-10)


@pytest.mark.parametrize("kind", ["plain", "tied weighted"])
def test_segments_are_blocks_of_the_isotonic_fit(kind):
    # Fawcett & Niculescu-Mizil 2007; the fit is scikit-learn's.
    y, p, w = random_rows(kind)
    hull = roc_hull(y, p, sample_weight=w)
    fit = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    assert hull.frequency == pytest.approx(np.unique(np.round(fit, 12))[::-1], abs=1e-10)
    odds_up = np.diff(hull.tpr) * hull.prior * (1 - hull.frequency)
    odds_along = np.diff(hull.fpr) * (1 - hull.prior) * hull.frequency
    assert odds_up == pytest.approx(odds_along, abs=1e-12)
    assert odds_up.max() > 0.01


@pytest.mark.parametrize("costs", [(1, 1), (1, 7), (5, 2), (0, 1), (1, 0)])
@pytest.mark.parametrize("prior", [None, 0.1])
def test_no_threshold_costs_less(costs, prior):
    y, p, _ = random_rows("tied")
    fp, fn = costs
    share = y.mean() if prior is None else prior

    def cost(t):
        fnr, fpr = (p[y == 1] < t).mean(), (p[y == 0] >= t).mean()
        return share * fn * fnr + (1 - share) * fp * fpr

    hull = roc_hull(y, p)
    best = hull.best_threshold(cost_fp=fp, cost_fn=fn, prior=prior)
    least = min(cost(t) for t in [*np.unique(p), np.inf])
    assert cost(best) == pytest.approx(least, abs=1e-12)
    found = hull.least_cost(cost_fp=fp, cost_fn=fn, prior=prior)
    assert found == pytest.approx(least, abs=1e-12)


def test_isotonic_probabilities_at_the_cost_threshold_decide_the_same():
    y, p, _ = random_rows("plain", n=300)
    fit = IsotonicRegression().fit(p, y).predict(p)
    hull = roc_hull(y, p)
    for fp, fn in ((1, 1), (1, 3.3), (2.7, 1)):
        by_hull = p >= hull.best_threshold(cost_fp=fp, cost_fn=fn)
        assert (by_hull == (fit > cost_threshold(fp, fn))).all()


def test_weights_labels_and_lenses():
    y, p, _ = random_rows("tied")
    w = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = roc_hull(y, p, sample_weight=w)
    repeated = roc_hull(np.repeat(y, w), np.repeat(p, w))
    assert weighted.threshold.tolist() == repeated.threshold.tolist()
    assert weighted.fpr == pytest.approx(repeated.fpr)
    named = roc_hull(np.where(y == 1, "a", "b"), p, pos_label="a")
    assert named.threshold.tolist() == roc_hull(y, p).threshold.tolist()
    rows = np.column_stack([p / 2, 1 - p, p / 2])
    classes = np.where(y == 1, 0, 1)
    seen = roc_hull(classes, rows, lens=ClassSpecific(1))
    assert seen.tpr == pytest.approx(roc_hull(1 - y, 1 - p).tpr)


def test_the_result_loses_nothing():
    hull = roc_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    assert RocHull.from_dict(json.loads(json.dumps(hull.to_dict()))) == hull
    assert str(hull).startswith("ROC convex hull of 4 vertices, area 0.8750")
    assert hull.to_frame().shape == (4, 3)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="`y_true` must be of two classes; got only 1"):
        roc_hull([1, 1], [0.1, 0.2])
    with pytest.raises(InvalidInputError, match="`lens` must be one that induces one binary"):
        roc_hull([0, 1, 2], np.eye(3), lens="classwise")
    hull = roc_hull([0, 1], [0.1, 0.2])
    with pytest.raises(InvalidInputError, match="`cost_fp` must be a number of 0 or more"):
        hull.best_threshold(cost_fp=-1, cost_fn=1)
    with pytest.raises(InvalidInputError, match="`cost_fp` must be positive"):
        hull.best_threshold(cost_fp=0, cost_fn=0)
    with pytest.raises(InvalidInputError, match="`prior` must be in"):
        hull.best_threshold(cost_fp=1, cost_fn=1, prior=2)
