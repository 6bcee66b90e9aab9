"""Copies of rows: known where they are, not taken for ties, and never evidence."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from veridical.calibrators import BoostedCalibrator
from veridical.calibrators._base.folds import held_out_masses
from veridical.calibrators.core import CheckedRows
from veridical.calibrators.judging import without_copies
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.selection import AutoCalibrator


def sample(n, seed, n_classes=2, decimals=None):
    """Calibrated predictions, rounded to so many decimals."""
    rng = np.random.default_rng(seed)
    if n_classes == 2:
        p = expit(rng.normal(0, 1.5, n))
        p = p if decimals is None else np.round(p, decimals)
        return p, (rng.random(n) < p).astype(int)
    p = softmax(rng.normal(0, 1.5, (n, n_classes)), axis=1)
    if decimals is not None:
        p = np.maximum(np.round(p, decimals), 10.0**-decimals)
        p /= p.sum(axis=1, keepdims=True)
    return p, (p.cumsum(axis=1)[:, :-1] < rng.random((n, 1))).sum(axis=1)


def rows_of(p, y, **options):
    options = {"weight": None, "weight_type": "importance", **options}
    return CheckedRows(p, y, classes=tuple(range(int(y.max()) + 1)), **options)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("decimals", [None, 1, 2])
def test_a_sample_given_five_times_is_the_sample(n_classes, decimals):
    p, y = sample(400, 1, n_classes, decimals)
    order = np.random.default_rng(2).permutation(2000)
    rows, notes = without_copies(rows_of(np.repeat(p, 5, axis=0)[order], np.repeat(y, 5)[order]))
    assert "multiple of 5 times" in notes[0]
    ours, theirs = (np.column_stack(pair) for pair in ((rows.values, rows.y), (p, y)))
    assert sorted(ours.tolist()) == sorted(theirs.tolist())


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_copied_here_and_there_are_kept_together(n_classes):
    p, y = sample(120, 3, n_classes)
    taken = np.append(np.arange(120), np.random.default_rng(4).integers(0, 120, 150))
    rows, notes = without_copies(rows_of(p[taken], y[taken]))
    assert "270 rows count as 120" in notes[0]
    same = rows.groups[:, None] == rows.groups
    assert np.array_equal(same, taken[:, None] == taken)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_are_no_copies(n, decimals, n_classes):
    for seed in range(20):
        rows = rows_of(*sample(n, seed, n_classes, decimals))
        assert without_copies(rows) == (rows, ())


def test_ties_of_a_model_that_is_nearly_sure_are_no_copies():
    rng = np.random.default_rng(5)
    for _ in range(20):
        p = np.round(np.where(rng.random(1000) < 0.5, rng.beta(0.05, 3, 1000), 0.999), 3)
        assert not without_copies(rows_of(p, (rng.random(1000) < p).astype(int)))[1]


@pytest.mark.parametrize("noise", [0.0, 0.002])
def test_ties_around_a_step_are_no_copies(noise):
    """Scores that separate the classes agree within, and with their neighbours on either side."""
    rng = np.random.default_rng(0)
    x = rng.random(1000)
    y = ((x > 0.5) ^ (rng.random(1000) < noise)).astype(int)
    rows = CheckedRows(x.round(2), y, None, "importance", (0, 1))
    assert without_copies(rows) == (rows, ())


def test_who_says_what_belongs_together_is_believed():
    p, y = np.repeat(sample(50, 6), 3, axis=1)
    rows = rows_of(p, y.astype(int), groups=np.arange(150))
    assert without_copies(rows)[0].groups is None
    assert not without_copies(rows)[1]


def test_folds_never_part_a_group_and_part_classes():
    p, y = sample(300, 7)
    groups = np.random.default_rng(8).integers(0, 40, 300)
    rare = np.where(np.isin(groups, [3, 9]), 1, 0)
    for labels in (y, rare):
        masses = list(held_out_masses(rows_of(p, labels, groups=groups), 10))
        assert np.array_equal(sum(masses), np.ones(300))
        assert max(m.sum() for m in masses) <= 2 * min(m.sum() for m in masses)
        for mass in masses:
            shares = np.bincount(groups, mass) / np.bincount(groups)
            assert set(shares[~np.isnan(shares)].tolist()) <= {0.0, 1.0}
            assert len(np.unique(labels[mass == 0])) == 2


def test_folds_of_groups_know_neither_their_names_nor_the_order_of_rows():
    p, y = sample(200, 9)
    groups, names = np.arange(200) // 4, np.random.default_rng(10).permutation(50)
    order = np.random.default_rng(11).permutation(200)
    first = np.array(list(held_out_masses(rows_of(p, y, groups=groups), 5)))
    again = rows_of(p[order], y[order], groups=names[groups[order]])
    assert np.array_equal(np.array(list(held_out_masses(again, 5))), first[:, order])


def test_copies_gain_nothing():
    p, y = sample(80, 12)
    once = AutoCalibrator().fit(p, y).evidence_
    with pytest.warns(VeridicalWarning, match="AutoCalibrator: all rows occur a multiple of 5"):
        copied = AutoCalibrator().fit(np.repeat(p, 5), np.repeat(y, 5)).evidence_
    assert copied.verdict == once.verdict
    assert copied.n_samples == 80


@pytest.mark.parametrize("kind", [AutoCalibrator, BoostedCalibrator])
def test_groups_are_counted_as_one(kind):
    """Clusters that share an outcome and nearly a prediction: not copies to the last digit."""
    rng = np.random.default_rng(13)
    claims = 0
    for _ in range(6):
        z = np.repeat(rng.normal(0, 1.5, 60), 10)
        y = np.repeat(rng.random(60) < expit(z[::10]), 10).astype(int)
        p = expit(z + rng.normal(0, 0.01, 600))
        fitted = kind().fit(p, y, groups=np.repeat(np.arange(60), 10))
        if kind is AutoCalibrator:
            last = fitted.evidence_.candidates[-1]
            claims += last.high is not None and last.high < 0
        else:
            claims += fitted.gain_ > 2 * fitted.gain_error_
    assert claims <= 1


def test_groups_by_column_and_with_weights_of_zero():
    import polars as pl

    p, y = sample(200, 14)
    groups, w = np.arange(200) // 2, np.where(np.arange(200) % 7, 1.0, 0.0)
    frame = pl.DataFrame({"p": p, "y": y, "w": w, "patient": groups})
    named = AutoCalibrator().fit(frame, "y", "w", prob="p", groups="patient")
    given = AutoCalibrator().fit(p[w > 0], y[w > 0], w[w > 0], groups=groups[w > 0])
    np.testing.assert_allclose(named.predict_proba(p), given.predict_proba(p), atol=1e-12)
    assert any("groups of rows were kept together" in note for note in given.evidence_.notes)


def test_groups_of_another_length_are_refused():
    p, y = sample(50, 15)
    with pytest.raises(InvalidInputError, match="`groups` must be of shape"):
        AutoCalibrator().fit(p, y, groups=np.arange(49))
