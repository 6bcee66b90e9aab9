"""What a report says of recalibration, where it would be wrong to say more."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import make_report
from veridical.report._content.recalibration import _sentence


def test_rows_that_belong_together_make_no_claim_on_rows_held_out():
    rng = np.random.default_rng(0)
    p = rng.random(60)
    y = (rng.random(60) < p).astype(int)
    groups = np.arange(60).repeat(10)
    report = make_report(y.repeat(10), p.repeat(10), groups=groups, n_resamples=50)
    assert "cuts log loss" not in report.headline
    assert "Recalibration was not tried: rows belong together" in report.headline


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ((0.1, 0.05, 0.15), "cuts log loss by 10 % (5.0 to 15 %)"),
        ((-0.046, -0.14, 0.047), "4.6 % more log loss (-4.7 to 14 %)"),
        ((0.02, -0.01, 0.05), "a cut of 2.0 % in log loss (-1.0 to 5.0 %)"),
        ((-0.1, -0.15, -0.05), "10 % larger (5.0 to 15 %)"),
    ],
)
def test_limits_have_the_sign_of_the_number_they_stand_beside(saved, words):
    assert words in _sentence("AutoCalibrator", "log loss", saved, few=False)


def test_the_commands_name_groups_and_labels(tmp_path):
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1], 200).round(4)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    rows = zip(rng.integers(0, 2, 200), p, strict=True)
    text = [f"{'ab'[k]},{a:.4f},{b:.4f},{c:.4f},{i // 5}" for i, (k, (a, b, c)) in enumerate(rows)]
    path = tmp_path / "miss.csv"
    path.write_text("\n".join(["y,s1,s2,s3,g", *text]) + "\n")
    names = {"y": "y", "prob": ["s1", "s2", "s3"], "labels": ["a", "b", "c"], "groups": "g"}
    report = make_report(path, **names, n_resamples=50)
    assert "--labels a,b,c" in report.html
    assert "--groups g" in report.html
    assert "groups='g'" in report.settings.call
