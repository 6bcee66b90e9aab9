"""Cumulative errors against a running sum over sorted rows; ties."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import ClassSpecific, InvalidInputError
from veridical.miscalibration._errors.ordered import CumulativeError

KS, KUIPER = CumulativeError("ks"), CumulativeError("kuiper")


def running_sums(y, p, w=None):
    """Cumulated residuals over the total weight, at zero and after each distinct score."""
    w = oracles.ones(w, len(p))
    rows = list(zip(map(float, p), map(int, y), w, strict=True))
    sums = [0.0]
    for score in sorted({row[0] for row in rows}):
        sums.append(sum(wi * (yi - pi) for pi, yi, wi in rows if pi <= score) / sum(w))
    return sums


def row_by_row(y, p, order):
    """Sums looked at after every row, in the given order."""
    return np.cumsum((y - p)[order]) / len(y)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_errors_are_those_of_a_running_sum(kind):
    for seed in range(5):
        y, p, w = oracles.random_rows(kind, seed=seed)
        sums = running_sums(y, p, w)
        found = KS(y, p, sample_weight=w)
        assert found == pytest.approx(max(map(abs, sums)), abs=1e-13)
        found = KUIPER(y, p, sample_weight=w)
        assert found == pytest.approx(max(sums) - min(sums), abs=1e-13)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("positive", [0, 4, 10])
@pytest.mark.parametrize("estimator", [KS, KUIPER])
def test_one_score_has_the_gap_to_its_frequency(p, positive, estimator):
    y = [1] * positive + [0] * (10 - positive)
    assert estimator(y, [p] * 10) == pytest.approx(abs(positive / 10 - p), abs=1e-15)


@pytest.mark.parametrize("estimator", [KS, KUIPER])
def test_with_one_class_the_error_is_the_gap_of_the_means(estimator):
    p = np.array([0.1, 0.4, 0.4, 0.9])
    assert estimator([1, 1, 1, 1], p) == pytest.approx(1 - p.mean())
    assert estimator([0, 0, 0, 0], p) == pytest.approx(p.mean())


def test_frequencies_equal_to_the_scores_have_no_error():
    y, p = [0, 1, 0, 0, 0, 1, 0, 1], [0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.0, 1.0]
    assert KS(y, p) == 0
    assert KUIPER(y, p) == 0


@pytest.mark.parametrize("estimator", [KS, KUIPER])
def test_order_within_ties_cannot_matter(estimator):
    y, p, _ = oracles.random_rows("tied", 400)
    expected = estimator(y, p)
    rng = np.random.default_rng(0)
    for _ in range(20):
        order = np.lexsort((rng.random(400), p))
        assert estimator(y[order], p[order]) == pytest.approx(expected, abs=1e-15)


def test_jitter_breaks_ties_at_random_and_only_raises_the_error():
    """MAPIE multiplies scores by 1 + 1e-8 Z, which looks inside groups of equal scores."""
    y, p = np.array([0, 1] * 100), np.full(200, 0.5)
    rng = np.random.default_rng(1)
    jittered = [
        np.abs(row_by_row(y, p, np.argsort(p * (1 + 1e-8 * rng.normal(size=200))))).max()
        for _ in range(20)
    ]
    assert KS(y, p) == 0
    assert min(jittered) > 0.01
    assert max(jittered) - min(jittered) > 0.005
    y, p, _ = oracles.random_rows("tied", 300)
    for _ in range(20):
        sums = row_by_row(y, p, np.lexsort((rng.random(300), p)))
        assert np.abs(sums).max() >= KS(y, p) - 1e-12
        assert max(sums.max(), 0) - min(sums.min(), 0) >= KUIPER(y, p) - 1e-12


def test_without_ties_the_sums_are_those_in_mapie_s_documentation():
    # mapie.metrics.calibration.cumulative_differences (1.6.0): [-0.1, -0.3, -0.2]
    y, p = [1, 0, 0], [0.7, 0.3, 0.6]
    assert running_sums(y, p)[1:] == pytest.approx([-0.1, -0.3, -0.2])
    assert KS(y, p) == pytest.approx(0.3)
    assert KUIPER(y, p) == pytest.approx(0.3)


def test_kuiper_is_between_once_and_twice_the_ks_error_and_below_that_of_equal_scores():
    for seed in range(20):
        y, p, _ = oracles.random_rows("tied", seed=seed)
        ks, kuiper = KS(y, p), KUIPER(y, p)
        gaps = sum(abs((y - p)[p == v].sum()) for v in set(p.tolist())) / len(y)
        assert ks <= kuiper <= min(2 * ks, gaps) + 1e-15


def test_calibrated_predictions_read_what_the_docstring_says():
    rng = np.random.default_rng(2)
    p = rng.random((400, 1000))
    y = (rng.random(p.shape) < p).astype(int)
    unit = np.sqrt(1 / 6 / 1000)  # mean of p (1 - p) is 1/6
    ks = np.mean([KS(*rows) for rows in zip(y, p, strict=True)])
    kuiper = np.mean([KUIPER(*rows) for rows in zip(y, p, strict=True)])
    assert ks == pytest.approx(1.25 * unit, rel=0.08)  # standard error 2 %, and discrete steps
    assert kuiper == pytest.approx(1.60 * unit, rel=0.08)


@pytest.mark.parametrize("estimator", [KS, KUIPER])
def test_weights_and_row_order_obey_the_laws(estimator, binary):
    y, p, w = binary.y, binary.p, binary.w
    rng = np.random.default_rng(4)
    times, order = rng.integers(0, 4, len(y)), rng.permutation(len(y))
    weighted = estimator(y, p, sample_weight=w)
    close = {"abs": 1e-12}
    assert estimator(y, p, sample_weight=np.ones(len(y))) == pytest.approx(estimator(y, p), **close)
    assert estimator(y, p, sample_weight=9 * w) == pytest.approx(weighted, **close)
    moved = estimator(y[order], p[order], sample_weight=w[order])
    assert moved == pytest.approx(weighted, **close)
    repeated = estimator(np.repeat(y, times), np.repeat(p, times))
    for kind in ("importance", "frequency"):
        found = estimator(y, p, sample_weight=times, weight_type=kind)
        assert found == pytest.approx(repeated, **close)


def test_classwise_is_the_mean_over_classes_and_vectors_are_refused(multiclass):
    y, p, w = multiclass.y, multiclass.p, multiclass.w
    for estimator in (KS, KUIPER):
        each = [estimator(y, p, lens=ClassSpecific(k), sample_weight=w) for k in range(3)]
        found = estimator(y, p, lens="classwise", sample_weight=w)
        assert found == pytest.approx(np.mean(each), abs=1e-12)
        with pytest.raises(InvalidInputError, match="CumulativeError: `lens`"):
            estimator(y, p, lens="canonical")


def test_unknown_statistics_are_refused():
    for statistic in ("kolmogorov", "KS", None, 1):
        with pytest.raises(InvalidInputError, match="`statistic` must be one of 'ks', 'kuiper'"):
            CumulativeError(statistic)


def test_names_and_definitions():
    assert (KS.name, KUIPER.name) == ("KS", "Kuiper")
    assert KS.definition.startswith("largest absolute value of the cumulated differences")
    assert KUIPER.definition.startswith("range, with zero, of the cumulated differences")
    assert CumulativeError() == KS
