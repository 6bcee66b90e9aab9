"""The one verdict: its words follow what was done to the predictions, wherever it is said."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from veridical import (
    BinnedError,
    ClassSpecific,
    Evaluation,
    calibration_tests,
    compare,
    consistency_test,
    cox_test,
    evaluate,
    grid_summary,
    make_report,
)
from veridical._core.sample import BinarySample
from veridical.calibrators import IsotonicCalibrator, PlattCalibrator
from veridical.cli.main import main
from veridical.evaluation._verdict.judge import area_error
from veridical.evaluation._verdict.size import saving_of
from veridical.results import Verdict

quiet = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")


def sharpened(p, power):
    return p**power / (p**power + (1 - p) ** power)


def expit(z):
    return 1 / (1 + np.exp(-z))


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(5)
    q = rng.random(3000)
    return (rng.random(3000) < q).astype(int), q


@quiet
@pytest.mark.parametrize(
    ("distort", "words", "not_words"),
    [
        (lambda q: q, ["No miscalibration shown", "lens"], ["confident", "predicts", "save"]),
        (lambda q: sharpened(q, 1.7), ["Miscalibrated", "Over-confident: too extreme"], ["Under"]),
        (lambda q: sharpened(q, 0.6), ["Miscalibrated", "Under-confident: too timid"], ["Over"]),
        (lambda q: q**2, ["Under-predicts: says 0.33 on average"], ["Over-predicts"]),
        (lambda q: 1 - (1 - q) ** 2, ["Over-predicts", "Large"], ["Under-predicts"]),
        (lambda q: 1 - q, ["Reversed", "pos_label=0 (`--pos-label 0`)"], ["would save"]),
    ],
)
def test_words_follow_the_distortion(distort, words, not_words, truth):
    y, q = truth
    verdict = evaluate(y, distort(q)).verdict
    for word in words:
        assert word in verdict.text
    for word in not_words:
        assert word not in verdict.text
    assert verdict.text.startswith(verdict.headline)


def test_rare_events_name_a_gap_that_is_drawn():
    """Two thirds of the rows are in the first of 15 bins of equal width."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.6, 20, 4000).clip(1e-6)
    e = evaluate((rng.random(4000) < np.sqrt(p) / 3).astype(int), p, rng=0)
    assert e.display.axis == "logit"
    sentence = e.verdict.text[e.verdict.text.index("Largest gap") :]
    said = [float(number) for number in re.findall(r"0\.\d+", sentence)[:2]]
    curve = e.display.curve
    frequent = curve.weight >= 0.05 * curve.weight.sum()
    at = np.argmax(np.where(frequent, np.abs(curve.gap), 0))
    assert said == pytest.approx([curve.predicted[at], curve.observed[at]], abs=5e-4)


def test_a_wave_is_found_and_named(truth):
    _, q = truth
    rng = np.random.default_rng(0)
    true = np.clip(q + 0.12 * np.sin(4 * np.pi * q), 0, 1)
    verdict = evaluate((rng.random(len(q)) < true).astype(int), q).verdict
    assert verdict.kind == "miscalibrated"
    assert "Shape: frequencies do not follow the predictions" in verdict.text
    assert verdict.saving > 0.01


def test_confidence_is_over_or_under(multiclass):
    p = multiclass.p
    rng = np.random.default_rng(1)
    y = (rng.random(len(p))[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    sure = p**3 / (p**3).sum(axis=1, keepdims=True)
    result = evaluate(y, sure)
    means = f"says {result.mean_predicted:.2f} on average, is right {result.mean_observed:.2f}"
    assert f"Over-confident: {means}" in result.verdict.text
    assert result.verdict.about == "whole prediction of 3 classes"
    timid = np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True)
    assert "Under-confident: says" in evaluate(y, timid).verdict.text


@pytest.mark.filterwarnings("ignore:evaluate. ECE. .*mostly noise")
@pytest.mark.parametrize(
    ("lens", "name", "about"),
    [
        (None, "ECE", "whole prediction of 3 classes (p"),
        ("canonical", "canonical ECE", "whole prediction of 3 classes (p"),
        ("confidence", "ECE", "probability that the most probable class is right (p"),
        ("classwise", "ECE", "probability of each of 3 classes (p"),
        (ClassSpecific(2), "ECE", "probability that y = 2 (p"),
    ],
    ids=str,
)
def test_every_lens_says_what_is_judged(lens, name, about, multiclass):
    result = evaluate(multiclass.y, multiclass.p, lens=lens, n_resamples=200)
    assert result.default.name == name
    assert result.default.pvalue is not None
    assert f": {about}" in result.verdict.headline
    assert result.verdict.headline in " ".join(str(result).split())


def test_nothing_is_claimed_that_was_not_tested(truth):
    y, q = truth
    verdict = evaluate(y, q, n_resamples=0).verdict
    assert (verdict.kind, verdict.pvalue, verdict.joint) == ("untested", None, None)
    assert verdict.text.startswith("Not tested: probability that y = 1 (3,000 rows, binary lens")


def test_slope_and_intercept_are_those_of_cox(truth):
    y, q = truth
    result = evaluate(y, sharpened(q, 1.3))
    test = cox_test(y, sharpened(q, 1.3))
    assert result.slope == test.slope
    assert result.intercept == test.in_the_large


def test_grouped_rows_give_the_same_line_for_large_data():
    rng = np.random.default_rng(2)
    p = rng.beta(0.8, 0.6, 60_000)
    y = rng.random(60_000) < sharpened(p, 0.8)
    weight = rng.integers(1, 3, 60_000)
    for options in ({}, {"sample_weight": weight}):
        result = evaluate(y, p, n_resamples=0, **options)
        test = cox_test(y, p, null="asymptotic", **options)
        error = test.slope.standard_error
        assert result.slope.estimate == pytest.approx(test.slope.estimate, abs=0.02 * error)
        assert result.slope.low == pytest.approx(test.slope.low, abs=0.02 * error)
        assert result.intercept.high == pytest.approx(test.in_the_large.high, abs=0.02 * error)


def test_default_error_has_interval_null_level_and_pvalue(truth):
    y, q = truth
    error = evaluate(y, q).default
    assert error.name == "ECE"
    assert error.low is not None
    assert error.null_mean is not None
    test = consistency_test(BinnedError(), y, q, rng=0)
    assert error.pvalue == pytest.approx(test.pvalue, abs=0.06)


# ------------------------------------------------------------------ the same words everywhere


def _everywhere(frame, tmp_path, capsys, *, prob, by=None):
    """The verdict of one file as every place says it."""
    path = tmp_path / "data.csv"
    frame.write_csv(path)
    options = {"y": "Status", "prob": prob, "by": by, "n_resamples": 200, "rng": 0}
    report = make_report(path, **options)
    found = json.loads(report.to_json())["models"][0]
    listed = [] if by is None else ["--by", by]
    columns = [prob] if isinstance(prob, str) else prob
    asked = [str(path), "--y", "Status", "--prob", ",".join(columns), "--seed", "0", *listed]
    said = {
        "evaluate": evaluate(path, **options).verdict.text,
        "tests": calibration_tests(path, **options).verdict.text,
        "report": found["evaluation"]["verdict"]["text"],
        "report tests": found["tests"]["verdict"]["text"],
        "report headline": report.headline[: len(found["evaluation"]["verdict"]["text"])],
    }
    capsys.readouterr()
    for command in ("evaluate", "test"):
        main([command, *asked, "--n-resamples", "200", "--format", "json"])
        said[f"veridical {command}"] = json.loads(capsys.readouterr().out)["verdict"]["text"]
    return said


@quiet
@pytest.mark.parametrize("case", ["binary", "rare", "grouped", "reversed", "several"])
def test_every_place_says_the_same(case, tmp_path, capsys, monkeypatch):
    from veridical.report._content import findings, recalibration

    not_here = recalibration.nothing_tried("not here")
    monkeypatch.setattr(findings, "recalibrate", lambda *data, **options: not_here)
    rng = np.random.default_rng(len(case))
    n = 600
    p = rng.beta(0.5, 20, n) if case == "rare" else rng.random(n)
    y = rng.random(n) < (1 - p if case == "reversed" else sharpened(p, 0.7))
    columns = {"Status": np.where(y, "yes", "no"), "score": p, "g": rng.choice(["a", "b"], n)}
    prob = "score"
    if case == "several":
        q = rng.dirichlet([1, 1, 1], n)
        codes = (rng.random(n)[:, None] >= q.cumsum(axis=1)[:, :-1]).sum(axis=1)
        prob = ["p_a", "p_b", "p_c"]
        columns = {"Status": np.array(["a", "b", "c"])[codes]} | dict(zip(prob, q.T, strict=True))
    by = "g" if case == "grouped" else None
    said = _everywhere(pl.DataFrame(columns), tmp_path, capsys, prob=prob, by=by)
    assert len(set(said.values())) == 1, said
    assert "Status" in said["evaluate"] or case == "reversed"
    if case != "several":
        other = {"one": columns["score"], "other": columns["score"] ** 2}
        if by is None:
            c = compare(other, pd.Series(columns["Status"], name="Status"), n_resamples=200, rng=0)
            same = c.evaluation("one").verdict.text
            assert same.replace("the prediction looks", "`score` looks") == said["evaluate"]
            other_one = c.evaluation("other").verdict
            assert other_one.headline in " ".join(c.to_text().split())
            assert other_one.in_short in " ".join(str(c).split())


@quiet
@pytest.mark.parametrize("seed", range(40))
def test_headline_and_parts_never_contradict(seed):
    """Whatever the data: what is found has a part that stands out, and the words name it."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.choice([30, 100, 400])), int(rng.choice([2, 2, 3, 6]))
    strength = float(rng.choice([1.0, 1.0, 1.5, 3.0]))
    q = rng.dirichlet(np.full(k, rng.choice([0.3, 1.0])), n)
    y = (rng.random(n)[:, None] >= q.cumsum(axis=1)[:, :-1]).sum(axis=1)
    p = q**strength
    p = (p + 1e-6) / (p + 1e-6).sum(axis=1, keepdims=True)
    by = rng.choice(["u", "v"], n) if seed % 3 == 0 else None
    options = {"labels": list(range(k)), "by": by, "n_resamples": 100, "rng": seed}
    e = evaluate(y, p if k > 2 else p[:, 1], **options)
    report = calibration_tests(y, p if k > 2 else p[:, 1], **options)
    verdict = e.verdict
    assert report.verdict == verdict
    assert report.rejected == verdict.found
    joint = verdict.joint
    if verdict.kind == "reversed":
        return
    assert verdict.found == joint.rejected == (verdict.pvalue <= 0.05)
    out = {part.name for part in joint.standing_out}
    assert bool(out) == verdict.found
    named = {
        "level": "-predicts: says" if k == 2 else "-confident: says",
        "spread": "too (extreme|timid)" if k == 2 else "Differences between confidences are too",
        "shape": "Shape:",
        "class": r"(Of \d classes \d stands?|one of \d classes stands) out",
        "vector": "Whole vectors:",
        "group": r"Of \d groups \d stands? out",
    }
    for part, words in named.items():
        assert bool(re.search(words, verdict.text)) == (part in out), (part, verdict.text)
    if verdict.found:
        assert verdict.headline.startswith("Miscalibrated: ")
        assert verdict.size in ("large", "clear", "clear but small", "")
    else:
        assert verdict.headline.startswith("No miscalibration shown: ")
        assert "Over-" not in verdict.text
        assert "Under-" not in verdict.text


# ------------------------------------------------------------------------------- reversed


@pytest.fixture(scope="module")
def credit():
    rng = np.random.default_rng(3)
    p = rng.beta(1, 3, 500)
    return pd.DataFrame({"Status": np.where(rng.random(500) < p, "bad", "good"), "PD": p})


@quiet
def test_reversed_predictions_change_the_verdict_itself(credit):
    verdict = evaluate(credit, y="Status", prob="PD").verdict
    assert verdict.kind == "reversed"
    assert verdict.found
    assert verdict.headline == (
        "Reversed: `PD` looks like the probability of 'bad', not of 'good': pass pos_label='bad'"
        " (`--pos-label bad`)."
    )
    told = evaluate(credit, y="Status", prob="PD", pos_label="good").verdict
    assert told.kind == "reversed"
    assert told.headline.startswith("Ranks backwards (AUC 0.")
    assert "pos_label" not in told.text
    assert evaluate(credit, y="Status", prob="PD", pos_label="bad").verdict.kind == "not shown"
    assert evaluate(credit, y="Status", prob="PD", n_resamples=0).verdict.kind == "reversed"
    # Through another lens the order of two classes is no question.
    assert evaluate(credit, y="Status", prob="PD", lens="confidence").verdict.kind != "reversed"


@quiet
def test_a_report_on_reversed_predictions_recommends_nothing(credit):
    report = make_report(credit, y="Status", prob="PD", n_resamples=100)
    assert report.headline.startswith("Reversed: `PD` looks like the probability of 'bad'")
    assert "Recalibration was not tried: the predictions rank backwards" in report.headline
    assert report.models[0].recalibration.figures == ()
    first = report.markdown.split("## ")[1]
    assert "Reversed: `PD`" in first.replace("\\", "")


@pytest.mark.parametrize(("m", "kind"), [(10, "miscalibrated"), (12, "reversed")])
@quiet
def test_the_standard_error_stays_positive_at_area_zero(m, kind):
    """Under exchangeability the variance is (2 m + 1) / (12 m^2): four errors need 11 of each."""
    assert (4 * np.sqrt((2 * m + 1) / (12 * m * m)) < 0.5) == (kind == "reversed")
    y, p = np.repeat([1, 0], m), np.r_[np.linspace(0.1, 0.4, m), np.linspace(0.6, 0.9, m)]
    e = evaluate(y, p, n_resamples=200)
    assert e.auc == 0
    assert e.verdict.kind == kind


def test_the_standard_error_of_an_area_is_its_spread_over_samples():
    """Exponential scores, for which the formula is exact; at one half that of the rank sum."""
    rng = np.random.default_rng(0)
    for rate, m, n in ((1.0, 12, 30), (0.6, 8, 60)):
        high, low = rng.exponential(1, (4000, m)), rng.exponential(rate, (4000, n))
        areas = (high[:, :, None] > low[:, None, :]).mean(axis=(1, 2))
        auc = 1 / (1 + rate)
        assert areas.mean() == pytest.approx(auc, abs=0.005)
        assert area_error(auc, m, n) == pytest.approx(areas.std(), rel=0.05)
    assert area_error(0.5, 12, 30) == pytest.approx(np.sqrt(43 / (12 * 12 * 30)))


# ------------------------------------------------------------------------------- how much


def test_what_recalibration_saves_is_the_divergence_from_the_truth():
    """Closed form: the mean divergence of prediction and truth over the mean log loss."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 40_000)
    q = expit(0.2 + 0.7 * np.log(p / (1 - p)))
    y = (rng.random(len(p)) < q).astype(int)
    loss = -(q * np.log(p) + (1 - q) * np.log(1 - p)).mean()
    best = -(q * np.log(q) + (1 - q) * np.log(1 - q)).mean()
    found = saving_of(BinarySample(y=y, p=p), 0.95)
    assert found.low < 1 - best / loss < found.high
    assert found.share == pytest.approx(1 - best / loss, rel=0.15)
    weighted = saving_of(
        BinarySample(y=y, p=p, weight=np.full(len(p), 2.0), weight_type="importance"), 0.95
    )
    assert weighted == pytest.approx(found)  # a common factor means nothing


def test_intervals_of_what_is_saved_cover():
    """At least 91 % of 200 samples a case, which 95 % intervals miss with a chance of 1 in 70."""
    for a, b in ((0.0, 1.0), (0.0, 0.75), (0.25, 1.0)):
        covered = 0
        for seed in range(200):
            rng = np.random.default_rng(seed)
            p = rng.uniform(0.02, 0.98, 400)
            q = expit(a + b * np.log(p / (1 - p)))
            y = (rng.random(len(p)) < q).astype(int)
            found = saving_of(BinarySample(y=y, p=p), 0.95)
            grid = np.linspace(0.02, 0.98, 4001)
            true = expit(a + b * np.log(grid / (1 - grid)))
            loss = -(true * np.log(grid) + (1 - true) * np.log(1 - grid)).mean()
            best = -(true * np.log(true) + (1 - true) * np.log(1 - true)).mean()
            covered += found.low <= 1 - best / loss <= found.high
        assert covered >= 182, (a, b, covered)


@quiet
def test_few_rows_that_rank_backwards_are_no_reason_to_recalibrate():
    verdict = evaluate([0] * 10 + [1] * 10, np.linspace(0.95, 0.05, 20)).verdict
    assert verdict.kind == "miscalibrated"
    assert "rank backwards (AUC 0.00), too few to be sure" in verdict.text
    assert "save" not in verdict.text
    assert "inf" not in verdict.text


@quiet
def test_sizes_are_told_apart():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 0.95, 60_000)
    small = evaluate((rng.random(len(p)) < np.clip(p + 0.02, 0, 1)).astype(int), p).verdict
    assert (small.kind, small.size) == ("miscalibrated", "clear but small")
    assert "Clear but small: recalibration would save about 0." in small.text
    clear = evaluate((rng.random(len(p)) < sharpened(p, 0.5)).astype(int), p).verdict
    assert (clear.kind, clear.size) == ("miscalibrated", "clear")
    assert clear.saving_low > 0.01 > small.saving_high
    large = evaluate((rng.random(len(p)) < sharpened(p, 0.2)).astype(int), p).verdict
    assert (large.kind, large.size) == ("miscalibrated", "large")
    assert large.saving > 0.1 > clear.saving
    few = evaluate((rng.random(60) < p[:60]).astype(int), p[:60], n_bins=5).verdict
    assert few.size == "not shown either way"


def test_digits_follow_the_base_rate():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 100, 40_000)
    y = (rng.random(len(p)) < 1.4 * p).astype(int)
    verdict = evaluate(y, p).verdict
    says, happens = re.search(r"says ([\d.]+) on average, happens ([\d.]+)", verdict.text).groups()
    assert says != happens
    assert len(says) == len("0.0050")
    assert float(says) == pytest.approx(p.mean(), abs=5e-5)
    assert float(happens) == pytest.approx(y.mean(), abs=5e-5)


# ------------------------------------------------------------------------- forms and files


def test_html_holds_the_verdict(truth):
    y, q = truth
    result = evaluate(y, q)
    shown = re.sub(r"<(style|svg).*?</\1>|<[^>]+>", " ", result._repr_html_(), flags=re.DOTALL)
    assert result.verdict.text in " ".join(shown.split())


def test_results_of_earlier_versions_can_be_read(truth):
    y, q = truth
    result = evaluate(y, q)
    assert Evaluation.from_json(result.to_json()) == result
    old = result.to_dict() | {"verdict": "Miscalibrated: ECE 0.0500 (p = 0.0010)."}
    del old["curve"]["event"]
    read = Evaluation.from_dict(old)
    assert str(read.verdict) == "Miscalibrated: ECE 0.0500 (p = 0.0010)."
    assert read.verdict.kind == "miscalibrated"
    assert Verdict.from_dict("No miscalibration found: ...").kind == "not shown"
    assert Verdict.from_dict("ECE is 0.1; whether that is noise was not tested.").kind == "untested"


@quiet
def test_sums_and_rows_say_the_same():
    rng = np.random.default_rng(4)
    p = rng.random(5000).round(2)
    y = (rng.random(5000) < sharpened(p, 0.6)).astype(int)
    by = rng.choice(["a", "b", "c"], 5000)
    rows = evaluate(y, p, by=by)
    sums = evaluate(grid_summary(y, p, by=by))
    for one, other in ((rows, sums), *((rows.group(key), sums.group(key)) for key in "abc")):
        assert one.verdict.kind == other.verdict.kind
        words = [re.sub(r"p = [\d.e-]+", "p", each.verdict.text) for each in (one, other)]
        assert words[0] == words[1]


# ---------------------------------------------------------------- rows a map was fitted to


@pytest.mark.parametrize(
    ("calibrator", "words"),
    [
        (IsotonicCalibrator(), "outcomes agree with the predictions at"),
        (PlattCalibrator(smooth_targets=False, penalty=None), "right in level and in spread"),
    ],
    ids=["isotonic", "logistic"],
)
def test_rows_that_a_map_was_fitted_to_are_noticed_from_the_data(calibrator, words):
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    y = (rng.random(4000) < sharpened(p, 0.7)).astype(int)
    fitted = calibrator.fit(p[:2000], y[:2000])
    seen, new = (fitted.predict_proba(p[rows])[:, 1] for rows in (slice(2000), slice(2000, None)))
    with pytest.warns(UserWarning, match=f"{words}.* as on rows that a calibrator was fitted to"):
        e = evaluate(y[:2000], seen, n_bins=5)
    assert any(words in note for note in e.notes)
    assert not any("fitted to" in note for note in evaluate(y[2000:], new, n_bins=5).notes)


@quiet
def test_exact_frequencies_of_a_few_values_are_no_suspicion():
    """Chance does that: each of two counts of 1,000 is exact in one sample of 34."""
    y = [0, 0, 0, 1] * 250 + [1, 1, 1, 0] * 250
    notes = evaluate(y, [0.25] * 1000 + [0.75] * 1000).notes
    assert not any("fitted to" in note for note in notes)
