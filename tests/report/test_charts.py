"""Charts hold what the results hold: numbers worked out by hand or counted row by row."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from charted import column, curve_of, drawn, words

from veridical import evaluate, reliability_curve
from veridical.curves.display import display_of_curve
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.report._charts.catalogue import (
    classwise_chart,
    comparison_chart,
    decomposition_chart,
    errors_chart,
    evidence_chart,
    groups_chart,
    reliability_chart,
    script_json,
    switchable_reliability,
)
from veridical.results import (
    CandidateEvidence,
    Comparison,
    Decomposition,
    Difference,
    Evidence,
    MeasuredError,
    ModelDifference,
)


def error(name: str = "ECE", value: float = 0.05, **more: Any) -> MeasuredError:
    given = {"definition": "15 bins", "lens": "binary", "n_samples": 100}
    return MeasuredError(name=name, value=value, **(given | more))


class TestReliability:
    def test_points_are_those_of_the_curve(self) -> None:
        chart = reliability_chart(curve_of())
        assert chart.table.rows[0] == (
            "0", "0.25", "3", "0.1250", "0.3333", "0.2083", "0.2500", "0.5000",
        )  # fmt: skip
        # Both axes go from 0 to 1, so places tell the numbers: dot by dot, limit by limit.
        first, second = drawn(chart, "dot")
        axis = drawn(chart, "reference")[0]["d"]
        left, bottom, right, top = map(float, re.findall(r"[\d.]+", axis))
        side = right - left
        assert side == bottom - top
        for dot, x, y in ((first, 0.125, 1 / 3), (second, 0.625, 1.0)):
            assert float(dot["cx"]) == pytest.approx(left + x * side, abs=0.1)
            assert float(dot["cy"]) == pytest.approx(bottom - y * side, abs=0.1)
        # Areas grow with the rows: three to one, from a smallest radius on.
        sizes = [float(dot["r"]) - 3.2 for dot in (first, second)]
        assert sizes[0] / sizes[1] == pytest.approx(math.sqrt(3), abs=0.1)
        whisker = drawn(chart, "whisker")[0]["d"]
        low, high = (float(v) for v in re.findall(r"[\d.]+", whisker)[1:])
        assert (low, high) == pytest.approx((bottom - 0.25 * side, bottom - 0.5 * side), abs=0.1)

    def test_lines_break_at_an_empty_bin(self) -> None:
        assert drawn(reliability_chart(curve_of()), "line")[0]["d"].count("M") == 2
        joined = reliability_chart(curve_of(lower=[0.0, 0.25], upper=[0.25, 0.5]))
        assert drawn(joined, "line")[0]["d"].count("M") == 1

    def test_simultaneous_band_between_blocks_is_what_the_curve_reads_there(self) -> None:
        curve = curve_of(
            lower=[0.0, 0.6], upper=[0.4, 1.0], observed=[0.2, 0.8], low=[0.1, 0.5],
            high=[0.5, 0.9], method="isotonic", interval="simultaneous",
        )  # fmt: skip
        shown = display_of_curve(curve)
        assert shown.band_x.tolist() == [0, 0.4, 0.4, 0.6, 0.6, 1]
        assert shown.band_low.tolist() == [0.1, 0.1, 0.1, 0.1, 0.5, 0.5]
        assert shown.band_high.tolist() == [0.5, 0.5, 0.9, 0.9, 0.9, 0.9]
        between = curve.at(0.5)
        assert (between.low, between.high) == (0.1, 0.9)
        assert len(drawn(reliability_chart(curve), "band")) == 1

    def test_no_more_than_200_blocks_with_both_ends(self) -> None:
        n = 1001
        p = np.arange(n) / (n - 1)
        each = dict.fromkeys(("lower", "upper", "predicted", "observed"), p)
        ones = np.ones(n)
        curve = curve_of(**each, count=ones, weight=ones, low=None, high=None, method="isotonic")
        shown = display_of_curve(curve)
        assert len(shown.curve) == 200
        assert (shown.line_x[0], shown.line_x[-1]) == (0, 1)
        assert shown.bar_counts.sum() == pytest.approx(n)
        assert len(reliability_chart(curve).table.rows) == 50

    def test_words_follow_the_lens(self) -> None:
        said = words(reliability_chart(curve_of(event="Status = 'bad'")))
        assert "predicted probability of Status = bad" in said
        assert "observed share of Status = bad" in said
        sure = words(reliability_chart(curve_of(lens="confidence")))
        assert "share of rows it was right" in sure

    def test_description_counts_bins_off_the_diagonal(self) -> None:
        # 0.125 is below its limits 0.25 to 0.5; 0.625 is within 0.5 to 1.
        # Mean gap: (3 * (1/3 - 1/8) + 1 * 3/8) / 4 = 1/4, and 5/8 of the sum is the first bin.
        said = reliability_chart(curve_of()).description
        assert "1 of 2 bins lie off the diagonal beyond 95 % limits" in said
        assert "on average 0.25 off the diagonal" in said
        assert "where it says 0.12 and 0.33 is observed" in said

    def test_consistency_limits_are_around_the_prediction(self) -> None:
        curve = curve_of(interval="consistency", observed=[0.3, 0.4])
        assert "1 of 2 bins" in reliability_chart(curve).description

    def test_several_series_keep_their_names_and_order(self) -> None:
        chart = reliability_chart({"b": curve_of(), "a": curve_of()})
        assert column(chart, "series") == ["b", "b", "a", "a"]
        assert words(chart)[:2] == ["b", "a"]
        looks = {dot["look"] for dot in drawn(chart, "dot")}
        assert looks == {"s0", "s1"}
        before = reliability_chart({"b": curve_of(), "a": curve_of()}, classes=("before", "after"))
        assert {dot["look"] for dot in drawn(before, "dot")} == {"before", "after"}

    @pytest.mark.parametrize("bad", [{}, {"a": 1}, [0, 1], None])
    def test_something_else_is_refused(self, bad: Any) -> None:
        with pytest.raises(InvalidInputError, match="ReliabilityCurve"):
            reliability_chart(bad)


class TestVariants:
    def test_one_frame_a_variant_and_one_control_a_name(self) -> None:
        few, many = curve_of(), curve_of(lens="confidence", observed=[0.5, 0.5])
        chart = switchable_reliability(
            {("binary", "4"): few, ("confidence", "4"): many}, names=["lens", "bins"]
        )
        assert [control.options for control in chart.controls] == [
            ("binary", "confidence"),
            ("4",),
        ]
        assert [frame.choice for frame in chart.frames] == [(0, 0), (1, 0)]
        assert [row[4] for row in chart.frames[1].table.rows] == ["0.5000", "0.5000"]
        html = chart.to_html("x")
        # A choice of one option needs no list; every frame is on the page, the first is seen.
        assert html.count("<select") == 1
        assert re.findall(r'data-choice="([^"]*)"( hidden)?', html) == [
            ("0,0", ""),
            ("1,0", " hidden"),
        ]

    def test_what_is_shown_first_is_a_picture_by_itself(self) -> None:
        chart = switchable_reliability({("a",): curve_of()}, names=["lens"])
        assert chart.to_svg() == reliability_chart(curve_of()).to_svg()

    @pytest.mark.parametrize("keys", [[], [("a",)], [("a", 1), ("a", "1")]])
    def test_keys_have_a_word_for_each_name(self, keys: list[Any]) -> None:
        with pytest.raises(InvalidInputError, match="tuples of 2 words"):
            switchable_reliability(dict.fromkeys(keys, curve_of()), names=["lens", "bins"])


def test_classes_beyond_the_most_can_be_opened() -> None:
    chart = classwise_chart({str(k): curve_of() for k in range(5)}, most=2)
    shown, more = chart.to_html("x").split('<details class="chart-more">')
    assert (shown.count("<svg"), more.count('class="vd"')) == (2 * 2, 3)  # one inside each
    assert "<summary>and 3 more</summary>" in more
    assert column(chart, "class") == ["0", "1", "2", "3", "4"]
    assert column(chart, "mean gap") == ["0.2500"] * 5
    assert "the other 3 can be opened" in chart.description


def test_bars_of_a_decomposition_end_at_the_score() -> None:
    parts = Decomposition(
        score=0.25, miscalibration=0.03, discrimination=0.02, uncertainty=0.23, refinement=0.21,
        within_bin=0.01, rule="brier", method="bins", definition="4 bins", lens="binary",
        n_samples=10,
    )  # fmt: skip
    chart = decomposition_chart({"m": parts})
    bars = [bar for bar in drawn(chart, "full") if float(bar["y"]) > 40]  # below the key
    ends = [(float(b["x"]), float(b["x"]) + float(b["width"])) for b in bars]
    unit = (ends[0][1] - ends[0][0]) / 0.21
    start = ends[0][0]
    for (low, high), (a, b) in zip(
        ends, [(0, 0.21), (0.21, 0.24), (0.21, 0.23), (0.24, 0.25)], strict=True
    ):
        assert (low, high) == pytest.approx((start + a * unit, start + b * unit), abs=0.3)
    other = Decomposition(**(parts.to_dict() | {"rule": "log"}))
    with pytest.raises(InvalidInputError, match="of one rule"):
        decomposition_chart({"a": parts, "b": other})


class TestErrors:
    def test_rows_hold_interval_and_null(self) -> None:
        chart = errors_chart([error(low=0.04, high=0.06, null_mean=0.01, null_q95=0.02)])
        assert chart.table.rows[0][2:8] == ("100", "0.0500", "0.0400", "0.0600", "0.0100", "0.0200")
        assert "more than a calibrated model may show" in chart.description
        (null,), (dot,) = drawn(chart, "null", 640), drawn(chart, "dot", 640)
        zero, unit = float(null["x"]), float(null["width"]) / 0.02
        assert float(dot["cx"]) == pytest.approx(zero + 0.05 * unit, abs=0.3)
        ends = re.findall(r"M([\d.]+)", drawn(chart, "whisker", 640)[0]["d"])
        assert float(ends[0]) == pytest.approx(zero + 0.04 * unit, abs=0.3)
        assert float(ends[2]) == pytest.approx(zero + 0.06 * unit, abs=0.3)

    def test_groups_come_worst_first_by_the_adjusted_pvalue(self) -> None:
        groups = {"a": error(value=0.5), "b": error(value=0.1), "c": error(value=0.2)}
        chart = groups_chart(groups, adjusted={"a": 0.6, "b": 0.03, "c": 0.6})
        assert column(chart, "group") == ["b", "a", "c"]
        assert [dot["look"] for dot in drawn(chart, "dot")] == ["after", "other", "other"]
        assert "1 stand out at level 0.05" in chart.description

    def test_groups_of_an_evaluation(self) -> None:
        y, p = np.tile([0, 1, 1, 1], 25), np.tile([0.2, 0.4, 0.6, 0.8], 25)
        with pytest.warns(VeridicalWarning):
            found = evaluate(y, p, by=np.repeat(["x", "y"], 50), n_resamples=20, rng=0)
        chart = groups_chart(found)
        assert sorted(column(chart, "group")) == ["x", "y"]
        for name, value in zip(column(chart, "group"), column(chart, "value"), strict=True):
            assert float(value) == pytest.approx(found.group(name).default.value, abs=5e-5)

    def test_only_the_worst_thirty_are_drawn(self) -> None:
        chart = groups_chart({str(i): error(value=i / 100) for i in range(50)})
        assert [name for name in words(chart) if name.isdigit()][:30] == [
            str(i) for i in range(49, 19, -1)
        ]
        assert len(drawn(chart, "dot")) == 30
        assert len(chart.table.rows) == 50


def evidence() -> Evidence:
    def entry(name: str, difference: float | None, weight: float) -> CandidateEvidence:
        limits = (None, None) if difference is None else (difference - 0.01, difference + 0.01)
        return CandidateEvidence(
            candidate=name, log_loss=0.5, brier=0.2, difference=difference, low=limits[0],
            high=limits[1], weight=weight, chosen=weight > 0, note="", seconds=0.1,
        )  # fmt: skip

    entries = (entry("identity", 0.0, 0), entry("beta", -0.03, 0.7), entry("slow", None, 0),
               entry("platt", 0.01, 0.3), entry("pool", -0.04, 1))  # fmt: skip
    return Evidence(candidates=entries, strategy="pool", verdict="Two maps.", n_samples=100,
                    n_classes=2, partitions=(5,), n_used=100, confidence_level=0.95)  # fmt: skip


def test_candidates_are_in_order_and_the_untried_in_the_table() -> None:
    chart = evidence_chart(evidence())
    shown = [name for name in words(chart) if name in ("pool", "beta", "identity", "platt", "slow")]
    assert shown == ["pool", "beta", "identity", "platt"]
    looks = [(dot["look"], "hollow" in dot["class"]) for dot in drawn(chart, "dot")]
    assert looks == [("after", False), ("after", True), ("other", False), ("after", True)]
    assert [row[0] for row in chart.table.rows] == ["identity", "beta", "slow", "platt", "pool"]


def comparison() -> Comparison:
    def pair(first: str, second: str, low: float, adjusted: float) -> ModelDifference:
        difference = Difference(
            estimate=low + 0.01, low=low, high=low + 0.02, confidence_level=0.95, pvalue=adjusted,
            method="analytic", estimator="brier", definition="mean", lens="binary", n_samples=9,
            n_resamples=None, first=0.1, second=0.2,
        )  # fmt: skip
        return ModelDifference(first=first, second=second, difference=difference, adjusted=adjusted)

    pairs = (pair("a", "b", -0.03, 0.001), pair("a", "c", -0.005, 0.4))
    return Comparison(models=("a", "b", "c"), evaluations=(), tests=(), differences=pairs,
                      lens="binary", n_samples=9, confidence_level=0.95)  # fmt: skip


def test_pairs_beyond_chance_are_in_colour() -> None:
    chart = comparison_chart(comparison())
    assert column(chart, "brier") == ["-0.0200", "0.0050"]
    assert [dot["look"] for dot in drawn(chart, "dot")] == ["after", "other"]
    with pytest.raises(InvalidInputError, match="brier"):
        comparison_chart(comparison(), figure="breir")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.data.append(data)


HOSTILE = "</script><img src=x onerror=alert(1)>\u2028'\"`${1}&amp;"


def test_no_label_becomes_markup() -> None:
    chart = reliability_chart({HOSTILE: curve_of(), "a" * 200: curve_of()}, title=HOSTILE)
    parser = _Tags()
    parser.feed(chart.to_html("x"))
    assert "img" not in parser.tags
    assert "script" not in parser.tags
    assert any(HOSTILE[:20] in text for text in parser.data)


def test_json_in_a_script_has_no_character_that_could_end_it() -> None:
    text = script_json([HOSTILE])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == [HOSTILE]


@pytest.mark.parametrize("identifier", ["", "1a", "a b", 'a"', "<a>", None])
def test_an_identifier_is_one_word(identifier: Any) -> None:
    with pytest.raises(InvalidInputError, match="usable as an id"):
        reliability_chart(curve_of()).to_html(identifier)


def test_a_curve_of_real_rows_is_drawn_as_computed(binary: Any) -> None:
    curve = reliability_curve(binary.y, binary.p, n_bins=10)
    chart = reliability_chart(curve)
    lower, upper = (np.array(column(chart, name), dtype=float) for name in ("from", "to"))
    for i, (count, observed) in enumerate(
        zip(column(chart, "rows"), column(chart, "observed"), strict=True)
    ):
        inside = (binary.p > lower[i] - (i == 0)) & (binary.p <= upper[i] + 1e-9)
        assert int(count) == inside.sum()
        assert float(observed) == pytest.approx(binary.y[inside].mean(), abs=5e-5)
