"""Null levels and p-values of smECE, KS and sweep bins in evaluate; frequencies as weights."""

from __future__ import annotations

import numpy as np
import pytest

import veridical as v

NAMES = {
    "smECE": v.SmoothError(),
    "KS": v.CumulativeError(),
    "ECE sweep": v.BinnedError(v.SweepBins()),
}


def rows(n=400, power=1.0):
    rng = np.random.default_rng(3)
    p = rng.beta(1.2, 2.0, n)
    truth = p**power / (p**power + (1 - p) ** power)
    return (rng.random(n) < truth).astype(int), p


@pytest.mark.parametrize("name", NAMES)
def test_levels_are_those_of_the_public_functions(name):
    y, p = rows()
    found = v.evaluate(y, p, n_bins=5).error(name)
    level = v.null_level(NAMES[name], y, p, n_resamples=200, rng=0)
    assert found.value == pytest.approx(level.estimate)
    assert found.null_mean == pytest.approx(level.mean, abs=4 * level.std * np.sqrt(2 / 200))
    assert found.null_q95 == pytest.approx(level.quantile(0.95), rel=0.2)
    share = np.mean(level.sample >= level.estimate)
    assert found.pvalue == pytest.approx(share, abs=4 * np.sqrt(0.25 * 2 / 200))
    clearly_off = v.evaluate(*rows(2000, power=2.0), n_bins=5).error(name)
    assert clearly_off.pvalue == pytest.approx(1 / 201)


def test_they_follow_the_number_of_draws():
    y, p = rows()
    assert v.evaluate(y, p, n_bins=5, n_resamples=0).error("KS").pvalue is None
    assert v.evaluate(y, p, n_bins=5, n_resamples=19).error("KS").pvalue >= 1 / 20


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@pytest.mark.parametrize("lens", ["confidence", "classwise", "canonical"])
def test_they_are_for_one_probability(lens):
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(3), 200)
    y = (rng.random(200)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    names = {error.name for error in v.evaluate(y, p, lens=lens, n_resamples=20).errors}
    assert ("KS" in names) == (lens == "confidence")


def test_sums_have_them_too():
    y, p = rows(3000)
    summary = v.evaluation.grid_summary(y, p)
    direct, summed = v.evaluate(y, p), v.evaluate(summary)
    for name in NAMES:
        assert summed.error(name).null_mean == pytest.approx(direct.error(name).null_mean, rel=0.1)
    weight = np.random.default_rng(0).gamma(1.0, size=3000)
    summary = v.evaluation.grid_summary(y, p, sample_weight=weight)
    direct, summed = v.evaluate(y, p, sample_weight=weight), v.evaluate(summary)
    for name in NAMES:
        assert summed.error(name).null_mean == pytest.approx(direct.error(name).null_mean, rel=0.1)


def test_frequencies_are_repeated_rows():
    y, p = rows()
    times = np.random.default_rng(1).integers(0, 4, 400)
    weighted = v.evaluate(y, p, n_bins=5, sample_weight=times, weight_type="frequency")
    repeated = v.evaluate(np.repeat(y, times), np.repeat(p, times), n_bins=5)
    for one, two in zip(weighted.errors, repeated.errors, strict=True):
        assert one.name == two.name
        for field in ("value", "low", "high", "null_mean", "null_q95", "pvalue"):
            assert getattr(one, field) == pytest.approx(getattr(two, field)), (one.name, field)
    importance = v.evaluate(y, p, n_bins=5, sample_weight=times)
    assert importance.error("ECE").high > weighted.error("ECE").high  # fewer effective rows


def test_kinds_of_weights_are_checked(tmp_path):
    y, p = rows()
    with pytest.raises(v.InvalidInputError, match="did you mean 'frequency'"):
        v.evaluate(y, p, weight_type="freqency")
    import polars as pl

    frame = pl.DataFrame({"label": y, "p": p, "w": np.ones(400)}).lazy()
    options = {"y": "label", "prob": "p", "sample_weight": "w", "weight_type": "frequency"}
    with pytest.raises(v.InvalidInputError, match="got frequencies"):
        v.evaluate(frame, engine="pushdown", **options)
    assert v.evaluate(frame, **options).n_samples == 400
