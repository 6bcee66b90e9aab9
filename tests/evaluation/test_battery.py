"""Several tests at once: the numbers are theirs, the correction Holm's, the words follow."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import veridical as v
from veridical.evaluation._battery.tests import calibration_tests
from veridical.results.base import format_pvalue
from veridical.results.tests import TestReport

UNASKED = ("consistency", "spiegelhalter", "hosmer-lemeshow", "cox", "t-cal")


def holm(pvalues):
    """Holm (1979), step by step."""
    adjusted, largest = {}, 0.0
    for rank, i in enumerate(sorted(range(len(pvalues)), key=lambda i: pvalues[i])):
        largest = max(largest, (len(pvalues) - rank) * pvalues[i])
        adjusted[i] = min(1.0, largest)
    return [adjusted[i] for i in range(len(pvalues))]


def sharpened(p, power):
    return p**power / (p**power + (1 - p) ** power)


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(5)
    q = rng.random(2000)
    return (rng.random(2000) < q).astype(int), q


def by_themselves(y, p, **options):
    options = {"rng": 0, **options}
    return {
        "consistency": v.consistency_test(v.BinnedError(), y, p, **options),
        "spiegelhalter": v.spiegelhalter_test(y, p, **options),
        "hosmer-lemeshow": v.hosmer_lemeshow_test(y, p, **options),
        "cox": v.cox_test(y, p, **options),
        "t-cal": v.t_cal_test(y, p, **options),
        "kernel": v.kernel_test(y, p, **options),
        "pearson": v.pearson_test(y, p, **options),
    }


def test_every_test_is_the_one_made_by_itself(binary):
    options = {"sample_weight": binary.w, "n_resamples": 200, "rng": 7}
    alone = by_themselves(binary.y, binary.p, **options)
    report = calibration_tests(binary.y, binary.p, tests=list(alone), **options)
    assert report.names == tuple(alone)
    for name, test in alone.items():
        made = report.test(name)
        assert (made.statistic, made.pvalue) == (test.statistic, test.pvalue)
        assert (made.method, made.definition, made.df) == (test.method, test.definition, test.df)
    assert list(report.adjusted) == pytest.approx(holm([t.pvalue for t in alone.values()]))
    assert report.pvalue == report.verdict.pvalue


def test_the_lens_is_that_of_every_test(multiclass):
    y, p = multiclass.y, multiclass.p
    alone = by_themselves(y, p, lens="confidence")
    report = calibration_tests(y, p)
    assert report.names == (*UNASKED, "classwise")
    for name in UNASKED:
        assert report.test(name).pvalue == alone[name].pvalue
        assert report.test(name).lens == "confidence"
    classwise = v.consistency_test(v.BinnedError(), y, p, lens="classwise", rng=0)
    assert report.test("classwise").pvalue == classwise.pvalue
    assert report.classes == v.multiple_test(v.BinnedError(), y, p, rng=0)
    assert calibration_tests(y, p, lens=v.ClassSpecific(2)).names == UNASKED


def test_whole_vectors_and_classes_have_tests_that_fit(multiclass):
    y, p = multiclass.y, (multiclass.p + 0.01) / 1.03  # log-odds of zero would be doubted
    whole = calibration_tests(y, p, lens="canonical", n_resamples=200)
    assert whole.names == UNASKED
    cox = v.cox_test(y, p, null="asymptotic")
    assert whole.test("cox").statistic == pytest.approx(cox.statistic)
    assert whole.slope == cox.slope
    classwise = calibration_tests(y, p, lens="classwise", n_resamples=200)
    assert classwise.names == ("consistency",)
    assert classwise.classes is not None


@pytest.mark.parametrize(
    ("distort", "words", "not_words"),
    [
        (lambda q: sharpened(q, 1.7), ["Miscalibrated", "Over-confident: too extreme"],
         ["Under"]),
        (lambda q: sharpened(q, 0.6), ["Miscalibrated", "Under-confident: too timid"],
         ["Over"]),
        (lambda q: q**2, ["Under-predicts: says"], ["Over-predicts"]),
        (lambda q: 1 - (1 - q) ** 2, ["Over-predicts: says"], ["Under-predicts"]),
        (lambda q: 1 - q, ["Reversed"], []),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:calibration_tests. Reversed")
@pytest.mark.parametrize("tests", [None, ["consistency"]])
def test_words_follow_the_distortion(distort, words, not_words, tests, truth):
    y, q = truth
    p = distort(q)
    report = calibration_tests(y, p, n_resamples=200, tests=tests)
    assert report.rejected
    assert report.detectable is None
    for word in words:
        assert word in report.verdict.text
    for word in not_words:
        assert word not in report.verdict.text
    if "says" in words[0]:
        means = f"says {p.mean():.2f} on average, happens {y.mean():.2f}"
        assert means in report.verdict.text


def test_a_wave_is_neither_level_nor_slope():
    odds = np.array([-2.0, -1.0, 1.0, 2.0])
    p = 1 / (1 + np.exp(-odds))
    # The derivatives of the likelihood at intercept 0 and slope 1, sums of (rate - p) and of
    # odds * (rate - p), are zero: that is where its maximum is.
    gap = 0.05 * np.array([1.0, -2.0, 2.0, -1.0])
    assert gap.sum() == pytest.approx(0)
    assert odds @ gap == pytest.approx(0)
    rows = 10_000
    y = np.concatenate([np.arange(rows) < round(rows * rate) for rate in p + gap])
    report = calibration_tests(y.astype(int), np.repeat(p, rows), tests=["pearson", "cox"])
    assert report.slope.estimate == pytest.approx(1, abs=1e-3)
    assert report.test("cox").pvalue > 0.9
    assert report.rejected
    assert [part.name for part in report.verdict.joint.standing_out] == ["shape"]
    assert "although level and spread do not stand out" in report.verdict.text


def test_confidence_is_over_or_under(multiclass):
    p = multiclass.p + 0.01
    p /= p.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(1)
    y = (rng.random(len(p))[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    sure = p**3 / (p**3).sum(axis=1, keepdims=True)
    report = calibration_tests(y, sure, n_resamples=200)
    right = (sure.argmax(axis=1) == y).mean()
    shown = f"Over-confident: says {sure.max(axis=1).mean():.2f} on average"
    assert f"{shown}, is right {right:.2f}" in report.verdict.text
    assert "Every one of 3 classes stands out" in report.verdict.text


def test_not_to_reject_is_no_evidence(truth):
    y, q = truth
    report = calibration_tests(y, q)
    assert not report.rejected
    assert report.verdict.headline.startswith("No miscalibration shown: probability that y = 1")
    parts = len(report.verdict.joint.parts)  # level, spread and shape
    assert report.detectable == v.detectable_error(2000, level=0.05 / parts, y_prob=q)
    # What costs 1 % of the log loss of calibrated predictions, in root-mean-square gaps.
    entropy = -(q * np.log(q) + (1 - q) * np.log(1 - q)).mean()
    matters = np.sqrt(0.02 * entropy * (q * (1 - q)).mean())
    needed = v.required_sample_size(matters, level=0.05 / parts, y_prob=q).n
    assert needed > 2000
    about = -(-needed // 100) * 100
    assert f"about {about:,} rows would tell of a root-mean-square gap of" in report.verdict.text
    assert f"{matters:.3f}, which costs 1.0 % of log loss" in report.verdict.text
    assert report.verdict.size == "not shown either way"


def test_weights_count_by_their_effective_size(truth):
    y, q = truth
    # Two thirds of the rows are gone, the rest weigh the same: nothing but fewer rows.
    w = np.where(np.arange(len(q)) % 3 == 0, 2.0, 0.0)
    kept = w > 0
    weighted = calibration_tests(y, q, sample_weight=w, n_resamples=200)
    rows = calibration_tests(y[kept], q[kept], n_resamples=200)
    assert weighted.detectable.n == rows.detectable.n == kept.sum()
    assert weighted.detectable.delta == pytest.approx(rows.detectable.delta, rel=0.02)
    assert weighted.adjusted == pytest.approx(rows.adjusted)


def test_groups_are_one_more_test_and_named(truth):
    y, q = truth
    group = np.where(np.arange(len(q)) % 10 == 0, "bad", "good")
    p = np.where(group == "bad", sharpened(q, 4.0), q)
    report = calibration_tests(y, p, by=group, tests=["spiegelhalter", "pearson"])
    family = v.multiple_test(v.BinnedError(), y, p, by=group, rng=0)
    assert report.groups == family
    assert report.names == ("spiegelhalter", "pearson", "groups")
    row = report.test("groups")
    assert (row.pvalue, row.n_samples) == (min(family.adjusted), 200)
    assert row.statistic == family.statistics[family.names.index("bad")]
    bad = group == "bad"
    means = f"says {p[bad].mean():.2f}, happens {y[bad].mean():.2f}; adjusted p < 0.001"
    assert f"Of 2 groups 1 stands out: 'bad' ({means})." in report.verdict.text
    assert report.rejected


def test_groups_of_several_columns_keep_their_keys(truth):
    y, q = truth
    frame = pl.DataFrame({"label": y, "p": q}).with_columns(
        a=pl.Series(["x", "y"] * 1000), b=pl.Series([1, 1, 2, 2] * 500), w=pl.Series([1, 0] * 1000)
    )
    report = calibration_tests(frame, by=["a", "b"], n_resamples=200)
    assert report.groups.names == (("x", 1), ("x", 2), ("y", 1), ("y", 2))
    assert report.notes[0] == "guessed y='label', prob='p'; pass others if that is wrong"
    gone = calibration_tests(frame, by=["a", "b"], sample_weight="w", n_resamples=200)
    assert gone.groups.names == (("x", 1), ("x", 2))
    assert gone.n_samples == 1000


def test_frames_and_arrays_agree(truth):
    y, q = truth
    frame = pl.DataFrame({"out": np.where(y == 1, "yes", "no"), "q": q})
    of_frame = calibration_tests(frame, y="out", prob="q", pos_label="yes", n_resamples=200)
    arrays = calibration_tests(y, q, n_resamples=200)
    assert "probability that out = 'yes'" in of_frame.verdict.text
    words = of_frame.verdict.text.replace("out = 'yes'", "y = 1")
    assert words == arrays.verdict.text
    assert replace(of_frame, verdict=arrays.verdict) == arrays


def test_a_long_test_is_left_out_unless_asked_for():
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y = (rng.random(2000) < p).astype(int)
    report = calibration_tests(y, p, n_resamples=10_000)  # 2e7 drawn outcomes
    assert report.names == UNASKED[:4]
    assert report.notes == (
        "T-Cal was left out, as it would take long; ask for it by name, 't-cal'",
    )
    assert calibration_tests(y, p, tests="t-cal", n_resamples=6000).names == ("t-cal",)


def test_a_test_that_does_not_apply_is_left_out_unless_asked_for():
    y, p = [0, 1, 1, 0] * 20, [0.4] * 80
    with pytest.warns(v.VeridicalWarning, match="calibration_tests: cox_test: all predictions are"):
        report = calibration_tests(y, p)
    assert report.names == ("consistency", "spiegelhalter", "cox", "t-cal")
    assert "Hosmer-Lemeshow test was left out" in report.notes[0]
    assert any("cox_test: all predictions are equal" in note for note in report.notes)
    with pytest.raises(v.InvalidInputError, match="hosmer_lemeshow_test"):
        calibration_tests(y, p, tests="hosmer-lemeshow")


def test_rows_that_a_lens_multiplies_are_told(multiclass):
    y, p = multiclass.y, multiclass.p
    with pytest.warns(v.VeridicalWarning, match="pooled lens makes 1,800 rows of 600"):
        report = calibration_tests(y, p, lens="pooled", tests=["consistency", "spiegelhalter"])
    assert report.detectable is None
    assert report.n_samples == 600


def test_too_few_draws_for_so_many_tests_are_told(binary):
    with pytest.warns(v.VeridicalWarning, match=r"p-values of 30 draws are at least 0\.032"):
        calibration_tests(binary.y, binary.p, n_resamples=30)


def test_the_seed_decides_and_none_is_a_seed():
    options = {"tests": "consistency", "n_resamples": 99}
    y, p = [1] * 114 + [0] * 86, [0.55] * 200  # p-values far from the smallest there is
    assert calibration_tests(y, p, **options) == calibration_tests(y, p, rng=0, **options)
    first = calibration_tests(y, p, rng=np.random.default_rng(3), **options)
    assert first == calibration_tests(y, p, rng=np.random.default_rng(3), **options)
    assert first.pvalue != calibration_tests(y, p, rng=np.random.default_rng(9), **options).pvalue


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": "coxx"}, "`tests` must be one of .* did you mean 'cox'"),
        ({"tests": []}, "`tests` must be a name or a list of names"),
        ({"tests": 3}, "`tests` must be a name"),
        ({"tests": ["cox", 3]}, "`tests` must be one of"),
        ({"tests": ["cox"], "lens": "classwise"}, "'consistency' for the classwise lens"),
        ({"level": 5}, "`level` must be between 0 and 1"),
        ({"n_bins": 0}, "`n_bins` must be a positive integer"),
        ({"n_resamples": 0}, "`n_resamples` must be a positive"),
        ({"rng": -1}, "calibration_tests: `rng`"),
        ({"by": ["a", "b"]}, "calibration_tests: `by` must be as long as"),
        ({"lens": "confidense"}, "calibration_tests: `lens`"),
        ({"y": "label"}, "calibration_tests: `y`"),
    ],
)
def test_bad_options_are_refused(options, message, binary):
    with pytest.raises(v.InvalidInputError, match=re.compile(message, re.DOTALL)):
        calibration_tests(binary.y, binary.p, **options)


def test_bad_data_are_refused_by_this_name(binary):
    with pytest.raises(v.InvalidInputError, match=r"calibration_tests: `y_prob` must be in \[0, 1"):
        calibration_tests(binary.y, binary.p * 3)


def test_the_report_loses_nothing_and_shows_everything(multiclass):
    group = np.where(np.arange(600) % 2 == 0, "<b>", "c")
    report = calibration_tests(multiclass.y, multiclass.p, by=group, n_resamples=200)
    assert TestReport.from_json(report.to_json()) == report
    text, html = str(report), report._repr_html_()
    wide = report.to_text(width=200).splitlines()
    assert max(map(len, text.splitlines())) <= 80
    for name, test, adjusted in zip(report.names, report.tests, report.adjusted, strict=True):
        line = next(row for row in wide if test.method in row and test.lens in row)
        assert f"{test.statistic:.4f}" in line or name == "classwise"
        times = adjusted / test.pvalue
        assert format_pvalue(adjusted, test.n_resamples, times=times) in line
        assert test.method.replace("'", "&#x27;") in html
    assert " ".join(text.split()).count(report.verdict.text) == 1
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    frame = report.to_frame()
    assert frame["test"].to_list() == list(report.names)
    assert frame["adjusted"].to_list() == list(report.adjusted)
    assert frame.columns == calibration_tests(
        multiclass.y, multiclass.p, tests="spiegelhalter"
    ).to_frame().columns  # fmt: skip
    with pytest.raises(KeyError, match=r"must be one of .* got 'kernel'"):
        report.test("kernel")


@pytest.mark.slow
def test_level_and_power_are_those_promised():
    """A slow wave is found at least as often as promised; nothing is, rarely."""
    rng = np.random.default_rng(20)
    n, repeats, bins = 1500, 60, 5
    p = rng.beta(2, 2, n) * 0.6 + 0.2  # away from 0 and 1, so that a gap fits everywhere
    options = {"n_bins": bins, "n_resamples": 199, "level": 0.05}
    delta = v.detectable_error(n, level=0.01, y_prob=p, n_bins=bins).delta
    wave = np.sin(2 * np.pi * np.argsort(np.argsort(p)) / n)
    wave = p + delta * wave / np.sqrt(np.mean(wave**2))
    false = found = 0
    for _ in range(repeats):
        draw = rng.random(n)
        false += calibration_tests((draw < p).astype(int), p, **options).rejected
        found += calibration_tests((draw < wave).astype(int), p, **options).rejected
    assert false <= stats.binom.ppf(0.9999, repeats, 0.05)
    assert found >= stats.binom.ppf(0.0001, repeats, 0.8)
