"""Evaluations from sums that an engine made, against those of the rows."""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl
import pytest

from veridical import (
    BinnedError,
    BrierScore,
    CumulativeError,
    InvalidInputError,
    IsotonicError,
    KernelError,
    PlattCalibrator,
    SmoothError,
    UniformBins,
    VeridicalWarning,
    evaluate as evaluate_fully,
    reliability_curve,
)
from veridical.evaluation._figures.summary import grid_summary, measure_summary, summary_curve
from veridical.lenses import ClassSpecific

N_BINS = 10
pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


def evaluate(*args, **options):
    """With few draws, the same on both sides, to be quick."""
    return evaluate_fully(*args, **({"n_resamples": 100} | options))


def make(n=4000, dtype=np.float64, seed=0):
    """Ties at the edges of ten bins (0.7 too), certain predictions, groups and weights."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 1.0, n)
    p[:400] = rng.integers(0, 11, 400) / 10
    p = p.astype(dtype)
    y = (rng.random(n) < 0.15 + 0.7 * p).astype(int)
    y[p == 0], y[p == 1] = 0, 1
    return pl.DataFrame(
        {"y": y, "p": p, "w": rng.gamma(2.0, 1.0, n), "g": rng.choice(["a", "b"], n, p=[0.8, 0.2])}
    )


@pytest.fixture(scope="module")
def frame():
    return make()


@pytest.fixture(params=["polars", "duckdb"])
def lazy(request, need):
    if request.param == "polars":
        return lambda frame: frame.lazy()
    duckdb = need("duckdb")
    return lambda frame: duckdb.from_arrow(frame.to_arrow())


def close(found, expected, within=1e-9):
    if expected is None:
        assert found is None
        return
    assert found == pytest.approx(expected, abs=within, rel=within, nan_ok=True)


def assert_binned_alike(found, expected, *, drawn=0.0):
    """Everything that counts, scores and bins decide."""
    assert found.n_samples == expected.n_samples
    assert found.classes == expected.classes
    for name in ("sum_weight", "base_rate", "accuracy", "mean_predicted", "mean_observed"):
        close(getattr(found, name), getattr(expected, name))
    close(found.scores, expected.scores)
    np.testing.assert_array_equal(found.curve.count, expected.curve.count)
    for name in ("lower", "upper", "weight", "predicted", "observed", "low", "high"):
        # Limits of weighted rows are made with predictions at the mean of a cell.
        within = 1e-5 if drawn and name in ("low", "high") else 1e-9
        np.testing.assert_allclose(
            getattr(found.curve, name), getattr(expected.curve, name), atol=within
        )
    for error in expected.errors:
        if error.lens == "canonical":  # of whole vectors there are no sums
            assert error.name not in [each.name for each in found.errors]
            continue
        other = found.error(error.name)
        assert other.n_samples == error.n_samples
        assert other.definition == error.definition
        if "equal-width" in error.definition:
            close(other.value, error.value)
            for name in ("low", "high"):  # of weighted rows, with predictions at the mean of a cell
                close(getattr(other, name), getattr(error, name), 1e-5 if drawn else 1e-9)
            if other.pvalue is not None:
                close(other.null_mean, error.null_mean, 1e-9 + 3 * drawn * error.null_q95)
                close(other.pvalue, error.pvalue, 1e-9 + 5 * drawn)


def test_lazy_frames_give_the_evaluation_of_their_rows(lazy, frame):
    expected = evaluate(frame, y="y", prob="p", by="g", n_bins=N_BINS, engine="memory")
    found = evaluate(lazy(frame), y="y", prob="p", by="g", n_bins=N_BINS)
    assert_binned_alike(found, expected)
    assert [key for key, _ in found.groups] == ["a", "b"]
    for key, group in expected.groups:
        assert_binned_alike(found.group(key), group)
    assert found.verdict.kind == expected.verdict.kind
    # The same words; drawn p-values differ in their digits, as draws are made by cell.
    words = [re.sub(r"p = [\d.]+", "p", each.verdict.text) for each in (found, expected)]
    assert words[0] == words[1]
    assert any("made from sums by 10 bins" in note for note in found.notes)


def test_weights_and_single_precision(lazy):
    single = make(dtype=np.float32).with_columns(
        w=pl.when(pl.col("y") == 1).then(2.0).otherwise(5.0)
    )
    options = {"y": "y", "prob": "p", "sample_weight": "w", "n_bins": N_BINS, "n_resamples": 1000}
    expected = evaluate(single, **options, engine="memory")
    found = evaluate(lazy(single), **options)
    # Null levels are drawn by cell here and by row there: 1000 draws each.
    assert_binned_alike(found, expected, drawn=1 / math.sqrt(1000))
    size = single["w"].sum() ** 2 / (single["w"] ** 2).sum()
    assert any(f"effective number, {size:,.0f} of 4,000 rows" in note for note in found.notes)


def test_equal_weights_are_none(frame):
    """A common factor means nothing, so outcomes are drawn as without weights."""
    heavy = frame.lazy().with_columns(w=pl.lit(2.5))
    found = evaluate(heavy, y="y", prob="p", sample_weight="w", n_bins=N_BINS)
    expected = evaluate(frame.lazy(), y="y", prob="p", n_bins=N_BINS)
    for one, other in zip(found.errors, expected.errors, strict=True):
        close(one.value, other.value)
        close(one.pvalue, other.pvalue)
        close(one.low, other.low)
    assert found.notes == expected.notes
    huge = frame.lazy().with_columns(w=pl.lit(1e200))
    with pytest.raises(InvalidInputError, match="`sample_weight` must be of moderate size"):
        evaluate(huge, y="y", prob="p", sample_weight="w")


def naive_auc(y, p):
    positive, negative = p[y == 1][:, None], p[y == 0][None, :]
    return float(((positive > negative) + (positive == negative) / 2).mean())


def naive_ks(y, p):
    values = [(y - p)[p <= s].sum() for s in np.unique(p)]
    return float(np.abs(values).max() / len(p))


def test_what_no_bin_decides_is_within_its_bound(frame):
    y, p = frame["y"].to_numpy(), frame["p"].to_numpy()
    expected = evaluate(y, p, n_bins=N_BINS)
    found = evaluate(frame.lazy(), y="y", prob="p", n_bins=N_BINS)
    note = next(note for note in found.notes if "AUC is right" in note)
    auc_within, ks_within = map(float, re.findall(r"\d\.\de-\d\d", note))
    assert 0 < abs(found.auc - naive_auc(y, p)) <= auc_within < 1e-3
    assert -1e-12 <= naive_ks(y, p) - found.error("KS").value <= ks_within < 5e-3
    width = 1 / 2048
    close(found.error("smECE").value, expected.error("smECE").value, width)
    for name in ("ECE equal-mass", "ECE sweep"):
        close(found.error(name).value, expected.error(name).value, 2e-3)
    for one, other in zip(found.decompositions, expected.decompositions, strict=True):
        assert one.n_samples == len(p)
        close(one.score, other.score)
        close(one.uncertainty, other.uncertainty)
        # Fewer places to step: what is left cannot be less.
        assert 0 <= one.refinement - other.refinement < 2e-3
    for name in ("slope", "intercept"):
        one, other = getattr(found, name), getattr(expected, name)
        close(one.estimate, other.estimate, 0.01 * other.standard_error)
        close((one.low, one.high), (other.low, other.high), 0.02 * other.standard_error)


def test_equal_predictions_lose_nothing():
    """A few distinct predictions are cells by themselves, so every figure is that of the rows."""
    rng = np.random.default_rng(3)
    p = rng.choice([0.0, 0.1, 0.25, 0.5, 0.7, 0.93, 1.0], 3000)
    y = (rng.random(3000) < p).astype(int)
    expected = evaluate(y, p, n_bins=N_BINS).to_dict()
    found = evaluate(pl.LazyFrame({"y": y, "p": p}), y="y", prob="p", n_bins=N_BINS).to_dict()
    assert "predictions within a cell are equal" in found.pop("notes")[0]
    del expected["notes"]
    words = [re.sub(r"p = [\d.]+", "p", each.pop("verdict")["text"]) for each in (found, expected)]
    assert words[0] == words[1]  # p-values are drawn by cell here and by row there
    assert_same(found, expected)


def assert_same(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        close(found, expected, 1e-8)
    else:
        assert found == expected


@pytest.fixture(scope="module")
def several():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([0.6, 0.8, 1.0], 3000)
    y = np.array(["cat", "dog", "eel"])[(rng.random(3000)[:, None] > p.cumsum(1)).sum(1).clip(0, 2)]
    return pl.DataFrame(
        {"y": y, **{f"p_{c}": p[:, k] for k, c in enumerate(["cat", "dog", "eel"])}}
    )


@pytest.mark.parametrize("lens", [None, "classwise", ClassSpecific("dog")], ids=str)
def test_three_classes(lazy, several, lens):
    options = {"y": "y", "prob": "p_*", "lens": lens, "n_bins": N_BINS}
    expected = evaluate(several, **options)
    found = evaluate(lazy(several), **options)
    assert_binned_alike(found, expected)
    close(found.auc_by_class, expected.auc_by_class, 1e-3)
    assert found.lens == expected.lens
    assert any("classwise errors have no null level" in note for note in found.notes)


@pytest.mark.parametrize("lens", ["confidence", "classwise", ClassSpecific(0)], ids=str)
def test_two_classes_through_other_lenses(frame, lens, lazy):
    options = {"y": "y", "prob": "p", "lens": lens, "n_bins": N_BINS}
    expected = evaluate(frame, **options)
    assert_binned_alike(evaluate(lazy(frame), **options), expected)
    arrays = frame["y"].to_numpy(), frame["p"].to_numpy()
    found = evaluate(*arrays, lens=lens, n_bins=N_BINS, engine="pushdown")
    assert_binned_alike(found, expected)


def test_a_summary_is_evaluated_like_its_rows(frame):
    expected = evaluate(frame, y="y", prob="p", by="g", n_bins=5)
    parts = [grid_summary(frame[k::3], y="y", prob="p", by="g", n_bins=N_BINS) for k in range(3)]
    summary = parts[0].merge(parts[1]).merge(parts[2])
    found = evaluate(summary, n_bins=5)  # made of the ten, so exact
    assert_binned_alike(found, expected)
    assert_binned_alike(found.group("b"), expected.group("b"))
    assert any("7 bins are not made of the 10" in n for n in evaluate(summary, n_bins=7).notes)
    with pytest.raises(InvalidInputError, match="`by` must be unset for a summary"):
        evaluate(summary, by="g")
    with pytest.raises(InvalidInputError, match="`y_true` must be rows here"):
        evaluate(summary, engine="memory")
    with pytest.raises(InvalidInputError, match="one the summary was made for"):
        evaluate(summary, lens="confidence")


def test_large_files_are_left_where_they_are(tmp_path, monkeypatch, frame):
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    assert not any("made from sums" in n for n in evaluate(path, y="y", prob="p").notes)
    monkeypatch.setattr("veridical.frames._tables.files.LARGE", 4000)
    found = evaluate(path, y="y", prob="p", n_bins=N_BINS)
    assert any("made from sums" in note for note in found.notes)
    assert_binned_alike(found, evaluate(frame, y="y", prob="p", n_bins=N_BINS))
    frame.write_csv(tmp_path / "rows.csv")
    found = evaluate(tmp_path / "rows.csv", y="y", prob="p")
    assert any("made from sums" in note for note in found.notes)


def test_what_sums_cannot_answer_reads_the_rows(several, frame):
    whole = evaluate(several.lazy(), y="y", prob="p_*", lens="canonical")
    assert whole == evaluate(several, y="y", prob="p_*", lens="canonical")
    with pytest.raises(InvalidInputError, match="`lens` must be one that sums answer"):
        evaluate(several, y="y", prob="p_*", lens="canonical", engine="pushdown")
    weight = frame["w"].to_numpy()  # beside the frame, so rows are needed
    found = evaluate(frame.lazy(), y="y", prob="p", sample_weight=weight)
    assert found == evaluate(frame, y="y", prob="p", sample_weight="w")
    calibrator = PlattCalibrator().fit(frame["p"].to_numpy(), frame["y"].to_numpy())
    with pytest.raises(InvalidInputError, match='`engine` must be "auto" or "memory" here'):
        evaluate(frame, y="y", prob="p", calibrator=calibrator, engine="pushdown")
    with pytest.raises(InvalidInputError, match="`engine` must be"):
        evaluate(frame, y="y", prob="p", engine="spark")


def test_doubts_are_warned_of_and_notes_on_sums_are_not():
    lazy = pl.LazyFrame({"y": [0, 1, 1], "p": [0.2, 0.7, 0.4]})
    with pytest.warns(VeridicalWarning, match="rows a bin on average") as caught:
        found = evaluate(lazy, y="y", prob="p")
    assert not any("made from sums" in str(w.message) for w in caught)
    assert "made from sums" in found.notes[0]


def test_a_number_of_bins_by_rule(frame):
    found = evaluate(frame.lazy(), y="y", prob="p", n_bins="cbrt")
    expected = evaluate(frame, y="y", prob="p", n_bins="cbrt")
    assert len(found.curve) == len(expected.curve)
    close(found.error("ECE").value, expected.error("ECE").value, 5e-3)
    assert any("'cbrt' bins are not made of the 15" in note for note in found.notes)


@pytest.mark.parametrize(
    ("estimator", "within"),
    [
        (BinnedError(UniformBins(5), norm=2, debias=True), 1e-9),
        (BrierScore(), 1e-9),
        (SmoothError(), 5e-4),
        (CumulativeError("kuiper"), 2e-3),
        (IsotonicError(), 5e-3),
        (KernelError(), 1e-4),
    ],
    ids=str,
)
def test_estimators_of_a_summary(estimator, within):
    frame = make(800)
    summary = grid_summary(frame, y="y", prob="p", by="g", n_bins=N_BINS)
    y, p = frame["y"].to_numpy(), frame["p"].to_numpy()
    close(measure_summary(estimator, summary), estimator(y, p), within)
    b = (frame["g"] == "b").to_numpy()
    close(measure_summary(estimator, summary, group="b"), estimator(y[b], p[b]), 4 * within)


@pytest.mark.parametrize("method", ["bins", "isotonic", "density", "smooth"])
def test_curves_of_a_summary(frame, method):
    summary = grid_summary(frame, y="y", prob="p", n_bins=15)
    expected = reliability_curve(frame["y"].to_numpy(), frame["p"].to_numpy(), method=method)
    found = summary_curve(summary, method=method)
    assert found.n_samples == len(frame)
    within = 1e-9 if method == "bins" else 0.02
    at = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(found.at(at).observed, expected.at(at).observed, atol=within)
    if method in ("bins", "isotonic"):
        assert found.count.sum() == len(frame)
    np.testing.assert_allclose(found.count.sum(), expected.count.sum(), rtol=1e-3)


def test_curves_of_weighted_sums_do_not_draw(frame):
    summary = grid_summary(frame, y="y", prob="p", sample_weight="w")
    expected = reliability_curve(
        frame["y"].to_numpy(), frame["p"].to_numpy(), sample_weight=frame["w"].to_numpy()
    )
    np.testing.assert_allclose(summary_curve(summary).low, expected.low, atol=1e-9)
    with pytest.raises(InvalidInputError, match="one without draws for weights"):
        summary_curve(summary, interval="consistency")
    band = summary_curve(grid_summary(frame, y="y", prob="p"), interval="consistency")
    wanted = reliability_curve(frame["y"].to_numpy(), frame["p"].to_numpy(), interval="consistency")
    np.testing.assert_allclose(band.low, wanted.low, atol=1e-3)


def test_engines_and_arrays_make_the_same_table(lazy, frame):
    """So that summaries of a table and of a stream of batches can be merged."""
    made = grid_summary(lazy(frame), y="y", prob="p", by="g", n_bins=N_BINS)
    arrays = (frame[name].to_numpy() for name in ("y", "p"))
    other = grid_summary(*arrays, by=frame["g"].to_numpy(), n_bins=N_BINS)
    assert made.merge(other).n_samples == 2 * len(frame)
    for name in ("classes", "positive", "problems", "groups", "n_bins", "resolution"):
        assert getattr(made.table, name) == getattr(other.table, name)
    for name in ("rows", "class_count", "total_w2"):
        np.testing.assert_array_equal(getattr(made.table, name), getattr(other.table, name))
    for rule, sums in other.table.scores.items():
        np.testing.assert_allclose(made.table.scores[rule], sums, rtol=1e-9)
    # A logarithm may put a row on the other side of the border of a cell, but hardly any.
    keys = [set(zip(t.bin, t.cell, t.count, strict=True)) for t in (made.table, other.table)]
    assert len(keys[0] & keys[1]) >= 0.99 * max(map(len, keys))
