"""No order of classes: permuting columns and labels permutes results, for every figure and map."""

from __future__ import annotations

import numpy as np
import pytest
from calibrators.every_calibrator import EVERY, MULTICLASS, fit, predict
from conftest import Data

import veridical as v

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def untied(n=600, k=3):
    """Rows of k classes without equal predictions; no two classes are equally often right."""
    rng = np.random.default_rng(77)
    p = rng.dirichlet(np.linspace(0.6, 1.4, k), n)
    truth = p**0.7 / (p**0.7).sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    return Data(y, p, rng.uniform(0.2, 3.0, n))


def permuted(data, order):
    """The same rows with class order[j] called j."""
    return Data(np.argsort(order)[data.y], data.p[:, order], data.w)


@pytest.mark.parametrize(("order", "weighted"), [([2, 0, 1], False), ([1, 0, 2], True)])
def test_figures_do_not_depend_on_the_order_of_classes(permutable_metric, order, weighted):
    metric = permutable_metric
    data = untied(240)
    other = permuted(data, order)
    options = {"sample_weight": data.w} if weighted else {}
    found = metric(other.y, other.p, classes=tuple(np.argsort(order)), **options)
    plain = metric(data.y, data.p, **options)
    np.testing.assert_allclose(np.sort(found), np.sort(plain), **CLOSE)


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize(
    "estimator",
    [
        v.BinnedError(v.SimplexBins(5)),
        v.BinnedError(v.VarianceSplitBins(100)),
        v.BinnedError(v.VarianceSplitBins(100, "median")),
        v.KernelError(),  # of more than 1,000 predictions some stand for all
        v.DirichletKernelError(),
    ],
    ids=repr,
)
def test_nor_do_those_of_many_whole_vectors(estimator, k):
    data = untied(1300, k)
    other = permuted(data, np.random.default_rng(1).permutation(k))
    found, plain = (estimator(d.y, d.p, lens="canonical") for d in (other, data))
    assert found == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("kind", ["every", "chosen", "chosen-by-action"])
def test_nor_do_those_of_costs_that_are_permuted_too(kind):
    data, order = untied(240), [2, 0, 1]
    other = permuted(data, order)
    costs = np.array([[0.0, 2.0, 4.3], [1.0, 0.0, 1.2], [4.1, 2.5, 0.0]])
    moved = costs[order][:, order]
    plain = v.CostWeightedError(costs, kind, v.QuantileBins(6))(data.y, data.p, lens="canonical")
    found = v.CostWeightedError(moved, kind, v.QuantileBins(6))(other.y, other.p, lens="canonical")
    assert found == pytest.approx(plain, rel=1e-9)
    spent = [v.expected_cost(d.y, d.p, costs=c) for d, c in ((data, costs), (other, moved))]
    assert spent[1].realised.estimate == pytest.approx(spent[0].realised.estimate, rel=1e-9)


@pytest.mark.parametrize("threshold", ["mean", "median"])
def test_cells_of_classes_that_vary_alike_are_those_of_any_order(threshold):
    corners = 0.1 + 0.7 * np.eye(3)  # all variances and means are the same
    data = Data(np.tile([0, 1, 2], 20), np.tile(corners, (20, 1)), np.ones(60))
    error = v.BinnedError(v.VarianceSplitBins(60, threshold))
    assert error(data.y, data.p, lens="canonical") == pytest.approx(0.2)  # a cell for each corner
    other = permuted(data, [1, 2, 0])
    assert error(other.y, other.p, lens="canonical") == pytest.approx(0.2)


def test_t_cal_has_the_statistic_of_any_order():
    data = untied(300)
    other = permuted(data, [2, 0, 1])
    options = {"lens": "canonical", "n_resamples": 1, "rng": 0}
    found, plain = (v.t_cal_test(d.y, d.p, **options).statistic for d in (other, data))
    assert found == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("name", MULTICLASS)
@pytest.mark.parametrize("weighted", [False, True])
def test_maps_do_not_depend_on_the_order_of_classes(name, weighted):
    data, new = untied(400), untied(40).p
    order = [2, 0, 1]
    other = permuted(data, order)
    plain = predict(fit(MULTICLASS[name], data.p, data.y, data.w if weighted else None), new)
    turned = fit(MULTICLASS[name], other.p, other.y, other.w if weighted else None)
    np.testing.assert_allclose(predict(turned, new[:, order]), plain[:, order], atol=1e-6)


# Of two classes the quantiles of the second are counted from below: another row may be the middle.
FROM_BELOW = {"bbq": 0.05, "spline": 0.001}


@pytest.mark.parametrize("name", EVERY)
def test_nor_do_those_of_two_classes(name):
    data, new = untied(400, 2), untied(40, 2).p
    other = permuted(data, [1, 0])
    plain = predict(fit(EVERY[name], data.p, data.y), new)
    turned = predict(fit(EVERY[name], other.p, other.y), new[:, ::-1])
    np.testing.assert_allclose(turned, plain[:, ::-1], atol=FROM_BELOW.get(name, 1e-6))
