"""Charts hold what the results hold: numbers worked out by hand or counted row by row."""

from __future__ import annotations

import json
import math
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from veridical import (
    Grouped,
    cost_curve,
    decision_curve,
    evaluate,
    reliability_curve,
    sequential_test,
)
from veridical.binning import SimplexBins
from veridical.exceptions import InvalidInputError, MissingDependencyError, VeridicalWarning
from veridical.lenses.reading import RawData
from veridical.report._charts.catalogue import (
    Chart,
    TimePanel,
    classwise_chart,
    comparison_chart,
    cost_curve_chart,
    cost_slider,
    decision_chart,
    decomposition_chart,
    errors_chart,
    evidence_chart,
    evidence_panel,
    groups_chart,
    reliability_chart,
    score_histogram,
    script_json,
    simplex_chart,
    slider_thresholds,
    switchable_reliability,
    timeline_chart,
)
from veridical.report._charts.parts import THEMES
from veridical.results import (
    CandidateEvidence,
    Comparison,
    Decomposition,
    Difference,
    Evidence,
    MeasuredError,
    ModelDifference,
    ReliabilityCurve,
)
from veridical.summaries import summarise


def curve_of(**arrays: Any) -> ReliabilityCurve:
    """Curve of two bins with an empty one between them, changed as asked."""
    given: dict[str, Any] = {
        "lower": [0.0, 0.5],
        "upper": [0.25, 0.75],
        "count": [3.0, 1.0],
        "weight": [3.0, 1.0],
        "predicted": [0.125, 0.625],
        "observed": [1 / 3, 1.0],
        "low": [0.25, 0.5],
        "high": [0.5, 1.0],
    }
    words: dict[str, Any] = {"lens": "binary", "method": "bins", "definition": "4 bins",
                             "interval": "binomial", "confidence_level": 0.95}  # fmt: skip
    for name, value in arrays.items():
        (given if name in given else words)[name] = value
    made = {name: None if v is None else np.array(v, dtype=float) for name, v in given.items()}
    gap = made["observed"] - made["predicted"]
    return ReliabilityCurve(**made, **words, gap=gap, n_samples=int(made["count"].sum()))


def rows_of(chart: Chart, dataset: str) -> list[dict[str, Any]]:
    return chart.spec["datasets"][dataset]


def column(chart: Chart, dataset: str, field: str) -> list[Any]:
    return [row[field] for row in rows_of(chart, dataset)]


def error(name: str = "ECE", value: float = 0.05, **more: Any) -> MeasuredError:
    given = {"definition": "15 bins", "lens": "binary", "n_samples": 100}
    return MeasuredError(name=name, value=value, **(given | more))


class TestReliability:
    def test_points_are_those_of_the_curve(self) -> None:
        chart = reliability_chart(curve_of())
        assert column(chart, "points", "predicted") == [0.125, 0.625]
        assert column(chart, "points", "observed") == pytest.approx([1 / 3, 1.0], abs=1e-6)
        assert column(chart, "points", "count") == [3.0, 1.0]
        assert column(chart, "points", "low") == [0.25, 0.5]
        assert column(chart, "points", "high") == [0.5, 1.0]
        assert chart.table.rows[0] == (
            "0", "0.25", "3", "0.1250", "0.3333", "0.2083", "0.2500", "0.5000",
        )  # fmt: skip

    def test_lines_break_at_an_empty_bin(self) -> None:
        pieces = column(reliability_chart(curve_of()), "lines", "piece")
        assert pieces == [0, 1]
        joined = curve_of(lower=[0.0, 0.25], upper=[0.25, 0.5])
        assert column(reliability_chart(joined), "lines", "piece") == [0, 0]

    def test_simultaneous_band_between_blocks_is_what_the_curve_reads_there(self) -> None:
        curve = curve_of(
            lower=[0.0, 0.6], upper=[0.4, 1.0], observed=[0.2, 0.8], low=[0.1, 0.5],
            high=[0.5, 0.9], method="isotonic", interval="simultaneous",
        )  # fmt: skip
        chart = reliability_chart(curve)
        assert column(chart, "lines", "predicted") == [0, 0.4, 0.4, 0.6, 0.6, 1]
        assert column(chart, "lines", "low") == [0.1, 0.1, 0.1, 0.1, 0.5, 0.5]
        assert column(chart, "lines", "high") == [0.5, 0.5, 0.9, 0.9, 0.9, 0.9]
        between = curve.at(0.5)
        assert (between.low, between.high) == (0.1, 0.9)

    def test_rows_of_a_block_spread_evenly_over_it(self) -> None:
        curve = curve_of(lower=[0.0, 0.5], upper=[0.5, 1.0], count=[20, 60], method="isotonic")
        counts = column(reliability_chart(curve), "spread", "count")
        assert counts == pytest.approx([1.0] * 20 + [3.0] * 20)

    def test_blocks_of_one_score_keep_their_rows(self) -> None:
        curve = curve_of(lower=[0.0, 1.0], upper=[0.0, 1.0], count=[7, 2], method="isotonic")
        counts = column(reliability_chart(curve), "spread", "count")
        assert (counts[0], counts[-1], sum(counts)) == pytest.approx((7, 2, 9))

    def test_no_more_than_200_blocks_with_both_ends(self) -> None:
        n = 1001
        p = np.arange(n) / (n - 1)
        each = dict.fromkeys(("lower", "upper", "predicted", "observed"), p)
        ones = np.ones(n)
        curve = curve_of(**each, count=ones, weight=ones, low=None, high=None, method="isotonic")
        chart = reliability_chart(curve)
        points = column(chart, "points", "predicted")
        assert len(points) == len(chart.table.rows) == 200
        assert (points[0], points[-1]) == (0, 1)
        assert sum(column(chart, "spread", "count")) == pytest.approx(n)

    def test_words_follow_the_lens(self) -> None:
        binary = json.dumps(reliability_chart(curve_of()).spec)
        sure = json.dumps(reliability_chart(curve_of(lens="confidence")).spec)
        assert "below: over-prediction" in binary
        assert "below: over-confident" not in binary
        assert "below: over-confident" in sure
        assert '"confidence"' in sure

    def test_description_counts_bins_off_the_diagonal(self) -> None:
        # 0.125 is below its limits 0.25 to 0.5; 0.625 is within 0.5 to 1.
        # Mean gap: (3 * (1/3 - 1/8) + 1 * 3/8) / 4 = 1/4, and 5/8 of the sum is the first bin.
        said = reliability_chart(curve_of()).description
        assert "1 of 2 bins lie off the diagonal beyond 95 % limits" in said
        assert "on average 0.250 off the diagonal" in said
        assert "where it says 0.12 and 0.33 is observed" in said

    def test_consistency_limits_are_around_the_prediction(self) -> None:
        curve = curve_of(interval="consistency", observed=[0.3, 0.4])
        assert "1 of 2 bins" in reliability_chart(curve).description

    def test_several_series_keep_their_names_and_order(self) -> None:
        chart = reliability_chart({"b": curve_of(), "a": curve_of()})
        assert column(chart, "points", "series") == ["b", "b", "a", "a"]
        assert chart.table.header[0] == "series"

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
        assert chart.frames[1].datasets["points"]["observed"] == [0.5, 0.5]
        assert chart.frames[1].texts["below"] == "below: over-confident"
        # A choice of one option needs no list.
        assert chart.to_html("x").count("<select") == 1

    def test_what_is_shown_first_is_a_specification_by_itself(self) -> None:
        chart = switchable_reliability({("a",): curve_of()}, names=["lens"])
        assert column(chart, "points", "predicted") == [0.125, 0.625]

    @pytest.mark.parametrize("keys", [[], [("a",)], [("a", 1), ("a", "1")]])
    def test_keys_have_a_word_for_each_name(self, keys: list[Any]) -> None:
        with pytest.raises(InvalidInputError, match="tuples of 2 words"):
            switchable_reliability(dict.fromkeys(keys, curve_of()), names=["lens", "bins"])


def test_classes_beyond_the_most_are_in_the_table_only() -> None:
    chart = classwise_chart({str(k): curve_of() for k in range(5)}, most=2)
    assert set(column(chart, "points", "series")) == {"0", "1"}
    assert len(chart.table.rows) == 10
    assert "The other 3 are in the table only" in chart.description


def test_bars_of_a_decomposition_end_at_the_score() -> None:
    parts = Decomposition(
        score=0.25, miscalibration=0.03, discrimination=0.02, uncertainty=0.23, refinement=0.21,
        within_bin=0.01, rule="brier", method="bins", definition="4 bins", lens="binary",
        n_samples=10,
    )  # fmt: skip
    chart = decomposition_chart({"m": parts})
    ends = {row["part"]: (row["from"], row["to"]) for row in rows_of(chart, "parts")}
    assert ends == {
        "refinement": (0, 0.21),
        "miscalibration": (0.21, 0.24),
        "discrimination": (0.21, 0.23),
        "within bins": (0.24, 0.25),
    }
    other = Decomposition(**(parts.to_dict() | {"rule": "log"}))
    with pytest.raises(InvalidInputError, match="of one rule"):
        decomposition_chart({"a": parts, "b": other})


class TestErrors:
    def test_rows_hold_interval_and_null(self) -> None:
        chart = errors_chart([error(low=0.04, high=0.06, null_mean=0.01, null_q95=0.02)])
        (row,) = rows_of(chart, "rows")
        assert [row[f] for f in ("estimate", "low", "high", "null_mean", "null_high")] == [
            0.05, 0.04, 0.06, 0.01, 0.02,
        ]  # fmt: skip
        assert "more than a calibrated model may show" in chart.description

    def test_groups_come_worst_first_by_the_adjusted_pvalue(self) -> None:
        groups = {"a": error(value=0.5), "b": error(value=0.1), "c": error(value=0.2)}
        chart = groups_chart(groups, adjusted={"a": 0.6, "b": 0.03, "c": 0.6})
        assert column(chart, "rows", "name") == ["b", "a", "c"]
        assert column(chart, "rows", "kind") == ["main", "other", "other"]
        assert "1 stand out at level 0.05" in chart.description

    def test_groups_of_an_evaluation(self) -> None:
        y, p = np.tile([0, 1, 1, 1], 25), np.tile([0.2, 0.4, 0.6, 0.8], 25)
        with pytest.warns(VeridicalWarning):
            found = evaluate(y, p, by=np.repeat(["x", "y"], 50), n_resamples=20, rng=0)
        chart = groups_chart(found)
        assert sorted(column(chart, "rows", "name")) == ["x", "y"]
        for row in rows_of(chart, "rows"):
            assert row["estimate"] == pytest.approx(found.group(row["name"]).default.value, 1e-5)

    def test_only_the_worst_thirty_are_drawn(self) -> None:
        chart = groups_chart({str(i): error(value=i / 100) for i in range(50)})
        assert column(chart, "rows", "name") == [str(i) for i in range(49, 19, -1)]
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
    assert column(chart, "rows", "name") == ["pool", "beta", "identity", "platt"]
    assert column(chart, "rows", "kind") == ["main", "part", "other", "part"]
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
    assert column(chart, "rows", "estimate") == pytest.approx([-0.02, 0.005])
    assert column(chart, "rows", "kind") == ["main", "other"]
    with pytest.raises(InvalidInputError, match="brier"):
        comparison_chart(comparison(), figure="breir")


class TestHistogram:
    def test_bars_split_rows_by_outcome(self) -> None:
        chart = score_histogram(curve_of())
        assert column(chart, "bars", "weight") == pytest.approx([1, 2, 1, 0], abs=1e-5)
        assert "happened in 50.0% of them" in chart.description  # 2 of 4

    def test_areas_compare_where_widths_differ(self) -> None:
        # Three rows over 0.5 and one over 0.25: 0.06 and 0.04 rows per hundredth.
        chart = score_histogram(curve_of(lower=[0.0, 0.5], upper=[0.5, 0.75]))
        assert column(chart, "bars", "to")[1::2] == pytest.approx([0.06, 0.04])

    def test_a_curve_without_bins_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="of bins"):
            score_histogram(curve_of(method="isotonic"))


class TestDecisions:
    y = np.array([0, 0, 1, 0, 1])
    p = np.array([0.1, 0.2, 0.3, 0.6, 0.8])

    def test_net_benefit_by_hand(self) -> None:
        chart = decision_chart(decision_curve(self.y, self.p, thresholds=[0.2, 0.5]))
        assert column(chart, "curves", "net_benefit") == pytest.approx([0.3, 0], abs=1e-9)
        assert column(chart, "curves", "treat_all") == pytest.approx([0.25, -0.2])

    def test_counts_of_the_slider_are_those_of_the_rows(self) -> None:
        slider = cost_slider(decision_curve(self.y, self.p, thresholds=slider_thresholds())).slider
        assert slider is not None
        assert slider["prevalence"] == pytest.approx(0.4)
        for i, t in enumerate(slider["threshold"]):
            called = self.p >= t
            assert slider["true_positive"][i] == pytest.approx(np.mean(called & (self.y == 1)))
            assert slider["false_positive"][i] == pytest.approx(np.mean(called & (self.y == 0)))

    def test_harm_is_not_counted_as_false_positives(self) -> None:
        curve = decision_curve(self.y, self.p, thresholds=[0.5], harm=0.05)
        slider = cost_slider(curve).slider
        assert slider is not None
        assert slider["false_positive"] == pytest.approx([0.2])
        assert slider["harm"] == 0.05

    def test_slider_goes_from_dear_false_positives_to_dear_false_negatives(self) -> None:
        slider = cost_slider(decision_curve(self.y, self.p, thresholds=slider_thresholds(5))).slider
        assert slider is not None
        assert slider["threshold"][0] == pytest.approx(0.995)
        assert slider["threshold"][slider["start"]] == pytest.approx(0.5)

    @pytest.mark.parametrize("thresholds", [[0.0, 0.5], np.linspace(0.001, 0.999, 401)])
    def test_thresholds_without_a_ratio_or_too_many_are_refused(self, thresholds: Any) -> None:
        with pytest.raises(InvalidInputError, match="1 to 400 thresholds"):
            cost_slider(decision_curve(self.y, self.p, thresholds=thresholds))

    def test_cost_curve_is_thinned_with_both_ends(self) -> None:
        rng = np.random.default_rng(0)
        p = rng.random(2000)
        curve = cost_curve((rng.random(2000) < p).astype(int), p)
        places = column(cost_curve_chart(curve), "curves", "place")
        assert len(curve) > len(places) == 400
        assert (places[0], places[-1]) == (curve.probability_cost[0], curve.probability_cost[-1])


class TestSimplex:
    def summary(self, labels: list[str]) -> Any:
        y = np.array(labels)
        p = np.tile([1.0, 0.0, 0.0], (len(y), 1))
        problem = RawData(y, p, labels=["a", "b", "c"]).through("canonical", caller="t").problem
        return summarise(problem, SimplexBins(2))

    def test_arrow_from_the_corner_predicted_to_the_one_observed(self) -> None:
        (cell,) = rows_of(simplex_chart(self.summary(["b", "b"])), "cells")
        assert [cell[k] for k in ("x", "y", "x2", "y2", "angle")] == [0, 0, 1, 0, 90]

    def test_top_corner_is_the_third_class(self) -> None:
        (cell,) = rows_of(simplex_chart(self.summary(["c"])), "cells")
        assert (cell["x2"], cell["y2"]) == pytest.approx((0.5, math.sqrt(3) / 2), abs=1e-5)
        assert cell["angle"] == pytest.approx(30)  # clockwise from straight up

    def test_no_arrow_where_observed_is_predicted(self) -> None:
        (cell,) = rows_of(simplex_chart(self.summary(["a"])), "cells")
        assert not cell["arrow"]

    def test_two_classes_are_refused(self) -> None:
        problem = RawData([0, 1, 2], np.eye(3)).through(Grouped([[0, 1], [2]]), caller="t").problem
        with pytest.raises(InvalidInputError):
            simplex_chart(summarise(problem, SimplexBins(2)))


class TestTimeline:
    def test_evidence_is_a_logarithm_to_base_ten(self) -> None:
        test = sequential_test(np.ones(60, dtype=int), np.full(60, 0.5), level=0.01)
        panel = evidence_panel(test)
        assert panel.value == pytest.approx(test.path / math.log(10))
        assert panel.reference == pytest.approx(2)
        assert test.alarm_at is not None
        assert list(panel.alarms) == [test.alarm_at + 1]

    def test_long_lines_keep_their_ends(self) -> None:
        panel = TimePanel(name="ECE", at=list(range(5000)), value=[0.5] * 5000)
        rows = rows_of(timeline_chart([panel]), "line0")
        assert (len(rows), rows[0]["at"], rows[-1]["at"]) == (1000, 0, 4999)

    def test_times_and_rows_do_not_mix(self) -> None:
        panels = [TimePanel(name="a", at=[1], value=[0.1]),
                  TimePanel(name="b", at=["2026-01-01"], value=[0.1])]  # fmt: skip
        with pytest.raises(InvalidInputError, match="on one time axis"):
            timeline_chart(panels)


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
    assert parser.tags.count("script") == 1
    payload = json.loads(next(text for text in parser.data if text.startswith('{"spec"')))
    assert HOSTILE in payload["datasets"]["points"]["columns"]["series"]


def test_json_in_a_script_has_no_character_that_could_end_it() -> None:
    text = script_json([HOSTILE])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == [HOSTILE]


@pytest.mark.parametrize("identifier", ["", "1a", "a b", 'a"', "<a>", None])
def test_an_identifier_is_one_word(identifier: Any) -> None:
    with pytest.raises(InvalidInputError, match="usable as an id"):
        reliability_chart(curve_of()).to_html(identifier)


def test_missing_runtime_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "veridical\[report\]"'):
        reliability_chart(curve_of()).to_svg()


def test_hues_are_those_of_the_figures(need: Any) -> None:
    need("matplotlib")
    from matplotlib.figure import Figure

    from veridical.plots._drawing.style import style_of

    for theme, ground in (("light", "white"), ("dark", "black")):
        style = style_of(Figure(facecolor=ground).subplots(subplot_kw={"facecolor": ground}))
        assert tuple(THEMES[theme]["range"]["category"]) == style.colours


def test_a_curve_of_real_rows_is_drawn_as_computed(binary: Any) -> None:
    curve = reliability_curve(binary.y, binary.p, n_bins=10)
    chart = reliability_chart(curve)
    for i, row in enumerate(rows_of(chart, "points")):
        inside = (binary.p > row["lower"] - (i == 0)) & (binary.p <= row["upper"] + 1e-9)
        assert row["count"] == inside.sum()
        assert row["observed"] == pytest.approx(binary.y[inside].mean(), abs=1e-6)
