"""Charts of scores, decisions, whole vectors and time: numbers worked out by hand."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from charted import column, curve_of, drawn, numbers, words

from veridical import Grouped, cost_curve, decision_curve, sequential_test
from veridical.binning import SimplexBins
from veridical.exceptions import InvalidInputError
from veridical.lenses.reading import RawData
from veridical.report._charts.catalogue import (
    TimePanel,
    cost_curve_chart,
    cost_slider,
    decision_chart,
    evidence_panel,
    score_histogram,
    simplex_chart,
    slider_thresholds,
    timeline_chart,
)
from veridical.summaries import summarise


class TestHistogram:
    def test_bars_split_rows_by_outcome(self) -> None:
        chart = score_histogram(curve_of())
        assert column(chart, "happened") == ["1.0000", "1.0000"]
        assert column(chart, "did not happen") == ["2", "0.0000"]
        assert "happened in 50.0% of them" in chart.description  # 2 of 4

    def test_areas_compare_where_widths_differ(self) -> None:
        # Three rows over 0.5 and one over 0.25: 0.06 and 0.04 rows per hundredth.
        chart = score_histogram(curve_of(lower=[0.0, 0.5], upper=[0.5, 0.75]))
        assert "rows per 0.01" in words(chart)
        tops = [min(float(bar["y"]) for bar in drawn(chart, "bar")[i : i + 2]) for i in (0, 2)]
        floor = float(drawn(chart, "bar")[0]["y"]) + float(drawn(chart, "bar")[0]["height"])
        assert (floor - tops[0]) / (floor - tops[1]) == pytest.approx(0.06 / 0.04, abs=0.02)

    def test_a_curve_without_bins_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="of bins"):
            score_histogram(curve_of(method="isotonic"))


class TestDecisions:
    y = np.array([0, 0, 1, 0, 1])
    p = np.array([0.1, 0.2, 0.3, 0.6, 0.8])

    def test_net_benefit_by_hand(self) -> None:
        chart = decision_chart(decision_curve(self.y, self.p, thresholds=[0.2, 0.5]))
        assert column(chart, "net benefit") == ["0.3000", "0.0000"]
        assert column(chart, "treat all") == ["0.2500", "-0.2000"]

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
        model = drawn(cost_curve_chart(curve), "line")[-1]["d"]
        places = [float(x) for x in re.findall(r"[ML]([\d.]+)", model)]
        assert len(curve) > 400 >= len(places)
        axis = drawn(cost_curve_chart(curve), "axis")[0]["d"]
        left, _, right = map(float, re.findall(r"[\d.]+", axis))
        assert (places[0], places[-1]) == pytest.approx((left, right))


class TestSimplex:
    def summary(self, labels: list[str]) -> Any:
        y = np.array(labels)
        p = np.tile([1.0, 0.0, 0.0], (len(y), 1))
        problem = RawData(y, p, labels=["a", "b", "c"]).through("canonical", caller="t").problem
        return summarise(problem, SimplexBins(2))

    def test_arrow_from_the_corner_predicted_to_the_one_observed(self) -> None:
        chart = simplex_chart(self.summary(["b", "b"]))
        (arrow,) = drawn(chart, "line")
        assert numbers(arrow)[:4] == numbers(drawn(chart, "axis")[0])  # first corner to second

    def test_top_corner_is_the_third_class(self) -> None:
        chart = simplex_chart(self.summary(["c"]))
        (arrow,) = drawn(chart, "line")
        assert numbers(arrow)[2:4] == numbers(drawn(chart, "axis")[1])[2:]

    def test_no_arrow_where_observed_is_predicted(self) -> None:
        assert drawn(simplex_chart(self.summary(["a"])), "line") == []

    def test_cells_of_few_rows_are_faint_and_have_no_arrow(self) -> None:
        y = np.array(["b"] * 99 + ["c"])
        p = np.array([[1.0, 0.0, 0.0]] * 99 + [[0.0, 1.0, 0.0]])
        problem = RawData(y, p, labels=["a", "b", "c"]).through("canonical", caller="t").problem
        chart = simplex_chart(summarise(problem, SimplexBins(2)))
        assert len(drawn(chart, "line")) == 1
        assert sorted(float(dot["opacity"]) for dot in drawn(chart, "full")) == [0.25, 1.0]

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
        seen = column(timeline_chart([panel]), "rows seen")
        assert (len(seen), seen[0], seen[-1]) == (1000, "0", "4,999")

    def test_times_and_rows_do_not_mix(self) -> None:
        panels = [TimePanel(name="a", at=[1], value=[0.1]),
                  TimePanel(name="b", at=["2026-01-01"], value=[0.1])]  # fmt: skip
        with pytest.raises(InvalidInputError, match="on one time axis"):
            timeline_chart(panels)
