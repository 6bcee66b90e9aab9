"""Risk against coverage."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical.decisions import risk_coverage_curve as compute, risk_threshold
from veridical.exceptions import InvalidInputError
from veridical.plots import risk_coverage


def test_lines_and_bands_are_those_of_the_result(binary, ax):
    curve = compute(binary.y, binary.p)
    drawn = risk_coverage(curve, ax=ax)
    np.testing.assert_array_equal(drawn.models[0].get_xdata(), curve.coverage)
    np.testing.assert_array_equal(drawn.models[0].get_ydata(), curve.risk)
    assert drawn.bands[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(curve.high.max())
    assert drawn.ax is ax
    assert drawn.promise == ()


def test_a_promise_is_marked(binary, ax):
    promise = risk_threshold(binary.y, binary.p, at_most=0.4)
    drawn = risk_coverage(binary.y, binary.p, promise=promise, ax=ax)
    assert drawn.promise[0].get_ydata()[0] == 0.4
    if promise.found:
        assert drawn.promise[1].get_xdata()[0] == promise.coverage


@pytest.mark.parametrize("width", [4.8, 3.4])
def test_no_text_covers_another(binary, overlaps, width):
    figure, axes = plt.subplots(figsize=(width, 0.8 * width), layout="constrained")
    promise = risk_threshold(binary.y, binary.p, at_most=0.4)
    curves = {"a model": compute(binary.y, binary.p), "b": compute(binary.y, binary.p**2)}
    risk_coverage(curves, promise=promise, ax=axes)
    assert overlaps(figure) == []


def test_refusals(binary, ax):
    with pytest.raises(InvalidInputError, match="given beside"):
        risk_coverage(binary.y, ax=ax)
