"""Whether a promise is still kept: counts by hand, limits at every look."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import CalibrationMonitor, InvalidInputError, risk_threshold


def _rows(n, seed, power=1.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.7, n)
    q = p**power / (p**power + (1 - p) ** power)
    return (rng.random(n) < q).astype(int), p


@pytest.mark.parametrize("risk", ["error", "fdr", "fnr"])
def test_counts_are_those_of_the_rows(risk):
    y, p = _rows(3000, 0)
    promise = risk_threshold(y, p, risk=risk, at_most=0.15)
    new_y, new_p = _rows(4000, 1)
    # Cells are 1/32 wide in log odds: rows within one of the threshold may be next door.
    logit = np.log(new_p / (1 - new_p))
    edge = np.log(promise.threshold / (1 - promise.threshold))
    away = np.minimum(abs(logit - edge), abs(logit + edge)) > 0.07
    new_y, new_p = new_y[away], new_p[away]
    monitor = CalibrationMonitor(window=1000)
    for start in range(0, len(new_y), 250):
        monitor.update(new_y[start : start + 250], new_p[start : start + 250])
    found = monitor.promise(promise).windows[0]
    above, below = new_p >= promise.threshold, 1 - new_p >= promise.threshold
    if risk == "error":
        rows, lost = above | below, (above & (new_y == 0)) | (below & (new_y == 1))
    elif risk == "fdr":
        rows, lost = above, above & (new_y == 0)
    else:
        rows, lost = new_y == 1, (new_y == 1) & ~above
    assert found.n_rows == rows.sum()
    assert found.risk == pytest.approx(lost.sum() / rows.sum())
    assert found.low <= found.risk <= found.high


def test_a_broken_promise_is_found_and_a_kept_one_is_not_called_broken():
    promise = risk_threshold(*_rows(3000, 2), at_most=0.15)
    kept, broken = CalibrationMonitor(), CalibrationMonitor()
    for seed in range(10, 30):
        kept.update(*_rows(500, seed))
        broken.update(*_rows(500, seed, power=0.3))  # far too sure from now on
        assert not kept.promise(promise).broken
    assert broken.promise(promise).broken
    assert "Broken" in str(broken.promise(promise))
    status = kept.promise(promise)
    assert type(status).from_json(status.to_json()) == status


def test_few_rows_show_nothing_either_way():
    promise = risk_threshold(*_rows(3000, 3), at_most=0.15)
    monitor = CalibrationMonitor()
    monitor.update(*_rows(30, 4))
    status = monitor.promise(promise)
    assert not status.broken
    assert not status.kept
    assert "Not shown" in status.headline


def test_of_several_classes_the_most_probable_one_is_counted():
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.3, 0.3, 0.3], 3000)
    y = (p.cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
    promise = risk_threshold(y[:1500], p[:1500], at_most=0.1)
    monitor = CalibrationMonitor()
    monitor.update(y[1500:], p[1500:])
    found = monitor.promise(promise).windows[0]
    sure = p[1500:].max(axis=1) >= promise.threshold
    assert found.n_rows == pytest.approx(sure.sum(), rel=0.03)


def test_what_is_no_promise_is_refused():
    monitor = CalibrationMonitor()
    monitor.update(*_rows(300, 6))
    for wrong in (0.9, risk_threshold(*_rows(30, 7), at_most=0.001)):
        with pytest.raises(InvalidInputError, match="promise"):
            monitor.promise(wrong)


def test_a_promise_about_another_class_is_refused():
    y, p = _rows(2000, 8)
    names = np.where(y == 1, "yes", "no")
    monitor = CalibrationMonitor(pos_label="no")
    monitor.update(names, 1 - p)
    about_yes = risk_threshold(names, p, risk="fdr", at_most=0.2)
    with pytest.raises(InvalidInputError, match="about the classes"):
        monitor.promise(about_yes)
    either = risk_threshold(names, p, at_most=0.2)  # whichever class is the most probable
    assert monitor.promise(either).windows
