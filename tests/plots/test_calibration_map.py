"""Maps of calibrators: lines for two classes, heat maps for three."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import veridical as v
from veridical.exceptions import InvalidInputError
from veridical.plots._diagrams.calibration_map import calibration_map


@pytest.fixture
def two(binary):
    return v.BetaCalibrator().fit(binary.p, binary.y)


@pytest.fixture
def three(multiclass):
    names = np.array(["ant", "bee", "cat"])[multiclass.y]
    return v.DirichletCalibrator().fit(multiclass.p, names), names, multiclass.p


def test_the_line_is_what_the_calibrator_predicts(two, binary, ax):
    drawn = calibration_map(two, binary.y, binary.p, n_bins=10, ax=ax)
    x, y = drawn.lines[0].get_data()
    np.testing.assert_array_equal(y, two.predict_proba(x)[:, 1])
    assert (x[0], x[-1]) == (0.0, 1.0)
    curve = v.reliability_curve(binary.y, binary.p, n_bins=10, interval=None)
    np.testing.assert_allclose(
        drawn.before.get_offsets(), np.column_stack([curve.predicted, curve.observed])
    )
    assert drawn.ax is ax
    assert ax.get_box_aspect() == 1.0
    assert "n = 600" in [text.get_text()[-7:] for text in drawn.legend.get_texts()]


def test_points_after_lie_where_the_map_puts_them(two, binary, ax):
    drawn = calibration_map(two, binary.y, binary.p, after=True, ax=ax)
    before, after = drawn.before.get_offsets(), drawn.after[0].get_offsets()
    np.testing.assert_allclose(after[:, 0], two.predict_proba(np.asarray(before[:, 0]))[:, 1])
    np.testing.assert_array_equal(after[:, 1], before[:, 1])
    assert "after" in [text.get_text() for text in drawn.legend.get_texts()]


def test_several_calibrators_and_string_labels(binary, ax):
    names = np.where(binary.y == 1, "yes", "no")  # the larger label is the positive class
    maps = {
        "platt": v.PlattCalibrator().fit(binary.p, names),
        "isotonic": v.IsotonicCalibrator().fit(binary.p, names),
    }
    drawn = calibration_map(maps, names, binary.p, ax=ax)
    assert [line.get_label() for line in drawn.lines] == ["platt", "isotonic"]
    assert (np.diff(drawn.lines[1].get_ydata()) >= 0).all()


def test_a_calibrator_of_logits_is_fed_logits(binary, ax):
    p = binary.p.clip(0.01, 0.99)
    logit = v.PlattCalibrator(input="logit").fit(np.log(p / (1 - p)), binary.y)
    x, y = calibration_map(logit, ax=ax).lines[0].get_data()
    inside = (x > 0.01) & (x < 0.99)
    expected = logit.predict_proba(np.log(x[inside] / (1 - x[inside])))[:, 1]
    np.testing.assert_allclose(y[inside], expected)


def test_heat_maps_show_the_change_of_each_class(three):
    calibrator, names, p = three
    axes = Figure().subplots(1, 3)
    drawn = calibration_map(calibrator, names, p, ax=axes)
    assert drawn.axes == tuple(axes)
    assert drawn.classes == ("ant", "bee", "cat")
    # A triangle is coloured by the mean of its corners: read one in the middle of the first map.
    values = np.stack([heat.get_array() for heat in drawn.heat])
    np.testing.assert_allclose(values.sum(axis=0), 0, atol=1e-12)  # what one gains others lose
    middle = np.full((1, 3), 1 / 3)
    change = calibrator.predict_proba(middle)[0] - 1 / 3
    centres = np.stack([path.vertices[:3].mean(axis=0) for path in drawn.heat[0].get_paths()])
    nearest = np.argmin(np.abs(centres - [0.5, np.sqrt(3) / 6]).sum(axis=1))
    np.testing.assert_allclose(values[:, nearest], change, atol=0.01)
    limits = {heat.get_clim() for heat in drawn.heat}
    assert len(limits) == 1  # one scale for all
    ((low, high),) = limits
    assert low == -high
    assert "n = 600" in drawn.size.get_text()


def test_the_zero_line_is_where_nothing_changes(three, ax):
    calibrator, _, _ = three
    drawn = calibration_map(calibrator, label="bee", ax=ax)
    assert drawn.axes == (ax,)
    (segments,) = drawn.zero[0].allsegs
    x, y = np.concatenate(segments).T
    third = y / (np.sqrt(3) / 2)
    second = x - third / 2
    p = np.column_stack([1 - second - third, second, third]).clip(1e-4)
    p /= p.sum(axis=1, keepdims=True)
    inside = p.min(axis=1) > 0.02
    assert inside.sum() > 5
    change = calibrator.predict_proba(p)[:, 1] - p[:, 1]
    assert np.abs(change[inside]).max() < 0.01


def test_no_change_has_no_zero_line(multiclass, ax):
    same = v.IdentityCalibrator().fit(multiclass.p, multiclass.y)
    drawn = calibration_map(same, label=1, ax=ax)
    assert drawn.zero == (None,)
    np.testing.assert_allclose(drawn.heat[0].get_array(), 0, atol=1e-12)


@pytest.mark.parametrize("width", [4.4, 3.4])
def test_no_text_covers_another(three, two, binary, overlaps, width):
    calibrator, names, p = three
    figure, axes = plt.subplots(figsize=(width, width), layout="constrained")
    calibration_map(calibrator, names, p, label="cat", ax=axes)
    assert overlaps(figure) == []
    figure, axes = plt.subplots(figsize=(width, width), layout="constrained")
    calibration_map(two, binary.y, binary.p, after=True, ax=axes)
    assert overlaps(figure) == []


def test_refusals(two, three, binary, multiclass, ax):
    calibrator, _, _ = three
    with pytest.raises(InvalidInputError, match="a calibrator"):
        calibration_map("beta", ax=ax)
    with pytest.raises(InvalidInputError, match="fitted"):
        calibration_map(v.BetaCalibrator(), ax=ax)
    with pytest.raises(InvalidInputError, match="given together"):
        calibration_map(two, binary.y, ax=ax)
    with pytest.raises(InvalidInputError, match="3 Axes"):
        calibration_map(calibrator, ax=ax)
    with pytest.raises(InvalidInputError, match="one at a time"):
        calibration_map({"a": calibrator, "b": calibrator}, ax=ax)
    with pytest.raises(InvalidInputError, match="label"):
        calibration_map(calibrator, label="dog", ax=ax)
    raw = v.PlattCalibrator(input="score").fit(binary.p, binary.y)
    with pytest.raises(InvalidInputError, match="scores"):
        calibration_map(raw, ax=ax)
    rng = np.random.default_rng(0)
    many = v.TemperatureCalibrator().fit(rng.dirichlet(np.ones(5), 99), rng.integers(5, size=99))
    with pytest.raises(InvalidInputError, match="two or three classes"):
        calibration_map(many, ax=ax)
