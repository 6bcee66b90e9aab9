"""Decompositions with a known posterior, and what `decompose` refuses."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import InvalidInputError, decompose


@pytest.fixture
def binary():
    rng = np.random.default_rng(0)
    q = rng.integers(1, 10, 80) / 10
    p = np.clip(np.round(q**2, 1), 0.1, 0.9)
    return (rng.random(80) < q).astype(int), p, q


def mean(values, w=None):
    return float(np.average(values, weights=w))


@pytest.mark.parametrize("rule", ["brier", "log", "spherical", "zero-one"])
@pytest.mark.parametrize("method", ["unique", "isotonic", "bins"])
def test_epistemic_irreducible_and_grouping_loss_have_their_definitions(binary, rule, method):
    y, p, q = binary
    d = decompose(y, p, rule=rule, method=method, n_bins=5, posterior=q)
    if method == "isotonic":
        c = oracles.isotonic(y, p)
    else:
        bins = p if method == "unique" else oracles.bins_by_edges(p, oracles.uniform_edges(5))
        means = {cell["bin"]: cell["mean_y"] for cell in oracles.bin_means(y, p, list(bins))}
        c = [means[b] for b in bins]
    scale = 0.5 if rule == "brier" else 1.0

    def expected(a, b):
        return scale * oracles.expected_score(rule, (1 - a, a), (1 - b, b))

    truth = [expected(b, b) for b in q]
    assert d.irreducible == pytest.approx(mean(truth))
    epistemic = [expected(a, b) - h for a, b, h in zip(p, q, truth, strict=True)]
    assert d.epistemic == pytest.approx(mean(epistemic))
    grouping = [expected(a, b) - h for a, b, h in zip(c, q, truth, strict=True)]
    assert d.grouping == pytest.approx(mean(grouping))


def test_two_columns_of_posterior_are_one_probability(binary):
    y, p, q = binary
    expected = decompose(y, p, posterior=q)
    pairs = np.column_stack([1 - p, p]), np.column_stack([1 - q, q])
    found = decompose(y, pairs[0], posterior=pairs[1])
    assert found.epistemic == pytest.approx(expected.epistemic)
    assert found.grouping == pytest.approx(expected.grouping)


def test_the_posterior_follows_the_positive_class(binary):
    y, p, q = binary
    pairs = np.column_stack([1 - p, p]), np.column_stack([1 - q, q])
    expected = decompose(y, pairs[0], posterior=pairs[1])
    turned = decompose(y, pairs[0], posterior=pairs[1], pos_label=0)
    assert turned.epistemic == pytest.approx(expected.epistemic)
    perfect = decompose(y, pairs[1], posterior=pairs[1], pos_label=0)
    assert perfect.epistemic == pytest.approx(0, abs=1e-12)


def test_rows_of_weight_zero_leave_the_posterior_too(binary):
    y, p, q = binary
    w = np.random.default_rng(1).integers(0, 3, 80)
    found = decompose(y, p, posterior=q, sample_weight=w)
    kept = decompose(y[w > 0], p[w > 0], posterior=q[w > 0], sample_weight=w[w > 0])
    assert found == kept
    repeated = decompose(np.repeat(y, w), np.repeat(p, w), posterior=np.repeat(q, w))
    assert found.epistemic == pytest.approx(repeated.epistemic)


def test_text_shows_the_known_parts(binary):
    y, p, q = binary
    text = str(decompose(y, p, posterior=q))
    assert "epistemic" in text
    assert "irreducible" in text
    assert "grouping" in text


@pytest.mark.parametrize(
    ("posterior", "message"),
    [
        ([0.5] * 79, "`posterior` must be"),
        ([0.5] * 81, "`posterior` must be"),
        ([1.5] * 80, r"`posterior` must be in \[0, 1\]"),
        ([float("nan")] * 80, "`posterior` must be finite"),
        ([[0.5, 0.25, 0.25]] * 80, "`posterior` must be of shape"),
        (["a"] * 80, "`posterior` must be"),
        ([[0.9, 0.9]] * 80, "`posterior` must be rows that sum to 1"),
    ],
    ids=lambda value: str(value)[:30],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_posterior_looks_like_the_predictions(binary, posterior, message, weighted):
    y, p, _ = binary
    w = np.ones(80) if weighted else None
    with pytest.raises(InvalidInputError, match=message):
        decompose(y, p, posterior=posterior, sample_weight=w)


def test_a_posterior_is_one_of_the_whole_prediction():
    p = [[0.5, 0.25, 0.25]] * 6
    with pytest.raises(InvalidInputError, match="`lens` must be unset with a posterior"):
        decompose([0, 1, 2] * 2, p, posterior=p, lens="confidence")
    with pytest.raises(InvalidInputError, match="`lens` must be unset with a posterior"):
        decompose([0, 1, 2] * 2, p, posterior=p, lens="classwise")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "briers"}, "did you mean 'brier'"),
        ({"method": "isotonik"}, "did you mean 'isotonic'"),
        ({"lens": "nonsense"}, "`lens` must be one of"),
        ({"n_bins": 0, "method": "bins"}, "`n_bins` must be a positive integer"),
        ({"weight_type": "x"}, "`weight_type` must be one of"),
    ],
    ids=str,
)
def test_unknown_options_are_answered_with_the_nearest(binary, options, message):
    y, p, _ = binary
    with pytest.raises(InvalidInputError, match=message):
        decompose(y, p, **options)


def test_vectors_have_no_isotonic_fit():
    with pytest.raises(InvalidInputError, match="`method` must be one defined for vectors"):
        decompose([0, 1, 2], [[0.5, 0.25, 0.25]] * 3, method="isotonic")
