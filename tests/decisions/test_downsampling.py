"""Downsampling against counts of rows in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from veridical import InvalidInputError
from veridical.decisions._priors.adjustment import correct_downsampling


def test_kept_counts_give_back_the_frequencies_before():
    """a positives and b negatives in a cell; of the negatives one in r is kept."""
    for a, b, r in [(1, 9, 3), (5, 1000, 10), (7, 64, 64), (3, 1, 1)]:
        thinned = Fraction(a) / (a + Fraction(b, r))
        found = correct_downsampling([float(thinned)], 1 / r)
        assert found[0] == pytest.approx(float(Fraction(a, a + b)), rel=1e-14)


@pytest.mark.parametrize("counts", [(600, 300, 100), (90, 9, 1)])
def test_rates_of_every_class_give_back_the_frequencies_before(counts):
    rates = (Fraction(1, 10), Fraction(1, 3), Fraction(1))
    kept = [c * r for c, r in zip(counts, rates, strict=True)]
    thinned = [[float(k / sum(kept)) for k in kept]]
    expected = np.array(counts) / sum(counts)
    found = correct_downsampling(thinned, [float(r) for r in rates])
    np.testing.assert_allclose(found[0], expected, rtol=1e-14)
    named = correct_downsampling(thinned, {0: 0.1, 1: 1 / 3})  # class 2 is kept whole
    np.testing.assert_allclose(named[0], expected, rtol=1e-14)


def test_the_rate_is_that_of_the_negative_class_whichever_it_is():
    """Odds of 1 to 1 become 1 to 10."""
    assert correct_downsampling([0.5], 0.1)[0] == pytest.approx(1 / 11, rel=1e-14)
    assert correct_downsampling([[0.5, 0.5]], 0.1)[0].tolist() == pytest.approx([10 / 11, 1 / 11])
    swapped = correct_downsampling([[0.5, 0.5]], 0.1, labels=["yes", "no"])
    assert swapped[0].tolist() == pytest.approx([1 / 11, 10 / 11])
    named = correct_downsampling([0.5], {"no": 0.1}, labels=["no", "yes"])
    assert named[0] == pytest.approx(1 / 11, rel=1e-14)
    positive = correct_downsampling([0.5], {"no": 0.1}, labels=["no", "yes"], pos_label="no")
    assert positive[0] == pytest.approx(10 / 11, rel=1e-14)


def test_whole_samples_and_sure_predictions_are_kept_exactly():
    p = np.random.default_rng(0).random(20)
    np.testing.assert_array_equal(correct_downsampling(p, 1.0), p)
    assert correct_downsampling([0.0, 1.0], 0.01).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.5, [0.5, 2.0], {1: 0}])
def test_rates_are_shares(rate):
    with pytest.raises(InvalidInputError, match=r"`rate` must be in \(0, 1\]"):
        correct_downsampling([0.5], rate)
