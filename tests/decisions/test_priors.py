"""Adjusted and estimated class priors against closed forms and the iteration of the paper."""

from fractions import Fraction

import numpy as np
import pytest

from veridical import InvalidInputError
from veridical.decisions._priors.adjustment import adjust_priors
from veridical.decisions._priors.em import fit_priors, fit_priors_many
from veridical.decisions._priors.estimate import estimate_priors
from veridical.exceptions import VeridicalWarning
from veridical.results.decisions import PriorEstimate


def gaussian_rows(rng, n, priors, train, separation=1.5):
    """Labels and exact posteriors under `train` of Gaussian classes, one on each axis."""
    k = len(priors)
    y = rng.choice(k, size=n, p=priors)
    x = separation * np.eye(k)[y] + rng.standard_normal((n, k))
    odds = np.exp(separation * x) * np.asarray(train)
    return y, odds / odds.sum(axis=1, keepdims=True)


def em_of_the_paper(p, train, steps):
    """Saerens, Latinne & Decaestecker (2002), equation 2.9: adjust, average, repeat."""
    priors = np.array(train, dtype=float)
    for _ in range(steps):
        adjusted = p * (priors / train)
        priors = (adjusted / adjusted.sum(axis=1, keepdims=True)).mean(axis=0)
    return priors


class TestAdjustPriors:
    def test_bayes_theorem_in_fractions(self):
        """Posterior odds times the ratio of prior odds."""
        rng = np.random.default_rng(0)
        for _ in range(50):
            p, a, b = (Fraction(int(i), 100) for i in rng.integers(1, 100, 3))
            odds = p / (1 - p) * (b / (1 - b)) / (a / (1 - a))
            found = adjust_priors([float(p)], float(a), float(b))
            assert found[0] == pytest.approx(float(odds / (1 + odds)), rel=1e-14)

    def test_several_classes_by_hand(self):
        """(1/2, 1/3, 1/6) times (1/2, 1, 5/2) is (3, 4, 5) / 12."""
        found = adjust_priors([[1 / 2, 1 / 3, 1 / 6]], [0.6, 0.2, 0.2], [0.3, 0.2, 0.5])
        np.testing.assert_allclose(found[0], np.array([3, 4, 5]) / 12, rtol=1e-14)

    def test_posteriors_of_one_prior_become_those_of_the_other(self):
        train, deploy = [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]
        _, p = gaussian_rows(np.random.default_rng(1), 50, train, train)
        _, expected = gaussian_rows(np.random.default_rng(1), 50, train, deploy)
        np.testing.assert_allclose(adjust_priors(p, train, deploy), expected, rtol=1e-12)

    def test_one_column_and_two_agree_and_going_back_returns(self):
        p = np.linspace(0, 1, 11)
        there = adjust_priors(p, 0.3, 0.05)
        two = adjust_priors(np.column_stack([1 - p, p]), [0.7, 0.3], [0.95, 0.05])
        np.testing.assert_allclose(two[:, 1], there, rtol=1e-12)
        np.testing.assert_allclose(adjust_priors(there, 0.05, 0.3), p, rtol=1e-12)

    def test_zeros_ones_and_equal_priors_are_kept_exactly(self):
        assert adjust_priors([0.0, 1.0], 0.3, 0.9).tolist() == [0.0, 1.0]
        p = [[0.7, 0.2, 0.1]]
        assert adjust_priors(p, [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]).tolist() == p

    def test_an_impossible_class_loses_its_probability(self):
        found = adjust_priors([[0.5, 0.3, 0.2]], [0.2, 0.4, 0.4], [0.0, 0.5, 0.5])
        np.testing.assert_allclose(found, [[0.0, 0.6, 0.4]], rtol=1e-14)
        with pytest.raises(InvalidInputError, match="impossible classes in row 1"):
            adjust_priors([0.5, 1.0], 0.5, 0.0)

    def test_labels_name_the_columns(self):
        """One column is of the larger label, "yes", unless something says otherwise."""
        expected = adjust_priors([0.4], 0.5, 0.2)
        options = {"train": {"yes": 0.5, "no": 0.5}, "deploy": {"no": 0.8, "yes": 0.2}}
        np.testing.assert_array_equal(adjust_priors([0.4], **options), expected)
        for labels in (["no", "yes"], ["yes", "no"]):
            found = adjust_priors([0.4], labels=labels, pos_label="yes", **options)
            np.testing.assert_array_equal(found, expected)
        with pytest.raises(InvalidInputError, match="`pos_label` must be given for one column"):
            adjust_priors([0.4], labels=["yes", "no"], **options)
        flipped = adjust_priors([0.4], labels=["no", "yes"], pos_label="no", **options)
        np.testing.assert_allclose(flipped, adjust_priors([0.4], 0.5, 0.8), rtol=1e-14)
        found = adjust_priors([[0.4, 0.6]], [0.5, 0.5], [0.2, 0.8], labels=["yes", "no"])
        np.testing.assert_allclose(found[0, 0], expected[0], rtol=1e-14)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"train": 0.0, "deploy": 0.5}, "`train` must be positive for every class"),
            ({"train": 0.5, "deploy": 1.5}, r"`deploy` must be in \[0, 1\]"),
            ({"train": [0.5, 0.4], "deploy": 0.5}, "`train` must be shares that sum to 1"),
            ({"train": [0.5, 0.3, 0.2], "deploy": 0.5}, r"`train` must be of shape \(2,\)"),
            ({"train": {0: 0.5}, "deploy": 0.5}, "none for 1"),
            ({"train": {0: 0.5, "b": 0.5}, "deploy": 0.5}, "keys of one kind"),
            ({"train": {0: "half", 1: 0.5}, "deploy": 0.5}, "a mapping to numbers"),
            ({"train": 0.5, "deploy": 0.5, "labels": ["a"]}, "`labels` must be of 2 distinct"),
        ],
    )
    def test_bad_priors_are_refused(self, options, message):
        with pytest.raises(InvalidInputError, match=message):
            adjust_priors([0.2, 0.7], **options)

    def test_one_number_is_not_enough_for_three_classes(self):
        with pytest.raises(InvalidInputError, match="`train` must be 3 numbers"):
            adjust_priors([[0.2, 0.3, 0.5]], 0.5, 0.5)
        with pytest.raises(InvalidInputError, match="`pos_label` must be unset"):
            adjust_priors([[0.2, 0.3, 0.5]], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5], pos_label=1)


class TestLikelihood:
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_the_iteration_of_the_paper_ends_where_newton_does(self, seed):
        train, priors = np.array([0.2, 0.3, 0.5]), [0.6, 0.3, 0.1]
        _, p = gaussian_rows(np.random.default_rng(seed), 60, priors, train)
        fit = fit_priors(p, np.full(60, 1 / 60), train)
        np.testing.assert_allclose(fit.weights, em_of_the_paper(p, train, 3000), atol=1e-7)
        assert fit.violation <= 1e-10

    def test_an_absent_class_gets_exactly_nothing(self):
        """With two score values 0.8 and 0.2, fewer than 20 % of 0.8 mean a share below zero."""
        p = np.array([[0.2, 0.8]] * 1 + [[0.8, 0.2]] * 9)
        fit = fit_priors(p, np.full(10, 0.1), np.array([0.5, 0.5]))
        assert fit.weights.tolist() == [1.0, 0.0]

    def test_all_resamples_at_once_are_what_each_is_alone(self):
        rng = np.random.default_rng(3)
        train = np.array([0.2, 0.3, 0.5])
        _, p = gaussian_rows(rng, 40, [0.7, 0.28, 0.02], train)
        weights = rng.multinomial(40, np.full(40, 1 / 40), 30).astype(float)
        trains = rng.dirichlet([20, 30, 50], 30)
        start = fit_priors(p, np.full(40, 1 / 40), train).weights
        found = fit_priors_many(p, weights, trains, start)
        for one, weight, shares in zip(found, weights, trains, strict=True):
            alone = fit_priors(
                np.repeat(p, weight.astype(int), axis=0), np.full(40, 1 / 40), shares
            )
            np.testing.assert_allclose(one, alone.weights, atol=1e-6)
        assert (found == 0).any()  # some leave the simplex and are fitted one by one


class TestEstimatePriors:
    def test_two_scores_solve_a_linear_equation(self):
        """q = 0.7 s + 0.1 (1 - s) of the rows have the score of train odds 7 to 1."""
        for q in (0.25, 0.4, 0.55):
            scores = [0.875] * round(1000 * q) + [0.25] * (1000 - round(1000 * q))
            found = estimate_priors(scores, train=0.5, interval="analytic")
            share = (q - 0.1) / 0.6
            assert found.priors[1] == pytest.approx(share, abs=1e-8)
            # The share is linear in a binomial frequency.
            error = 1.959964 * np.sqrt(q * (1 - q) / 1000) / 0.6
            assert found.high[1] == pytest.approx(share + error, rel=1e-4)
            assert found.low[1] == pytest.approx(share - error, rel=1e-4)

    def test_noise_of_counted_training_shares_is_that_of_the_delta_method(self):
        """Infinite deployment data: only the share t of positives in the reference is uncertain.

        The derivative of the estimate comes from differences of estimates at other shares.
        """
        rng = np.random.default_rng(4)
        y, p = gaussian_rows(rng, 400, [0.6, 0.4], [0.6, 0.4])
        _, scores = gaussian_rows(rng, 300, [0.8, 0.2], [0.6, 0.4])
        weight = np.full(300, 1e9)
        found = estimate_priors(scores, reference=(y, p), sample_weight=weight,
                                weight_type="frequency", interval="analytic")  # fmt: skip
        t, step = (y == 1).mean(), 1e-4
        slope = np.subtract(*(estimate_priors(scores, train=t + s, interval="analytic").priors[1]
                              for s in (step, -step))) / (2 * step)  # fmt: skip
        error = 1.959964 * abs(slope) * np.sqrt(t * (1 - t) / 400)
        assert found.high[1] - found.priors[1] == pytest.approx(error, rel=1e-3)

    @pytest.mark.parametrize("method", ["em", "bbse", "bbse_soft"])
    def test_shifted_priors_are_recovered(self, method):
        rng = np.random.default_rng(5)
        train, priors = [0.3, 0.3, 0.4], [0.6, 0.3, 0.1]
        reference = gaussian_rows(rng, 20_000, train, train, 2.5)
        _, p = gaussian_rows(rng, 20_000, priors, train, 2.5)
        found = estimate_priors(p, method=method, reference=reference, interval="analytic")
        np.testing.assert_allclose(found.priors, priors, atol=0.02)
        assert found.priors.sum() == pytest.approx(1)
        assert ((found.low <= found.priors) & (found.priors <= found.high)).all()

    def test_hard_votes_solve_the_confusion_matrix(self):
        """Right in 3 of 4 negatives and 4 of 5 positives; 0.25 (1 - s) + 0.8 s = 0.36: s = 0.2."""
        y = [0] * 40 + [1] * 50
        p = [0.3] * 30 + [0.6] * 10 + [0.3] * 10 + [0.6] * 40
        scores = [0.6] * 36 + [0.3] * 64
        found = estimate_priors(scores, method="bbse", reference=(y, p), rng=0)
        np.testing.assert_allclose(found.priors, [0.8, 0.2], rtol=1e-12)
        analytic = estimate_priors(scores, method="bbse", reference=(y, p), interval="analytic")
        noise = 0.36 * 0.64 / 100 + 0.8**2 * 0.25 * 0.75 / 40 + 0.2**2 * 0.8 * 0.2 / 50
        reach = 1.959964 * np.sqrt(noise) / 0.55
        assert analytic.high[1] == pytest.approx(0.2 + reach, rel=1e-6)
        assert found.high[1] == pytest.approx(analytic.high[1], rel=0.15)

    @pytest.mark.parametrize("method", ["em", "bbse", "bbse_soft"])
    def test_bootstrap_and_analytic_limits_agree_on_many_rows(self, method):
        rng = np.random.default_rng(6)
        train, priors = [0.3, 0.3, 0.4], [0.5, 0.3, 0.2]
        reference = gaussian_rows(rng, 1500, train, train, 2)
        _, p = gaussian_rows(rng, 1500, priors, train, 2)
        options = {"method": method, "reference": reference, "rng": 0, "n_resamples": 500}
        one = estimate_priors(p, interval="bootstrap", **options)
        other = estimate_priors(p, interval="analytic", **options)
        np.testing.assert_allclose(one.high - one.low, other.high - other.low, rtol=0.15)
        assert (one.n_resamples, other.n_resamples) == (500, None)

    @pytest.mark.parametrize("method", ["em", "bbse", "bbse_soft"])
    def test_order_repetition_and_zero_weights_change_nothing(self, method):
        rng = np.random.default_rng(7)
        y, p = gaussian_rows(rng, 300, [0.5, 0.5], [0.5, 0.5])
        _, scores = gaussian_rows(rng, 80, [0.7, 0.3], [0.5, 0.5])
        weight = rng.integers(0, 4, 80)
        options = {"method": method, "rng": 0, "n_resamples": 50, "weight_type": "frequency"}
        found = estimate_priors(scores, reference=(y, p), sample_weight=weight, **options)
        order = rng.permutation(300)
        repeated = np.repeat(scores, weight, axis=0)[::-1]
        again = estimate_priors(repeated, reference=(y[order], p[order]), **options)
        for name in ("priors", "low", "high"):
            np.testing.assert_allclose(getattr(again, name), getattr(found, name), atol=1e-9)

    @pytest.mark.parametrize("interval", ["bootstrap", "analytic"])
    def test_importance_weights_have_no_scale(self, interval):
        rng = np.random.default_rng(8)
        _, p = gaussian_rows(rng, 100, [0.7, 0.3], [0.5, 0.5])
        weight = rng.random(100) + 0.5
        options = {"train": 0.5, "rng": 0, "n_resamples": 50, "interval": interval}
        one = estimate_priors(p, sample_weight=weight, **options)
        other = estimate_priors(p, sample_weight=1024 * weight, **options)
        np.testing.assert_allclose(one.high, other.high, atol=1e-9)

    def test_a_class_never_seen_has_the_limit_of_a_count_of_zero(self):
        """Sure of the other class in n rows: (1 - s)^n falls to exp(-1.96^2 / 2)."""
        found = estimate_priors([0.0] * 100, train=0.5, rng=0)
        assert found.priors.tolist() == [1.0, 0.0]
        assert found.high[1] == pytest.approx(1 - np.exp(-(1.959964**2) / 200), rel=1e-5)
        assert found.low[0] == pytest.approx(1 - found.high[1])

    def test_predictions_that_say_nothing_leave_everything_open(self):
        with pytest.warns(VeridicalWarning, match="not identified"):
            found = estimate_priors([0.3] * 100, train=0.3, rng=0)
        assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [1, 1])

    def test_miscalibrated_references_raise_a_doubt(self):
        y, p = gaussian_rows(np.random.default_rng(9), 500, [0.5, 0.5], [0.5, 0.5])
        biased = adjust_priors(p, 0.5, 0.7)
        with pytest.warns(VeridicalWarning, match="em supposes calibrated"):
            found = estimate_priors(p, reference=(y, biased), n_resamples=20, rng=0)
        assert len(found.notes) == 1

    def test_weak_confusion_matrices_raise_a_doubt_or_an_error(self):
        """0.52 and 0.5 of positive votes in the two classes: a condition number near 100."""
        y = [0] * 100 + [1] * 100
        p = [0.6] * 50 + [0.4] * 50 + [0.6] * 52 + [0.4] * 48
        with pytest.warns(VeridicalWarning) as caught:
            estimate_priors([0.6] * 60 + [0.4] * 40, method="bbse", reference=(y, p), rng=0)
        messages = " ".join(str(w.message) for w in caught)
        assert "ill-conditioned" in messages
        assert "was cut to 0" in messages
        with pytest.raises(InvalidInputError, match="a singular confusion matrix"):
            estimate_priors([0.4] * 60, method="bbse", reference=(y, [0.4] * 200))

    def test_results_say_what_they_are_and_travel_as_json(self):
        with pytest.warns(VeridicalWarning, match="20 rows"):
            found = estimate_priors(
                [0.8] * 10 + [0.2] * 10, train={"no": 0.5, "yes": 0.5}, n_resamples=20, rng=0
            )
        assert found.classes == ("no", "yes")
        assert PriorEstimate.from_json(found.to_json()) == found
        assert found.to_frame()["prior"].to_list() == found.priors.tolist()
        assert "supposes label shift" in str(found)
        assert "<td>yes</td>" in found._repr_html_()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, "`train` must be given"),
            ({"method": "bbse"}, "`reference` must be given"),
            ({"method": "bbse", "train": 0.5}, "`train` must be unset"),
            ({"method": "emm", "train": 0.5}, "did you mean 'em'"),
            ({"reference": [0, 1, 1, 1]}, r"`reference` must be \(y_true, y_prob"),
            ({"reference": ([1, 1], [0.2, 0.3])}, "no row of class 0"),
            ({"reference": ([0, 2, 1], np.eye(3))}, "`reference` must be of 2 distinct"),
        ],
    )
    def test_missing_and_misplaced_information_is_refused(self, options, message):
        with pytest.raises(InvalidInputError, match=message):
            estimate_priors([0.2, 0.7], **options)
