"""Net benefit against the threshold."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical.decisions._costs.decision_curve import decision_curve as compute
from veridical.exceptions import InvalidInputError
from veridical.plots._charts.decision_curve import decision_curve


def test_lines_and_bands_are_those_of_the_result(binary, ax):
    curve = compute(binary.y, binary.p)
    drawn = decision_curve(curve, ax=ax)
    np.testing.assert_array_equal(drawn.models[0].get_xdata(), curve.threshold)
    np.testing.assert_array_equal(drawn.models[0].get_ydata(), curve.net_benefit)
    np.testing.assert_array_equal(drawn.treat_all.get_ydata(), curve.treat_all)
    assert drawn.treat_none.get_ydata()[0] == 0
    corners = drawn.bands[0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(curve.high.max())
    assert corners[:, 1].min() == pytest.approx(curve.low.min())
    assert "n = 600" in " ".join(text.get_text() for text in drawn.legend.get_texts())
    assert drawn.ax is ax


def test_raw_data_pass_their_options_on(binary, ax):
    names = np.where(binary.y == 1, "ill", "healthy")
    drawn = decision_curve(
        names, binary.p, thresholds=[0.2, 0.4], pos_label="ill", confidence_level=0.8, ax=ax
    )
    t = np.array([0.2, 0.4])
    called = binary.p >= t[:, None]
    expected = (called & (binary.y == 1)).mean(1) - (called & (binary.y == 0)).mean(1) * t / (1 - t)
    np.testing.assert_allclose(drawn.models[0].get_ydata(), expected)
    assert "80 % band" in drawn.legend.get_texts()[-1].get_text()


def test_several_models(binary, ax):
    curves = {"a": compute(binary.y, binary.p), "b": compute(binary.y, binary.p**2)}
    drawn = decision_curve(curves, ax=ax)
    assert len(drawn.models) == len(drawn.bands) == 2


@pytest.mark.parametrize("width", [4.8, 3.4])
def test_no_text_covers_another(binary, overlaps, width):
    figure, axes = plt.subplots(figsize=(width, 0.8 * width), layout="constrained")
    decision_curve({"a model": compute(binary.y, binary.p)}, ax=axes)
    assert overlaps(figure) == []


def test_refusals(binary, ax):
    with pytest.raises(InvalidInputError, match="given beside"):
        decision_curve(binary.y, ax=ax)
    with pytest.raises(InvalidInputError, match="mapping of decision curves"):
        decision_curve({"a": 1}, ax=ax)
