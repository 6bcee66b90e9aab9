"""Drift: what changes, what stays, and what becomes known when."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import expon, ks_2samp, kstest, norm

from veridical.exceptions import InvalidInputError
from veridical.simulation import survey_three_class_task, two_normals_task
from veridical_lab.simulation import (
    DriftStream,
    GroupDrift,
    LabelDelay,
    PriorShift,
    TaskPredictions,
    TemperatureDrift,
)

TASK = two_normals_task()
CALIBRATED = TaskPredictions(TASK, TASK.posterior)


def stream(drift, **options):
    settings = {"n_batches": 4, "batch_size": 200, "start": 2, "rng": 0} | options
    return DriftStream(CALIBRATED, drift, **settings)


def shifted(n, prior=(0.8, 0.2), **options):
    return stream(PriorShift(prior), n_batches=1, batch_size=n, start=0, **options).batch(0)


@dataclass
class OneColumn:
    """Scores spread evenly, as a fake classifier hands them out: one probability a row."""

    def sample(self, n, *, rng=None):
        p = rng.random(n)
        y = (rng.random(n) < p).astype(int)
        return type("Rows", (), {"y": y, "y_prob": p, "p_true": p})()


def test_before_the_start_nothing_has_changed():
    for drift in (PriorShift((0.9, 0.1)), TemperatureDrift(2.0)):
        for batch in list(stream(drift))[:2]:
            assert batch.intensity == 0
            np.testing.assert_allclose(batch.y_prob, batch.p_true, atol=1e-15)


@pytest.mark.parametrize(
    ("start", "until", "expected"),
    [
        (2, None, [0, 0, 1, 1, 1, 1]),
        (0, None, [1] * 6),
        (1, 5, [0, 0, 0.25, 0.5, 0.75, 1]),
        (0.5, 1.5, [0, 0.5, 1, 1, 1, 1]),
        (9, 12, [0] * 6),
        (-4, 4, [0.5, 0.625, 0.75, 0.875, 1, 1]),
    ],
)
def test_sudden_and_gradual(start, until, expected):
    found = stream(TemperatureDrift(2.0), n_batches=6, start=start, until=until)
    assert [batch.intensity for batch in found] == expected


def test_true_probabilities_under_a_prior_shift():
    """Log odds move by the log of the ratio of prior odds: here from 1 to 1 / 4."""
    batch = shifted(2000)
    expected = expit(logit(batch.y_prob[:, 1]) - math.log(4))
    np.testing.assert_allclose(batch.p_true[:, 1], expected, rtol=1e-9)
    np.testing.assert_allclose(batch.p_true.sum(axis=1), 1, rtol=1e-12)


def test_half_a_prior_shift():
    """Between (1/2, 1/2) and (0.9, 0.1) half way lies (0.7, 0.3)."""
    batch = stream(PriorShift((0.9, 0.1)), start=0, until=2).batch(1)
    assert batch.intensity == 0.5
    expected = expit(logit(batch.y_prob[:, 1]) + math.log(3 / 7))
    np.testing.assert_allclose(batch.p_true[:, 1], expected, rtol=1e-9)


def test_a_prior_shift_changes_the_classes_but_not_what_is_in_them():
    n = 40_000
    before = stream(PriorShift((0.8, 0.2)), n_batches=1, batch_size=n, start=5, rng=1).batch(0)
    after = shifted(n, rng=2)
    assert abs((after.y_true == 1).mean() - 0.2) < 4 * math.sqrt(0.16 / n)
    assert abs(after.p_true[:, 1].mean() - 0.2) < 4 * after.p_true[:, 1].std() / math.sqrt(n)
    for label in (-1, 1):
        old, new = (b.y_prob[b.y_true == label, 1] for b in (before, after))
        assert ks_2samp(old, new).pvalue > 1e-3
        # The law of the log odds 2 x within a class is known: normal, deviation 2.
        assert kstest(logit(new), norm(2 * label, 2).cdf).pvalue > 1e-3


def test_outcomes_follow_the_true_probabilities_not_the_reported_ones():
    batch = shifted(40_000, rng=3)
    hit = batch.y_true == 1
    for low, high in ((0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1)):
        rows = (batch.p_true[:, 1] >= low) & (batch.p_true[:, 1] < high)
        p = batch.p_true[rows, 1]
        spread = math.sqrt((p * (1 - p)).sum())
        assert abs(hit[rows].sum() - p.sum()) < 4 * spread
        assert batch.y_prob[rows, 1].sum() - hit[rows].sum() > 4 * spread


def test_the_miscalibration_of_a_prior_shift_is_known():
    """Mean of reported less true is an integral over the shifted density."""
    density = lambda x: 0.8 * norm.pdf(x, -1) + 0.2 * norm.pdf(x, 1)  # noqa: E731
    gap = lambda x: density(x) * (expit(2 * x) - expit(2 * x - math.log(4)))  # noqa: E731
    expected = quad(gap, -14, 14, points=[-2, 0, 2])[0]
    batch = shifted(60_000, rng=4)
    gaps = batch.y_prob[:, 1] - batch.p_true[:, 1]
    assert (gaps > 0).all()
    assert abs(gaps.mean() - expected) < 4 * gaps.std() / math.sqrt(len(gaps))


def test_three_classes_under_a_prior_shift_are_those_of_the_task_with_that_prior():
    task, prior = survey_three_class_task(), (0.1, 0.3, 0.6)
    seen = []

    def classifier(x):
        seen.append(x)
        return task.posterior(x)

    source = TaskPredictions(task, classifier)
    batch = DriftStream(
        source, PriorShift(prior), n_batches=1, batch_size=3000, start=0, rng=5
    ).batch(0)
    x = np.concatenate(seen[1:])  # the first are those that check the source
    old, new = task.posterior(x), task.with_prior(prior).posterior(x)
    at = {tuple(row): i for i, row in enumerate(old)}
    rows = [at[tuple(row)] for row in batch.y_prob]
    np.testing.assert_allclose(batch.p_true, new[rows], rtol=1e-9)
    share = np.array([(batch.y_true == label).mean() for label in (1, 2, 3)])
    assert (np.abs(share - prior) < 4 * np.sqrt(np.array(prior) / 3000)).all()


def test_temperature_drift_multiplies_log_odds_and_leaves_the_truth():
    batch = stream(TemperatureDrift(1.5), start=0).batch(0)
    expected = expit(1.5 * logit(batch.p_true[:, 1]))
    np.testing.assert_allclose(batch.y_prob[:, 1], expected, rtol=1e-9)
    half = stream(TemperatureDrift(1.5), start=0, until=2).batch(1)
    expected = expit(1.25 * logit(half.p_true[:, 1]))
    np.testing.assert_allclose(half.y_prob[:, 1], expected, rtol=1e-9)
    # Over-confident: further from one half than the truth, everywhere.
    assert (np.abs(batch.y_prob - 0.5) >= np.abs(batch.p_true - 0.5)).all()


def test_a_drift_of_a_group_leaves_the_others_alone():
    batch = stream(GroupDrift(TemperatureDrift(2.0), 0.25), batch_size=20_000, start=0).batch(0)
    assert abs(batch.group.mean() - 0.25) < 4 * math.sqrt(0.1875 / 20_000)
    inside, outside = batch.group, ~batch.group
    np.testing.assert_allclose(batch.y_prob[outside], batch.p_true[outside], atol=1e-15)
    expected = expit(2 * logit(batch.p_true[inside, 1]))
    np.testing.assert_allclose(batch.y_prob[inside, 1], expected, rtol=1e-9)
    shift = stream(GroupDrift(PriorShift((0.9, 0.1)), 0.5), batch_size=20_000, start=0).batch(0)
    for group, share in ((True, 0.1), (False, 0.5)):
        rows = shift.group == group
        spread = math.sqrt(share * (1 - share) / rows.sum())
        assert abs((shift.y_true[rows] == 1).mean() - share) < 4 * spread
    assert stream(TemperatureDrift(2.0)).batch(0).group.all()


def test_batches_do_not_depend_on_how_they_are_drawn():
    drift = PriorShift((0.7, 0.3))
    in_order = list(stream(drift))
    again = stream(drift)
    for index in (3, 0, 3, 2):
        alone = again.batch(index)
        for name in ("y_true", "y_prob", "p_true", "label_time", "id", "time"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(in_order[index], name))
    assert not np.array_equal(in_order[0].y_prob, in_order[1].y_prob)
    assert not np.array_equal(stream(drift, rng=1).batch(0).y_prob, in_order[0].y_prob)
    unseeded = stream(drift, rng=None)
    np.testing.assert_array_equal(unseeded.batch(1).y_prob, unseeded.batch(1).y_prob)


def test_start_and_delay_leave_the_rows_alone():
    drift = TemperatureDrift(2.0)
    early, late = stream(drift, start=1), stream(drift, start=3)
    slow = stream(drift, start=1, delay=LabelDelay(3, "exponential", never=0.5))
    np.testing.assert_array_equal(early.batch(0).y_prob, late.batch(0).y_prob)
    np.testing.assert_array_equal(early.batch(2).p_true, late.batch(2).p_true)
    np.testing.assert_array_equal(early.batch(2).y_true, slow.batch(2).y_true)


def test_rows_are_numbered_and_timed():
    batches = list(stream(TemperatureDrift(2.0), batch_size=2))
    assert np.concatenate([batch.id for batch in batches]).tolist() == list(range(8))
    assert batches[3].time.tolist() == [3.25, 3.75]
    assert batches[3].label_time.tolist() == [3.25, 3.75]
    assert len(stream(TemperatureDrift(2.0))) == 4
    assert len(batches[0]) == 2
    assert set(batches[0].y_true.tolist()) <= {-1, 1}


def test_fixed_delays_and_what_is_known():
    batch = stream(TemperatureDrift(2.0), batch_size=4, delay=LabelDelay(1.5)).batch(1)
    assert batch.label_time.tolist() == [2.625, 2.875, 3.125, 3.375]
    assert batch.known(3.125).tolist() == [True, True, True, False]
    assert not batch.known(1.9).any()


@pytest.mark.parametrize("never", [0.0, 0.3])
def test_laws_of_delays(never):
    n, rng = 20_000, np.random.default_rng(6)
    for kind in ("exponential", "geometric", "fixed"):
        delay = LabelDelay(2.0, kind, never).draw(n, rng)
        lost = np.isinf(delay)
        assert abs(lost.mean() - never) <= 4 * math.sqrt(never * (1 - never) / n)
        delay = delay[~lost]
        if kind == "exponential":
            assert kstest(delay, expon(scale=2).cdf).pvalue > 1e-3
        elif kind == "geometric":  # P(d) = (1/3) (2/3)^d: mean 2, variance 6
            assert (delay == delay.round()).all()
            assert abs(delay.mean() - 2) < 4 * math.sqrt(6 / len(delay))
            assert abs((delay == 0).mean() - 1 / 3) < 4 * math.sqrt(2 / 9 / len(delay))
        else:
            assert (delay == 2).all()


def test_one_column_stays_one_column():
    drifting = DriftStream(
        OneColumn(), PriorShift((0.75, 0.25)), n_batches=1, start=0, prior=[0.5, 0.5], rng=0
    )
    batch = drifting.batch(0)
    assert batch.y_prob.shape == batch.p_true.shape == (500,)
    expected = expit(logit(batch.y_prob) - math.log(3))
    np.testing.assert_allclose(batch.p_true, expected, rtol=1e-9)
    assert drifting.labels.tolist() == [0, 1]


def test_wrong_input():
    drift = TemperatureDrift(2.0)
    for wrong, message in (
        (lambda: stream("sudden"), "`drift` must be a drift"),
        (lambda: stream(drift, delay=3), "`delay` must be a label delay"),
        (lambda: stream(drift, start=3, until=2), "`until` must be a number from `start` on"),
        (lambda: stream(drift, n_batches=0), "`n_batches` must be a positive integer"),
        (lambda: stream(drift).batch(4), "`index` must be an integer from 0 to 3"),
        (lambda: DriftStream(TASK.posterior, drift), "`source` must be able to `sample`"),
        (lambda: DriftStream(TASK, drift), "`source` must be one of known predictions"),
        (lambda: stream(PriorShift((0.5, 0.3, 0.2))), "`prior` must be a list of 2"),
        (lambda: DriftStream(OneColumn(), PriorShift((0.5, 0.5))), "`prior` must be given"),
        (lambda: stream(drift, prior=[0.6, 0.4]), "`prior` must be that of the source"),
        (lambda: TemperatureDrift(0), "`temperature` must be a positive number"),
        (lambda: GroupDrift(drift, 1.0), "`share` must be between 0 and 1"),
        (lambda: GroupDrift(GroupDrift(drift, 0.5), 0.5), "`drift` must be a drift of rows"),
        (lambda: LabelDelay(-1), "`mean` must be zero or more"),
        (lambda: LabelDelay(1, "poisson"), "`kind` must be one of"),
        (lambda: LabelDelay(1, never=1), r"`never` must be in \[0, 1\)"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            wrong()
