"""The search over segments: against masks over rows, golden values and what must not matter."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import beta as beta_distribution

from veridical import InvalidInputError, audit_segments
from veridical._core.data.randomness import Draws
from veridical.inference._segments import cells, search
from veridical.inference._segments.core import table_of
from veridical.lenses import Classwise
from veridical.results import SegmentAudit


def naive_statistic(y, p, w=None):
    """Range over n and standardised, by a loop over distinct scores."""
    w = np.ones(len(y)) if w is None else w
    total, high, low = 0.0, 0.0, 0.0
    for score in np.unique(p):
        same = p == score
        total += float((w * (y - p))[same].sum())
        high, low = max(high, total), min(low, total)
    return (high - low) / w.sum(), (high - low) / np.sqrt((w**2 * p * (1 - p)).sum())


def drawn(n, seed, *, digits=None):
    rng = np.random.default_rng(seed)
    features = {
        "a": rng.choice(["x", "y", "z"], n),
        "b": rng.integers(0, 2, n),
        "c": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }
    p = rng.beta(1, 2, n)
    p = p if digits is None else np.round(p, digits).clip(0.01, 0.99)
    return (rng.random(n) < p).astype(int), p, features


def masks(audit, features):
    """Rows of every segment, from its words alone."""
    for segment in audit.segments:
        inside = np.ones(len(features["a"]), dtype=bool)
        for words in segment.values:
            name, rest = words[0], words[2:]
            column = features[name]
            if rest == "missing":
                inside &= np.isnan(column)
            elif rest.startswith("="):
                inside &= column.astype(str) == rest[2:]
            elif rest.startswith("up to"):
                inside &= column <= float(rest[6:])
            elif rest.startswith("above"):
                inside &= column > float(rest[6:])
            else:
                low, high = rest.split(" to ")
                inside &= (column > float(low)) & (column <= float(high))
        yield segment, inside


def test_the_tiny_example_of_arithmetic():
    y, p = [0, 1, 0, 1, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.55, 0.6, 0.8, 0.9]
    features = {"x": [0, 0, 0, 0, 1, 1, 1, 1]}
    audit = audit_segments(y, p, features, min_rows=1, n_resamples=19, rng=0)
    [whole] = [each for each in audit.segments if each.name == "all rows"]
    assert whole.range == pytest.approx(0.19375, abs=1e-12)
    assert whole.statistic == pytest.approx(1.2927893672, abs=1e-10)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weights", ["none", "importance", "frequency"])
def test_statistics_are_those_of_masks_and_loops(digits, weights):
    y, p, features = drawn(400, 1, digits=digits)
    rng = np.random.default_rng(2)
    w = {"none": None, "importance": rng.random(400) + 0.5, "frequency": rng.integers(1, 4, 400)}
    w = w[weights]
    about = {} if w is None else {"sample_weight": w, "weight_type": weights}
    audit = audit_segments(y, p, features, n_resamples=19, rng=0, min_rows=10, **about)
    assert audit.n_segments == len(audit.segments) > 20
    for segment, inside in masks(audit, features):
        own = None if w is None else w[inside]
        rows = inside.sum() if weights != "frequency" else own.sum()
        assert segment.n_samples == rows
        if weights == "frequency":
            times = np.repeat(np.flatnonzero(inside), own)
            size, errors = naive_statistic(y[times], p[times])
        else:
            size, errors = naive_statistic(y[inside], p[inside], own)
        assert segment.range == pytest.approx(size, abs=1e-12)
        if weights != "importance":  # whose errors are those of outcomes with weights redrawn
            assert segment.statistic == pytest.approx(errors, rel=1e-9)
        assert segment.says == pytest.approx(np.average(p[inside], weights=own))
        assert segment.happens == pytest.approx(np.average(y[inside], weights=own))


def test_many_scores_are_put_into_cells_of_equal_mass():
    p = np.random.default_rng(0).random(5000)
    cell = cells.score_cells(p)
    counts = np.bincount(cell)
    assert len(counts) == 256
    assert counts.max() <= 21
    order = np.argsort(p)
    assert (np.diff(cell[order]) >= 0).all()
    kept = cells.score_cells(np.round(p, 3))
    assert len(np.unique(kept)) == len(np.unique(np.round(p, 3))) > 256


def test_pvalues_are_those_of_the_joint_draws(monkeypatch):
    """Westfall and Young's step-down, by definition, from the same draws of all segments."""
    y, p, features = drawn(300, 3)
    y = np.where((features["a"] == "x") & (np.arange(300) % 2 == 0), 1, y)
    seen = []
    original = search.null_ranges

    def listening(*arguments):
        for found in original(*arguments):
            seen.append(found[0].range.copy())
            yield found

    monkeypatch.setattr("veridical.inference._segments.core.null_ranges", listening)
    audit = audit_segments(y, p, features, n_resamples=99, rng=0, min_rows=10)
    [null] = seen  # (segments, draws), in the order of the search
    by_name = {each.name: each for each in audit.segments}
    ranked = sorted(audit.segments, key=lambda each: -each.statistic)
    errors = {each.name: each.range * each.n_samples / each.statistic for each in ranked}
    order = search_order(features)
    assert {*order} == {*by_name}
    drawn_statistics = np.array([null[k] / errors[name] for k, name in enumerate(order)])
    place = {name: k for k, name in enumerate(order)}
    adjusted = 0.0
    for rank, each in enumerate(ranked):
        rest = [place[other.name] for other in ranked[rank:]]
        reached = drawn_statistics[rest].max(axis=0) >= each.statistic * (1 - 1e-9)
        adjusted = max(adjusted, (1 + reached.sum()) / 100)
        assert each.pvalue == pytest.approx(adjusted)
    assert audit.pvalue == ranked[0].pvalue


def search_order(features):
    """Names of the segments in the order in which they are searched."""
    from veridical._core.data.features import fit_features
    from veridical._core.data.segments import cross, find_segments

    fitted = fit_features(features, caller="f")
    found = cross(fitted.codes(features, caller="f"), fitted.n_codes)
    segments = find_segments(found.codes, found.rows, fitted.n_codes, depth=2, min_rows=10)
    return [fitted.words(parts) for parts in segments.parts]


@pytest.mark.parametrize("small", [True, False])
def test_passes_of_any_size_find_the_same(monkeypatch, small):
    y, p, features = drawn(600, 4)
    expected = audit_segments(y, p, features, n_resamples=40, rng=0).to_dict()
    if small:
        monkeypatch.setattr(search, "_TABLE", 1)
        monkeypatch.setattr(search, "_MEMBERS", 50)
    else:
        monkeypatch.setattr(cells, "_MOST_ROWS", 10)  # mean predictions of crosses and cells
    found = audit_segments(y, p, features, n_resamples=40, rng=0)
    if small:
        assert found.to_dict() == expected
    else:
        assert found.statistic == pytest.approx(expected["statistic"], rel=1e-3)


def test_drawn_outcomes_have_the_law_of_the_predictions():
    """Means and variances of the sums of residuals of segments, of copies of rows too."""
    y, p, features = drawn(200, 5, digits=1)
    from veridical._core.data.features import fit_features
    from veridical._core.data.segments import cross, find_segments

    fitted = fit_features({"a": features["a"]}, caller="f")
    found = cross(fitted.codes({"a": features["a"]}, caller="f"), fitted.n_codes)
    segments = find_segments(found.codes, found.rows, fitted.n_codes, depth=1, min_rows=1)
    question = cells.drawn_question(found.place, p, y, None)
    draws = Draws(4000, np.random.default_rng(0))
    [[ranges]] = list(search.null_ranges([question], found.codes, segments, draws, None))
    for number, parts in enumerate(segments.parts):
        inside = np.ones(200, bool) if not parts else features["a"] == "xyz"[parts[0][1]]
        variance = (p * (1 - p))[inside].sum()
        assert abs(ranges.end[number].mean()) < 4 * np.sqrt(variance / 4000)
        assert ranges.end[number].var() == pytest.approx(variance, rel=0.12)
        assert (ranges.high[number] >= np.maximum(ranges.end[number], 0) - 1e-9).all()


def test_order_of_rows_and_threads_do_not_matter(monkeypatch):
    y, p, features = drawn(500, 6)
    expected = audit_segments(y, p, features, n_resamples=64, rng=0).to_dict()
    turned = np.random.default_rng(0).permutation(500)
    shuffled = {name: column[turned] for name, column in features.items()}
    assert (
        audit_segments(y[turned], p[turned], shuffled, n_resamples=64, rng=0).to_dict() == expected
    )
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert audit_segments(y, p, features, n_resamples=64, rng=0).to_dict() == expected


def test_frequencies_are_copies_and_zero_weight_is_removal():
    y, p, features = drawn(200, 7)
    w = np.random.default_rng(1).integers(0, 4, 200)
    times = np.repeat(np.arange(200), w)
    copied = {name: column[times] for name, column in features.items()}
    once = audit_segments(
        y, p, features, sample_weight=w, weight_type="frequency", n_resamples=19, rng=0
    )
    twice = audit_segments(y[times], p[times], copied, n_resamples=19, rng=0)
    assert once.to_dict() == twice.to_dict()


def test_a_constant_weight_changes_nothing():
    y, p, features = drawn(200, 8)
    plain = audit_segments(y, p, features, n_resamples=19, rng=0)
    scaled = audit_segments(y, p, features, sample_weight=np.full(200, 7.0), n_resamples=19, rng=0)
    assert scaled.pvalue == plain.pvalue
    assert scaled.statistic == pytest.approx(plain.statistic)


def test_limits_are_those_of_clopper_and_pearson_at_the_tail_of_the_search():
    y, p, features = drawn(500, 9)
    audit = audit_segments(y, p, features, n_resamples=199, rng=0)
    tails = set()
    for each in audit.segments:
        hits = round(each.happens * each.n_samples)
        law = beta_distribution(hits + 1, each.n_samples - hits)
        tails.add(round(float(law.sf(each.high)), 10))
        law = beta_distribution(hits, each.n_samples - hits + 1)
        tails.add(round(float(law.cdf(each.low)), 10))
    [tail] = tails  # one for all
    assert 0.025 / audit.n_segments - 1e-9 <= tail <= 0.025
    gaps = [max(each.high - each.says, each.says - each.low) for each in audit.segments]
    assert audit.worst.high == pytest.approx(max(gaps))


def shifted(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    features = {"sex": rng.choice(["f", "m"], n), "region": rng.choice(list("NESW"), n)}
    p = rng.beta(2, 2, n)
    odd = (features["sex"] == "f") & (features["region"] == "S")
    truth = np.where(odd, p**2, p)
    return (rng.random(n) < truth).astype(int), p, features, odd


def test_the_shortest_description_is_found_and_said():
    y, p, features, odd = shifted()
    audit = audit_segments(y, p, pd.DataFrame(features), rng=0)
    assert audit.rejected
    assert [each.name for each in audit.found] == ["sex = f, region = S"]
    [found] = audit.found
    assert found.n_samples == odd.sum()
    words = found.in_words(audit.n_resamples)
    assert words.startswith(f"sex = f, region = S ({odd.sum()} rows): says 0.5")
    assert words.endswith("adjusted p < 0.0011")
    assert "first sex = f, region = S" in audit.sentence
    assert isinstance(audit.to_frame(), pd.DataFrame)


def test_opposite_errors_are_both_described_by_what_is_left():
    rng = np.random.default_rng(0)
    sex, p = rng.choice(["f", "m"], 4000), rng.beta(2, 2, 4000)
    truth = np.where(sex == "f", p - 0.1, p + 0.1).clip(0, 1)
    y = (rng.random(4000) < truth).astype(int)
    audit = audit_segments(y, p, {"sex": sex}, rng=0)
    assert sorted(each.name for each in audit.found) == ["sex = f", "sex = m"]


def test_a_wrong_slope_is_said_by_a_stretch_of_predictions():
    rng = np.random.default_rng(1)
    p = rng.random(4000)
    y = (rng.random(4000) < 0.5 + 0.5 * (p - 0.5)).astype(int)
    audit = audit_segments(y, p, {"a": rng.integers(0, 2, 4000)}, rng=0)
    first = audit.found[0]
    assert first.name == "all rows"
    assert first.hidden
    assert "of predictions from" in first.in_words()
    assert abs(first.gap) < 0.03 < abs(first.part_happens - first.part_says)


def test_nothing_found_is_not_shown_and_says_what_is_possible():
    y, p, features = drawn(400, 11)
    audit = audit_segments(y, p, features, rng=0)
    assert not audit.rejected
    assert audit.found == ()
    assert audit.sentence.startswith("Miscalibration of a segment is not shown (p = ")
    assert "gaps of up to" in audit.sentence


def test_what_cannot_happen_and_does_is_infinite():
    y, p = np.array([0, 1] * 60), np.array([0.0, 1.0] * 60)
    y[1] = 0
    audit = audit_segments(y, p, {"a": [0, 1] * 60}, n_resamples=19, rng=0)
    assert audit.statistic == np.inf
    assert audit.pvalue == 1 / 20
    assert SegmentAudit.from_json(audit.to_json()) == audit


def test_classwise_takes_the_largest_over_classes():
    rng = np.random.default_rng(12)
    p = rng.dirichlet([1, 1, 1], 900)
    y = (rng.random(900)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    y[(y == 2) & (np.arange(900) < 300)] = 1
    features = {"third": np.repeat(["a", "b", "c"], 300)}
    audit = audit_segments(y, p, features, lens="classwise", n_resamples=99, rng=0)
    for segment in audit.segments:
        inside = (
            slice(None) if segment.name == "all rows" else features["third"] == segment.name[-1]
        )
        each = [naive_statistic((y == k)[inside], p[inside, k]) for k in range(3)]
        best = int(np.argmax([errors for _, errors in each]))
        assert segment.label == best
        assert segment.statistic == pytest.approx(each[best][1], rel=1e-9)
    assert audit.found[0].name == "third = a"
    confidence = audit_segments(y, p, features, n_resamples=19, rng=0)
    assert confidence.lens == "confidence"
    assert confidence.segments[0].label is None


def test_classes_of_a_row_have_one_outcome():
    """Residuals of all classes of a draw sum to zero."""
    rng = np.random.default_rng(13)
    p = rng.dirichlet([1, 1, 1], 60)
    from veridical._core.data.features import fit_features
    from veridical._core.data.validation import check_sample

    sample = check_sample(rng.integers(0, 3, 60), p, caller="f")
    columns = {"a": np.arange(60) % 2}
    fitted = fit_features(columns, caller="f")
    codes = fitted.codes(columns, caller="f")
    table = table_of(Classwise().induce(sample), fitted, codes, lens="c", event="e", caller="f")
    from veridical._core.data.segments import find_segments

    segments = find_segments(table.codes, table.rows, fitted.n_codes, depth=1, min_rows=1)
    draws = Draws(20, np.random.default_rng(0))
    [found] = search.null_ranges(table.questions, table.codes, segments, draws, table.redraw)
    np.testing.assert_allclose(sum(each.end for each in found), 0.0, atol=1e-9)


def test_groups_widen_what_chance_can_do():
    rng = np.random.default_rng(14)
    group = np.repeat(np.arange(60), 20)
    p = np.full(1200, 0.5)
    shared = rng.random(60)[group]
    y = (np.where(rng.random(1200) < 0.6, shared, rng.random(1200)) < p).astype(int)
    features = {"half": (group < 30).astype(int)}  # whole groups: their luck is the segment's
    alone = audit_segments(y, p, features, rng=0)
    together = audit_segments(y, p, features, groups=group, rng=0)
    assert "together within 60 groups" in together.null
    assert together.pvalue > alone.pvalue
    assert together.worst.high > alone.worst.high


def test_rows_kept_by_label_are_not_miscalibrated():
    rng = np.random.default_rng(15)
    p = rng.beta(1, 4, 6000)
    y = (rng.random(6000) < p).astype(int)
    kept = (y == 1) | (rng.random(6000) < 0.25)
    weight = np.where(y == 1, 1.0, 4.0)[kept]
    features = {"a": rng.integers(0, 3, 6000)[kept]}
    audit = audit_segments(y[kept], p[kept], features, sample_weight=weight, rng=0)
    assert not audit.rejected
    wrong = audit_segments(y[kept], p[kept], features, rng=0)
    assert wrong.rejected


def test_frames_files_and_arrays_say_the_same(tmp_path):
    y, p, features, _ = shifted(800)
    frame = pl.DataFrame({**features, "happened": y, "score": p})
    expected = audit_segments(y, p, pd.DataFrame(features), n_resamples=19, rng=0)
    path = tmp_path / "rows.csv"
    frame.write_csv(path)
    for source in (frame, frame.to_pandas(), frame.lazy(), path):
        found = audit_segments(source, y="happened", prob="score", n_resamples=19, rng=0)
        assert found.segments == expected.segments
        assert found.features == ("sex", "region")
    named = audit_segments(
        frame, features=["*", "!sex"], y="happened", prob="score", n_resamples=19, rng=0
    )
    assert named.features == ("region",)
    guessed = audit_segments(path, features="s*", n_resamples=19, rng=0)
    assert guessed.features == ("sex",)


def test_names_of_rows_are_left_out_with_a_note():
    y, p, features = drawn(300, 16)
    features["id"] = [f"row {i}" for i in range(300)]
    features |= {"year": [2026] * 300, "site": ["north"] * 300}
    audit = audit_segments(y, p, features, n_resamples=19, rng=0)
    assert audit.features == ("a", "b", "c")
    assert audit.notes == (
        "left out, as no value has 50 rows: id",
        "left out, as all rows have one value: year, site",
    )
    with pytest.warns(match="only all rows were tested"):
        alone = audit_segments(y, p, {"id": features["id"]}, n_resamples=19, rng=0)
    assert [each.name for each in alone.segments] == ["all rows"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"features": None}, "features"),
        ({"features": {"a": [1, 2]}}, "features"),
        ({"depth": 0}, "depth"),
        ({"n_bins": 1}, "n_bins"),
        ({"min_rows": 0}, "min_rows"),
        ({"lens": "canonical"}, "lens"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"confidence_level": 2}, "confidence_level"),
    ],
)
def test_bad_calls_are_refused(change, param):
    p = np.full((60, 3), 1 / 3)
    call = {"y_true": [0, 1, 2] * 20, "y_prob": p, "features": {"a": [0, 1] * 30}} | change
    with pytest.raises(InvalidInputError) as caught:
        audit_segments(**call)
    assert caught.value.param == param


def test_results_lose_nothing_and_stay_short():
    y, p, features, _ = shifted(800)
    audit = audit_segments(y, p, features, n_resamples=99, rng=0)
    assert SegmentAudit.from_dict(json.loads(audit.to_json())) == audit
    assert len(repr(audit)) <= 120
    assert len(str(audit).splitlines()) <= 40
    html = audit._repr_html_()
    assert "<svg" in html
    assert "sex = f, region = S" in html
    assert audit.to_frame().shape[0] == audit.n_segments


def test_words_are_escaped():
    y, p, _, _ = shifted(400)
    features = {"<script>": np.repeat(["<b>", "a&b"], 200)}
    audit = audit_segments(y, p, features, n_resamples=19, rng=0)
    assert "<script>" not in audit._repr_html_()


def test_options_of_a_search_reach_it():
    y, p, features, _ = shifted(800)
    deep = audit_segments(y, p, features, n_resamples=19, rng=0)
    shallow = audit_segments(
        y, p, features, depth=1, min_rows=100, confidence_level=0.9, n_resamples=19, rng=0
    )
    assert shallow.n_segments == 7 < deep.n_segments == 15
    assert shallow.confidence_level == 0.9


def test_limits_hold_where_predictions_leave_no_spread():
    """Predictions of 0 that happen in 2 of 100 rows: no draw says so, yet the limit must."""
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        group = np.where(np.arange(500) < 440, "x", "y")
        p = np.where(group == "x", (rng.random(500) < 0.5) * 1.0, 0.0)
        y = (rng.random(500) < np.where(group == "x", p, 0.02)).astype(int)
        found = audit_segments(y, p, {"group": group}, n_resamples=99, rng=seed)
        missed += found.worst.high < 0.02
    assert missed <= 4  # 1 of 20 expected at most; 5 or more has a chance below 0.003


def test_a_lens_that_repeats_rows_is_refused():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 1, 2], 200)
    y = (p.cumsum(axis=1) < rng.random((200, 1))).sum(axis=1)
    with pytest.raises(InvalidInputError, match="`lens` must be one that asks binary questions"):
        audit_segments(y, p, {"a": rng.normal(size=200)}, lens="pooled")


def test_classes_are_named_as_what_is_asked():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 1, 2], 300)
    y = (p.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    found = audit_segments(y, p, {"a": rng.normal(size=300)}, lens="classwise", n_resamples=19)
    assert "each class against the rest (classwise" in " ".join(str(found).split())
