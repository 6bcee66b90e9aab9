"""How outcomes are redrawn where rows are weighted by outcome or belong together."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from inference.redrawn import drawn, sample_of, three_classes
from scipy import stats

from veridical import BinnedError, CumulativeError, UniformBins
from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import cell_means, cell_variances, redraw_of
from veridical._core.resampling.redraw import class_residuals
from veridical._core.sample import BinarySample
from veridical.inference import (
    consistency_test,
    cox_test,
    hosmer_lemeshow_test,
    joint_test,
    kernel_test,
    null_level,
    pearson_test,
    spiegelhalter_test,
    t_cal_test,
)
from veridical.lenses import ClassSpecific, Confidence

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

P = np.array([0.1, 0.25, 0.25, 0.4, 0.6, 0.7, 0.9])
Y = np.array([0, 1, 0, 1, 0, 1, 1])
W = np.array([6.0, 1.5])  # of either label
N = 20_000


def kept(p, w=W):
    """Chance of an event among rows kept with chances 1 / w, by Bayes' rule."""
    events, others = p / w[1], (1 - p) / w[0]
    return events / (events + others)


def every_outcome(p, w=W):
    """All outcomes of a few kept rows, each with its probability."""
    q = kept(p, w)
    for outcome in map(np.array, itertools.product([0, 1], repeat=len(p))):
        yield outcome, float(np.where(outcome, q, 1 - q).prod())


def exact_pvalue(statistic):
    limit = statistic(Y) - 1e-9 * abs(statistic(Y))
    return sum(chance for outcome, chance in every_outcome(P) if statistic(outcome) >= limit)


def farthest(values, exact):
    """Largest distance between the distribution of draws and that of (value, chance) pairs."""
    values = np.sort(values)
    pairs = sorted(exact)
    at, chance = np.array(pairs).T
    reached = np.cumsum(chance)
    last = np.append(np.diff(at) > 1e-9, True)
    found = np.searchsorted(values, at[last] + 1e-9) / len(values)
    return float(np.abs(found - reached[last]).max())


# Massart 1990: sup |F_n - F| exceeds this with probability 1e-5.
FAR = math.sqrt(math.log(2 / 1e-5) / (2 * N))


def residual_sum(outcome, rows=slice(None)):
    return float((W[outcome] * (outcome - P))[rows].sum())


# One weight for each label: exact.


def test_the_level_has_the_law_of_kept_rows():
    redraw = redraw_of(BinarySample(y=Y.astype(np.uint8), p=P, weight=W[Y]))
    assert "one weight a label" in redraw.said
    sums = redraw.sums(
        redraw.residuals, np.zeros(len(P), dtype=int), 1, Draws(N, np.random.default_rng(0))
    )
    exact = [(residual_sum(outcome), chance) for outcome, chance in every_outcome(P)]
    assert sum(value * chance for value, chance in exact) == pytest.approx(0, abs=1e-12)
    assert farthest(sums[:, 0], exact) < FAR


def ece(outcome, norm=1):
    """Of two bins: residuals are those of the outcomes, weights those of the data."""
    total, error = W[Y].sum(), 0.0
    for rows in (P <= 0.5, P > 0.5):
        weight = W[Y][rows].sum()
        error += weight / total * abs(residual_sum(outcome, rows) / weight) ** norm
    return error ** (1 / norm)


@pytest.mark.parametrize("norm", [1, 2])
def test_binned_errors_have_the_law_of_kept_rows(norm):
    estimator = BinnedError(UniformBins(2), norm=norm)
    level = null_level(estimator, Y, P, sample_weight=W[Y], n_resamples=N, rng=0)
    assert level.estimate == pytest.approx(ece(Y, norm))
    exact = [(ece(outcome, norm), chance) for outcome, chance in every_outcome(P)]
    assert farthest(level.sample, exact) < FAR


def test_another_hypothesis_has_its_own_odds():
    """Outcomes occur as 0.2 + 0.6 p says; residuals are from p all the same."""
    test = consistency_test(
        BinnedError(UniformBins(2)),
        Y,
        P,
        sample_weight=W[Y],
        null_map=lambda q: 0.2 + 0.6 * q,
        n_resamples=N,
        rng=0,
    )
    exact = []
    for outcome, chance in every_outcome(0.2 + 0.6 * P):
        gaps = (W[outcome] * (outcome - P)).reshape(-1)
        low, high = gaps[P <= 0.5].sum(), gaps[P > 0.5].sum()
        exact.append(((abs(low) + abs(high)) / W[Y].sum(), chance))
    assert farthest(test.null_level.sample, exact) < FAR


def test_errors_without_bins_weigh_what_was_drawn():
    """Rows with their outcomes and the weights of these are measured as any rows are."""
    estimator = CumulativeError()
    level = null_level(estimator, Y, P, sample_weight=W[Y], n_resamples=N, rng=0)
    exact = [
        (estimator(outcome, P, sample_weight=W[outcome], labels=[0, 1]), chance)
        for outcome, chance in every_outcome(P)
    ]
    assert farthest(level.sample, exact) < FAR


def brier_excess(outcome):
    return abs(float((W[outcome] * (outcome - P) * (1 - 2 * P)).sum()))


def chi_square(bins):
    """Residuals of the outcomes over what is expected before they are known, at effective sizes."""

    def statistic(outcome):
        total = 0.0
        for rows in bins:
            q = kept(P[rows])
            weight, square = q * W[1] + (1 - q) * W[0], q * W[1] ** 2 + (1 - q) * W[0] ** 2
            share = float(weight @ P[rows]) / weight.sum()
            size = weight.sum() ** 2 / square.sum()
            gap = residual_sum(outcome, rows) / weight.sum()
            total += size * gap**2 / (share * (1 - share))
        return total

    return statistic


def similar_pairs(outcome):
    charge = W[outcome] * (outcome - P)
    alike = np.exp(-np.abs(P[:, None] - P) / 0.3)
    return float(charge @ alike @ charge - (charge**2).sum())


EVERY = chi_square([value == P for value in np.unique(P)])


@pytest.mark.parametrize(
    ("test", "statistic"),
    [
        (spiegelhalter_test, brier_excess),
        (pearson_test, EVERY),
        (lambda *a, **k: consistency_test(BinnedError(UniformBins(2)), *a, **k), ece),
        (
            lambda *a, **k: joint_test(*a, **k).parts[0],
            lambda outcome: residual_sum(outcome) ** 2,
        ),
        (lambda *a, **k: kernel_test(*a, bandwidth=0.3, **k), similar_pairs),
    ],
    ids=["spiegelhalter", "pearson", "consistency", "level", "kernel"],
)
def test_pvalues_are_probabilities_of_kept_rows(test, statistic):
    exact = exact_pvalue(statistic)
    assert 0.01 < exact < 0.99
    found = test(Y, P, sample_weight=W[Y], n_resamples=N, rng=1).pvalue
    assert abs(found - exact) < 4.5 * math.sqrt(exact * (1 - exact) / N) + 1 / N


def test_residuals_have_mean_zero_and_the_product_of_weights_as_variance():
    p = np.linspace(0.01, 0.99, 40)
    y = np.arange(40) % 2
    redraw = redraw_of(BinarySample(y=y.astype(np.uint8), p=p, weight=W[y]))
    q = redraw.p[:, 1]
    values = redraw.residuals
    mean = (redraw.chance * values).sum(axis=1)
    assert mean == pytest.approx(np.zeros(40), abs=1e-12)
    assert (redraw.chance * values**2).sum(axis=1) == pytest.approx(q * (1 - q) * W[0] * W[1])
    assert redraw.variance[:, 1] == pytest.approx(q * (1 - q) * W[0] * W[1])


def test_three_classes_have_the_moments_of_a_naive_loop():
    y, p, w = three_classes()
    redraw = redraw_of(sample_of(y, p, w[y]))
    for i, row in enumerate(redraw.rows):
        total = sum(p[row, k] / w[k] for k in range(3))
        mean, square = np.zeros(3), np.zeros(3)
        for k in range(3):
            chance = p[row, k] / w[k] / total
            for c in range(3):
                residual = w[k] * ((k == c) - p[row, c])
                mean[c] += chance * residual
                square[c] += chance * residual**2
        assert mean == pytest.approx(np.zeros(3), abs=1e-12)
        assert redraw.variance[i] == pytest.approx(square)


@pytest.mark.parametrize("by_label", [False, True])
def test_class_residuals_are_those_of_a_naive_loop(by_label):
    y, p, w = three_classes()
    weight = w[y] if by_label else np.random.default_rng(3).gamma(2.0, size=len(y))
    redraw = redraw_of(sample_of(y, p, weight))
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 5, (3, 30)), rng.integers(5, 8, (3, 30))
    first[rng.random((3, 30)) < 0.2] = 7  # in no column
    second[second == 5] = 7
    blocks = class_residuals(redraw, [first, second], 7, Draws(9, np.random.default_rng(5)), "")
    found = np.vstack(list(blocks))
    for outcome, sums in zip(drawn(redraw, 9, seed=5), found, strict=True):
        expected = np.zeros(8)
        for i, k in enumerate(outcome):
            for key, c in itertools.product((first, second), range(3)):
                expected[key[c, i]] += redraw.weight[i, k] * ((c == k) - redraw.p[i, c])
        np.testing.assert_allclose(sums, expected[:7], atol=1e-12)


P3 = np.array(
    [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.7, 0.1], [0.4, 0.35, 0.25], [0.1, 0.1, 0.8]]
)
Y3, W3 = np.array([0, 1, 1, 2, 2]), np.array([1.0, 6.0, 2.5])


def every_class():
    """Classes of all kept rows, each with its probability."""
    kept_rows = P3 / W3 / (P3 / W3).sum(axis=1, keepdims=True)
    for classes in map(np.array, itertools.product(range(3), repeat=len(P3))):
        yield classes, float(kept_rows[np.arange(len(P3)), classes].prod())


@pytest.mark.parametrize("lens", ["confidence", ClassSpecific(1)])
def test_questions_about_classes_have_the_law_of_kept_rows(lens):
    """What is wrong weighs as the class does that occurred instead."""
    event = P3.argmax(axis=1) if lens == "confidence" else np.ones(5, dtype=int)
    said = P3[np.arange(5), event]

    def residuals(classes):
        return W3[classes] * ((classes == event) - said)

    def error(classes):
        gaps = [abs(residuals(classes)[rows].sum()) for rows in (said <= 0.5, said > 0.5)]
        return sum(gaps) / W3[Y3].sum()

    options = {"sample_weight": W3[Y3], "labels": [0, 1, 2], "lens": lens, "n_resamples": N}
    level = null_level(BinnedError(UniformBins(2)), Y3, P3, rng=0, **options)
    assert level.estimate == pytest.approx(error(Y3))
    assert farthest(level.sample, [(error(c), chance) for c, chance in every_class()]) < FAR

    statistics = (
        (spiegelhalter_test, lambda c: abs(float(residuals(c) @ (1 - 2 * said)))),
        (lambda *a, **k: joint_test(*a, **k).parts[0], lambda c: residuals(c).sum() ** 2),
    )
    for test in (cox_test, hosmer_lemeshow_test, kernel_test, t_cal_test):
        assert 0 < test(Y3, P3, rng=1, **(options | {"n_resamples": 99})).pvalue <= 1
    for test, statistic in statistics:
        limit = statistic(Y3) * (1 - 1e-9)
        exact = sum(chance for c, chance in every_class() if statistic(c) >= limit)
        found = test(Y3, P3, rng=1, **options).pvalue
        assert abs(found - exact) < 4.5 * math.sqrt(exact * (1 - exact) / N) + 1 / N


def test_changed_rows_are_no_question_about_their_classes():
    sample = Confidence().induce(sample_of(Y3, P3, W3[Y3]))
    assert redraw_of(sample).event is not None
    assert redraw_of(sample.take(np.arange(1, 5))).event.shape == (4, 3)
    for other in ({"p": sample.p * 0.9}, {"y": 1 - sample.y}, {"weight": W3[Y3] + np.arange(5)}):
        assert redraw_of(replace(sample, **other)).event is None


# Any weights.


def test_a_row_keeps_its_weight_for_its_own_outcome():
    rng = np.random.default_rng(6)
    y, p = rng.integers(0, 2, 900), rng.random(900)
    for weight in (rng.gamma(2.0, size=900), W[y] * rng.gamma(9.0, size=900)):
        redraw = redraw_of(sample_of(y, p, weight))
        own = redraw.weight[np.arange(900), y[redraw.rows]]
        np.testing.assert_allclose(own, weight[redraw.rows], rtol=1e-12)
        residual = (redraw.chance * redraw.residuals).sum(axis=1)
        np.testing.assert_allclose(residual, 0, atol=1e-12)


def test_weights_of_labels_times_noise_are_told_apart():
    """Sum of squares over sum is the factor: twice as heavy events with the same spread."""
    rng = np.random.default_rng(7)
    p = rng.random(20_000)
    y = (rng.random(20_000) < p).astype(int)
    weight = np.where(y, 2.0, 10.0) * rng.gamma(4.0, 0.25, 20_000)
    redraw = redraw_of(sample_of(y, p, weight))
    assert np.median(redraw.weight[:, 0] / redraw.weight[:, 1]) == pytest.approx(5.0, rel=0.05)


@pytest.mark.parametrize("law", ["gamma", "label", "label and gamma", "prediction"])
@pytest.mark.parametrize("n", [300, 4000])
def test_sums_of_cells_and_rows_have_the_same_variance(law, n):
    """Also where predictions are wrong, which is not what weights are about."""
    from veridical.evaluation._figures.summary import grid_summary

    rng = np.random.default_rng(8)
    p = rng.random(n).round(3)
    y = (rng.random(n) < 0.15 + 0.7 * p).astype(int)
    noise = rng.gamma(2.0, size=n)
    weight = {
        "gamma": noise,
        "label": W[y],
        "label and gamma": W[y] * noise,
        "prediction": np.exp(3 * p) * noise,
    }[law]
    redraw = redraw_of(sample_of(y, p, weight))
    cells = grid_summary(y, p, sample_weight=weight, n_bins=10).cells()
    found = cell_variances(cells.p, cells.sums[:3]).sum()
    assert found == pytest.approx(redraw.variance[:, 1].sum(), rel=0.02)
    mean = cell_means(cells.p, cells.sums[:3]).sum()
    assert mean == pytest.approx(redraw.expected_weight @ redraw.p[:, 1], rel=0.02)
    if law == "label":
        assert mean == pytest.approx((p / (p / W[1] + (1 - p) / W[0])).sum(), rel=1e-4)
        assert found == pytest.approx(W[0] * W[1] * (p * (1 - p)).sum(), rel=1e-4)
    if law in ("gamma", "prediction"):
        assert found == pytest.approx((weight**2 * p * (1 - p)).sum(), rel=0.02)


# What must not matter.


def clustered(n_groups, size, seed, *, shared=False, correlation=0.3):
    """Calibrated rows of groups: outcomes of a Gaussian copula, predictions perhaps shared."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(n_groups), size)
    p = rng.uniform(0.1, 0.9, n_groups)[g] if shared else rng.uniform(0.1, 0.9, len(g))
    common = rng.normal(size=n_groups)[g]
    own = rng.normal(size=len(g))
    latent = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own
    return (latent < stats.norm.ppf(p)).astype(int), p, g


@pytest.mark.parametrize("weighted", [None, "importance", "frequency"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_order_of_rows_and_names_of_groups_do_not_matter(n_classes, weighted):
    y, p, g = clustered(15, 8, 0)
    rng = np.random.default_rng(9)
    if n_classes == 3:
        p = np.column_stack([1 - p, p * 0.6, p * 0.4])
        y = y * (1 + (rng.random(len(y)) < 0.4))
    w = None if weighted is None else rng.integers(1, 5, len(y)).astype(float)
    options = {"weight_type": weighted or "importance", "n_resamples": 99, "rng": 0}
    names = np.array([f"{k:02}" for k in rng.permutation(15)])
    order = rng.permutation(len(y))

    def values(rows, groups):
        weight = None if w is None else w[rows]
        level = null_level(
            BinnedError(UniformBins(5)),
            y[rows],
            p[rows],
            sample_weight=weight,
            groups=groups,
            **options,
        )
        tests = [
            each(y[rows], p[rows], sample_weight=weight, groups=groups, **options).pvalue
            for each in (joint_test, spiegelhalter_test, cox_test)
        ]
        return [*level.sample, *tests]

    first = values(np.arange(len(y)), g)
    assert first == pytest.approx(values(order, g[order]), rel=1e-9)
    assert first == pytest.approx(values(np.arange(len(y)), names[g]), rel=1e-9)


def test_rows_alone_in_their_group_are_rows():
    y, p, _ = clustered(20, 5, 1)
    for weight in (None, W[y], np.random.default_rng(0).gamma(2.0, size=100)):
        options = {"sample_weight": weight, "n_resamples": 99, "rng": 0}
        plain = joint_test(y, p, **options)
        alone = joint_test(y, p, groups=np.arange(100), **options)
        assert (plain.pvalue, plain.null) == (alone.pvalue, alone.null)


def test_copies_of_a_row_are_a_group():
    y, p, g = clustered(30, 2, 2)
    times = np.random.default_rng(1).integers(1, 5, 60)
    rows = np.repeat(np.arange(60), times)
    for groups in (g, np.arange(60)):
        options = {"n_resamples": 99, "rng": 0}
        counted = joint_test(
            y, p, sample_weight=times, weight_type="frequency", groups=groups, **options
        )
        written = joint_test(y[rows], p[rows], groups=groups[rows], **options)
        assert counted.null == written.null
        assert counted.pvalue == written.pvalue
        assert "together within" in counted.null


def test_a_constant_weight_is_none():
    y, p, g = clustered(20, 5, 3)
    for test in (joint_test, spiegelhalter_test, hosmer_lemeshow_test, cox_test, t_cal_test):
        plain = test(y, p, groups=g, n_resamples=99, rng=0)
        weighted = test(y, p, groups=g, sample_weight=np.full(100, 2.5), n_resamples=99, rng=0)
        assert plain.pvalue == weighted.pvalue
        assert plain.null == weighted.null
    same = redraw_of(sample_of(y, p, np.full(100, 2.5)))
    assert same is None


@pytest.mark.parametrize("test", [joint_test, spiegelhalter_test, cox_test, kernel_test])
def test_zero_weight_removes_rows_of_groups(test):
    y, p, g = clustered(20, 6, 4)
    w = np.random.default_rng(2).gamma(2.0, size=120)
    w[(g < 2) | (np.arange(120) % 7 == 0)] = 0
    some = w > 0
    options = {"n_resamples": 99, "rng": 0}
    whole = test(y, p, sample_weight=w, groups=g, **options)
    part = test(y[some], p[some], sample_weight=w[some], groups=g[some], **options)
    assert (whole.pvalue, whole.null) == (part.pvalue, part.null)


def test_weights_of_predictions_say_nothing_of_labels():
    # 1 / p: in order, each weight is the median of those around it, of either label.
    rng = np.random.default_rng(3)
    p = np.sort(rng.beta(0.7, 2, 300).clip(0.02))
    redraw = redraw_of(BinarySample(y=rng.random(300) < p, p=p, weight=1 / p))
    np.testing.assert_allclose(redraw.weight, np.column_stack([1 / p, 1 / p]), rtol=0.25)
