"""Values as real files hold them: blanks, percentages, logits, rounded rows, fractions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, softmax

import veridical as v
from veridical._core.data.groups import group_rows
from veridical._core.data.reading import Reading
from veridical.report._content.request import ReportRequest, guesses

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

N = 240
RNG = np.random.default_rng(11)
P = RNG.beta(2, 2, N)
Y = (RNG.random(N) < P).astype(int)
Z3 = RNG.normal(0, 2, (N, 3))
P3 = softmax(Z3, axis=1)
Y3 = (RNG.random(N)[:, None] > P3.cumsum(axis=1)).sum(axis=1).clip(max=2)
AGE = RNG.normal(40, 10, N)
ENGINES = ("memory", "pushdown")
QUICK = {"n_resamples": 0}


def frame_of(p: np.ndarray, y: Any = Y, **more: Any) -> pl.DataFrame:
    columns = {"p": p} if p.ndim == 1 else {f"p_{k}": p[:, k] for k in range(p.shape[1])}
    return pl.DataFrame({"y": y, **columns, **more})


def columns_of(p: np.ndarray) -> str | list[str]:
    return "p" if p.ndim == 1 else [f"p_{k}" for k in range(p.shape[1])]


def brier(y: np.ndarray, p: np.ndarray) -> float:
    """By the definition."""
    return float(np.mean((p - y) ** 2 if p.ndim == 1 else ((p - np.eye(3)[y]) ** 2).sum(axis=1)))


SCALED = {
    "percent": (Y, 100 * P, P),
    "logit": (Y, np.log(P / (1 - P)), P),
    "far logit": (Y, np.where(Y == 1, 900.0, -900.0), Y.astype(float)),
    "percent of three": (Y3, 100 * P3, P3),
    "logit of three": (Y3, Z3, P3),
    "logprob": (Y, np.log(P), P),
    "logprob of three": (Y3, np.log(P3), P3),
    "far logit of three": (Y3, 1e3 * np.eye(3)[Y3], np.eye(3)[Y3]),
}


@pytest.mark.parametrize("case", SCALED)
def test_scales_become_probabilities_everywhere(case):
    y, given, p = SCALED[case]
    scale = next(one for one in ("percent", "logit", "logprob") if one in case)
    expected = brier(y, p)
    result = v.evaluate(y, given, scale=scale, **QUICK)
    assert result.scores["brier"] == pytest.approx(expected, abs=1e-14)
    said = {"percent": "divided by 100", "logit": "logits", "logprob": "log probabilities"}[scale]
    assert any(said in note for note in result.notes)
    frame = frame_of(given, y)
    for engine in ENGINES:
        pushed = v.evaluate(
            frame, y="y", prob=columns_of(given), scale=scale, engine=engine, **QUICK
        )
        assert pushed.scores["brier"] == pytest.approx(expected, abs=1e-14)
        assert pushed.error("ECE").value == pytest.approx(result.error("ECE").value, abs=1e-12)


def test_scales_of_other_functions():
    percent = 100 * P
    usual = v.compare({"a": P, "b": P**2}, Y, n_resamples=50)
    given = v.compare({"a": percent, "b": 100 * P**2}, Y, n_resamples=50, scale="percent")
    assert given.difference("a", "b", "brier").estimate == pytest.approx(
        usual.difference("a", "b", "brier").estimate, abs=1e-14
    )
    tests = v.calibration_tests(Y, percent, scale="percent", n_resamples=50)
    assert tests.n_samples == N
    gate = v.check_requirements(Y, percent, requirements=["brier < 1"], scale="percent")
    assert gate.checks[0].value == pytest.approx(brier(Y, P), abs=1e-14)
    assert v.grid_summary(Y, percent, scale="percent").table.scores["brier"][0] / N == (
        pytest.approx(brier(Y, P), abs=1e-14)
    )
    decided = v.decide(percent, (1, 4), scale="percent")
    assert decided.mean_expected_cost == v.decide(percent / 100, (1, 4)).mean_expected_cost
    fitted = v.PlattCalibrator(input="logit").fit(np.log(P / (1 - P)), Y)
    by_map = v.evaluate(Y, np.log(P / (1 - P)), calibrator=fitted, scale="logit", **QUICK)
    assert by_map.scores["brier"] == pytest.approx(
        brier(Y, fitted.predict_proba(np.log(P / (1 - P)))[:, 1]), abs=1e-14
    )
    with pytest.raises(v.InvalidInputError, match="`scale` must be unset, or 'logit'"):
        v.evaluate(Y, percent, calibrator=fitted, scale="percent", **QUICK)


def test_a_report_says_how_values_were_read():
    names = ("lens", "title", "date", "path", "rng")
    request = ReportRequest(
        y_true=Y,
        y_prob=100 * P,
        reading=Reading("percent"),
        **dict.fromkeys(names),
        n_bins=15,
        confidence_level=0.95,
        n_resamples=50,
        margins=(),
        engine="auto",
    )
    assert guesses(request.read()) == "percentages were divided by 100"
    assert "    scale='percent',\n" in request.call(request.options())


MISSING_Y, MISSING_P, MISSING_W = [3, 7], [7, 100], [200]
LEFT = np.setdiff1d(np.arange(N), [3, 7, 100, 200])
W = RNG.uniform(1, 2, N)


def with_gaps(values: np.ndarray, rows: list[int]) -> np.ndarray:
    result = values.astype(np.float64)
    result[rows] = np.nan
    return result


@pytest.mark.parametrize("three", [False, True], ids=["one column", "three columns"])
def test_rows_with_a_blank_are_dropped_and_counted(three):
    y, p = (Y3, P3) if three else (Y, P)
    gap_p = with_gaps(p, MISSING_P)
    if three:
        gap_p[MISSING_P] = p[MISSING_P]
        gap_p[MISSING_P, 1] = np.nan
    expected = v.evaluate(y[LEFT], p[LEFT], sample_weight=W[LEFT], **QUICK)
    given = v.evaluate(
        with_gaps(y, MISSING_Y),
        gap_p,
        sample_weight=with_gaps(W, MISSING_W),
        missing="drop",
        **QUICK,
    )
    name = "y_prob[:, 1]" if three else "y_prob"
    counts = f"4 of 240 rows dropped: 2 without 'y_true', 2 without {name!r}, 1 without"
    assert any(note.startswith(counts) for note in given.notes)
    assert given.n_samples == len(LEFT)
    assert given.scores == expected.scores
    frame = frame_of(gap_p, with_gaps(y, MISSING_Y), w=with_gaps(W, MISSING_W))
    frame = frame.with_columns(pl.col("y").fill_nan(None).cast(pl.Int64))  # nulls of polars
    for engine in ENGINES:
        pushed = v.evaluate(
            frame,
            y="y",
            prob=columns_of(p),
            sample_weight="w",
            missing="drop",
            engine=engine,
            **QUICK,
        )
        assert pushed.n_samples == len(LEFT)
        for rule, value in expected.scores.items():
            assert pushed.scores[rule] == pytest.approx(value, rel=1e-12)
        assert any("4 of 240 rows dropped: 2 without 'y'" in note for note in pushed.notes)
    with pytest.raises(v.InvalidInputError, match=r"missing=\"drop\""):
        v.evaluate(with_gaps(y, MISSING_Y), p, **QUICK)
    with pytest.raises(v.InvalidInputError, match=r"missing=\"drop\""):
        v.evaluate(y, gap_p, **QUICK)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: pd.Series(x, dtype="Float64").mask(np.isnan(x)),
        lambda x: pl.Series(x).fill_nan(None),
        lambda x: [None if np.isnan(value) else value for value in x],
    ],
    ids=["pandas NA", "polars null", "list with None"],
)
def test_blanks_of_every_library(make):
    given = v.evaluate(Y, make(with_gaps(P, [5])), missing="drop", **QUICK)
    assert given.scores["brier"] == brier(np.delete(Y, 5), np.delete(P, 5))


def test_groups_and_clusters_go_with_the_rows():
    by = np.array(["a", "b"])[np.arange(N) % 2]
    given = v.evaluate(Y, with_gaps(P, MISSING_P), by=by, missing="drop", **QUICK)
    kept = np.setdiff1d(np.arange(N), MISSING_P)
    expected = v.evaluate(Y[kept], P[kept], by=by[kept], **QUICK)
    assert [(key, one.n_samples, one.scores) for key, one in given.groups] == [
        (key, one.n_samples, one.scores) for key, one in expected.groups
    ]
    clusters = np.arange(N) // 4
    models = {"a": with_gaps(P, [1]), "b": with_gaps(P**2, [9])}
    given = v.compare(models, Y, groups=clusters, missing="drop", n_resamples=50)
    kept = np.setdiff1d(np.arange(N), [1, 9])
    expected = v.compare(
        {"a": P[kept], "b": P[kept] ** 2}, Y[kept], groups=clusters[kept], n_resamples=50
    )
    assert given.difference("a", "b", "log") == expected.difference("a", "b", "log")
    assert any("238 of 240 rows lack nothing" in note for note in given.notes)
    table = pl.DataFrame({"y": Y, **models, "g": clusters})
    from_table = v.compare(
        {"a": "a", "b": "b"}, table, y="y", groups="g", missing="drop", n_resamples=50
    )
    assert from_table.difference("a", "b", "log") == expected.difference("a", "b", "log")


def test_a_missing_group_is_a_group():
    by = np.array(["a", None, "b"], dtype=object)[np.arange(N) % 3]
    for given in (
        v.evaluate(Y, P, by=by, **QUICK),
        v.evaluate(frame_of(P, g=by.tolist()), y="y", prob="p", by="g", engine="pushdown", **QUICK),
    ):
        assert [key for key, _ in given.groups] == ["a", "b", "(missing)"]
        assert [one.n_samples for _, one in given.groups] == [80, 80, 80]
    numbers = np.array([1.0, np.nan, 2.0])[np.arange(N) % 3]
    found = v.evaluate(frame_of(P, g=numbers), y="y", prob="p", by="g", **QUICK).groups
    assert [key for key, _ in found] == [1.0, 2.0, "(missing)"]


ROUNDED = P3.round(2)


def test_rounded_rows_are_used_as_given_and_said():
    assert np.abs(ROUNDED.sum(axis=1) - 1).max() > 1e-6
    expected = brier(Y3, ROUNDED)
    assert v.brier_score(Y3, ROUNDED) == pytest.approx(expected, abs=1e-14)
    for engine in ENGINES:
        given = v.evaluate(
            frame_of(ROUNDED, Y3), y="y", prob=columns_of(P3), engine=engine, **QUICK
        )
        assert given.scores["brier"] == pytest.approx(expected, abs=1e-14)
        assert any("values of 2 decimals sum to 1 within 0.01" in note for note in given.notes)
        divided = v.evaluate(
            frame_of(ROUNDED, Y3),
            y="y",
            prob=columns_of(P3),
            normalize=True,
            engine=engine,
            **QUICK,
        )
        shares = ROUNDED / ROUNDED.sum(axis=1, keepdims=True)
        assert divided.scores["brier"] == pytest.approx(brier(Y3, shares), abs=1e-14)
        assert any("divided by their sums" in note for note in divided.notes)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        (ROUNDED + np.array([0.02, 0, 0]) * (ROUNDED[:, :1] < 0.9), "rounded, or cut off"),
        (np.round(P3, 5) + np.array([1e-5, 0, 0]) * (P3[:, :1] < 0.9), "rounded, or cut off"),
        (P3 * [1, 1, 0], "one seems to be missing"),
        (expit(Z3), "normalize=True"),
        (np.clip(100 * P3, 0, 100), 'scale="percent"'),
        (Z3, 'scale="logit"'),
    ],
    ids=[
        "too far",
        "five decimals",
        "a column missing",
        "one against the rest",
        "percent",
        "logit",
    ],
)
def test_rows_that_do_not_sum_are_told_the_likely_cause(rows, hint, engine):
    with pytest.raises(v.InvalidInputError) as caught:
        v.evaluate(frame_of(rows, Y3), y="y", prob=columns_of(P3), engine=engine, **QUICK)
    assert hint in caught.value.hint


def test_a_null_of_rounded_rows_may_be_the_rows_themselves():
    plain, mapped = (
        v.consistency_test(v.BinnedError(), Y3, ROUNDED, null_map=null_map, n_resamples=20, rng=0)
        for null_map in (None, lambda p: p)
    )
    assert mapped.pvalue == plain.pvalue


def test_only_predictions_may_be_rounded():
    with pytest.raises(v.InvalidInputError, match="`posterior` must be rows that sum to 1"):
        v.decompose(Y3, P3, posterior=ROUNDED)


def test_ties_of_rounded_rows_go_to_the_first_class():
    rows = np.array([[0.6, 0.6, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]])  # 1.2 = 1 + 4/2 units
    assert v.zero_one_loss([1, 3], rows, labels=range(4)) == 0.5


def test_fractions_are_cut_at_quartiles():
    given = v.evaluate(Y, P, by=AGE, **QUICK)
    keys = [key for key, _ in given.groups]
    edges = [float(key.strip("<=> (").split(",")[0]) for key in keys]
    assert keys == [
        f"<= {edges[1]:g}",
        f"({edges[1]:g}, {edges[2]:g}]",
        f"({edges[2]:g}, {edges[3]:g}]",
        f"> {edges[3]:g}",
    ]
    np.testing.assert_allclose(edges[1:], np.quantile(AGE, [0.25, 0.5, 0.75]), atol=0.05)
    cut = np.digitize(AGE, edges[1:], right=True)
    assert [one.n_samples for _, one in given.groups] == np.bincount(cut).tolist()
    assert len(v.evaluate(Y, P, by=AGE, by_bins=2, **QUICK).groups) == 2
    lazily = v.evaluate(frame_of(P, age=AGE).lazy(), y="y", prob="p", by="age", **QUICK)
    assert [key for key, _ in lazily.groups] == keys
    with pytest.raises(v.InvalidInputError, match="many different numbers in column 'age'"):
        v.evaluate(frame_of(P, age=AGE), y="y", prob="p", by="age", engine="pushdown", **QUICK)
    tests = v.calibration_tests(Y, P, by=AGE, n_resamples=50)
    assert list(tests.groups.names) == keys


@pytest.mark.parametrize(
    "by",
    [np.arange(N) % 20, (np.arange(N) % 20).astype(float), np.array(list("abcdefghijklmnop"))[
        np.arange(N) % 16], (np.arange(N) % 12) / 12],
    ids=["integers", "whole floats", "text", "twelve fractions"],
)  # fmt: skip
def test_codes_are_groups(by):
    assert group_rows([by], bins=4, caller="f").keys == np.unique(by).tolist()


def test_odd_fractions_are_cut_too():
    def keys(values: np.ndarray) -> list[Any]:
        return group_rows([values], bins=4, caller="f").keys

    assert 1 < len(keys(np.where(np.arange(N) < 200, 0.5, np.arange(N) / 7))) <= 4
    assert len(keys(1 + 1e-9 * np.arange(N))) == 4
    assert keys(with_gaps(AGE, [0, 1]))[-1] == "(missing)"
    assert len(keys(np.where(np.arange(N) < 3, np.inf, AGE))) == 4
    assert len(keys(np.where(np.arange(N) < 3, -np.inf, 1e-300 * AGE))) == 4


def test_monitors_read_alike():
    usual, given = v.CalibrationMonitor(), v.CalibrationMonitor()
    kept = np.setdiff1d(np.arange(N), MISSING_P)
    by = np.array(["a", "b"])[np.arange(N) % 2]
    expected = usual.update(Y[kept], P[kept], by=by[kept])
    found = given.update(
        Y, with_gaps(100 * P, MISSING_P), by=by, scale="percent", missing="drop", batch_id=3
    )
    assert found.e_value == pytest.approx(expected.e_value, rel=1e-9)
    assert found.n_rows == len(kept)
    assert found.notes[0] == "2 of 240 rows dropped: 2 without 'y_prob'"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"scale": "percents"}, "did you mean 'percent'"),
        ({"missing": "ignore"}, "`missing` must be one of 'error', 'drop'"),
        ({"normalize": "yes"}, "`normalize` must be True or False"),
        ({"by_bins": 1}, "`by_bins` must be an integer of 2 or more"),
    ],
    ids=str,
)
def test_options_are_checked(options, match):
    for engine in ("memory", "auto"):
        with pytest.raises(v.InvalidInputError, match=match):
            v.evaluate(frame_of(P).lazy(), y="y", prob="p", engine=engine, **options)
    with pytest.raises(v.InvalidInputError, match="a summary with"):
        v.evaluate(v.grid_summary(Y, P), scale="percent")


def test_blank_lines_at_the_end_of_a_csv_are_nothing(tmp_path):
    for end in ("\n\n", ",,\n,,\n", "\n  \n", "\r\n\r\n"):
        path = tmp_path / "rows.csv"
        frame_of(P, note=["x"] * N).write_csv(path)
        path.write_text(path.read_text() + end, newline="")
        for engine in ENGINES:
            assert v.evaluate(path, y="y", prob="p", engine=engine, **QUICK).n_samples == N
