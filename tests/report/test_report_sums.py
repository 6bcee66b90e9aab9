"""A report from sums made by the engine says what a report of the rows says."""

from __future__ import annotations

import numpy as np
import pytest

from veridical._core.data.left_out import LeftOut
from veridical.evaluation._figures.summary import grid_summary
from veridical.report import Report, make_report


def _write(path, n_classes: int, n: int = 300):
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.ones(n_classes), n).round(3)
    p[:, -1] = 1 - p[:, :-1].sum(axis=1)
    p = p.clip(0.0).round(3)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    names = ["p"] if n_classes == 2 else [f"p_{k}" for k in range(n_classes)]
    columns = p[:, 1:] if n_classes == 2 else p
    lines = [",".join(["label", *names, "region"])]
    for i in range(n):
        lines.append(",".join([str(y[i]), *map(str, columns[i]), "ab"[i % 2]]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def no_recalibration(monkeypatch):
    """Recalibration takes long and has tests of its own."""
    from veridical.report._content import findings, recalibration

    def recalibrate(source, options):
        left_out = source.some_rows(0, 0)  # sums of several classes say why there are no rows
        why = left_out.reason if isinstance(left_out, LeftOut) else "not here"
        return recalibration.nothing_tried(why)

    monkeypatch.setattr(findings, "recalibrate", recalibrate)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.usefixtures("no_recalibration")
def test_sums_and_rows_agree(tmp_path, n_classes):
    path = _write(tmp_path / "d.csv", n_classes)
    rows = make_report(path, by="region", engine="memory").models[0]
    sums = make_report(path, by="region", engine="pushdown").models[0]
    # Predictions of three decimals are cells of their own, so that nothing is lost.
    one, other = sums.evaluation.verdict, rows.evaluation.verdict
    assert one.kind == other.kind
    if n_classes == 2:  # sums of more do not know whole vectors
        found = [[part.name for part in each.joint.standing_out] for each in (one, other)]
        assert found[0] == found[1]
        for shown in (one.text, other.text):
            assert "probability that label = 1" in shown
    assert one.saving == pytest.approx(other.saving)
    assert sums.evaluation.scores == pytest.approx(rows.evaluation.scores)
    assert sums.evaluation.default.value == pytest.approx(rows.evaluation.default.value)
    assert [t.upper for t in sums.equivalence] == pytest.approx([t.upper for t in rows.equivalence])
    first, other = sums.variants[0].curve, rows.variants[0].curve
    assert first.observed == pytest.approx(other.observed)
    assert first.count == pytest.approx(other.count)
    assert first.low == pytest.approx(other.low)
    assert sums.decisions.net_benefit == pytest.approx(rows.decisions.net_benefit)
    assert sums.decisions.low == pytest.approx(rows.decisions.low)
    shown = [{g.label: (g.n_samples, g.observed, g.predicted) for g in each.groups}
             for each in (sums, rows)]  # fmt: skip
    for label, figures in shown[0].items():
        assert figures == pytest.approx(shown[1][label])
    if n_classes == 3:
        figures = [{c.label: (c.observed, c.predicted, c.error) for c in each.classes}
                   for each in (sums, rows)]  # fmt: skip
        for label, values in figures[0].items():
            assert values == pytest.approx(figures[1][label])


@pytest.mark.usefixtures("no_recalibration")
def test_the_page_of_sums_says_what_it_was_made_of(tmp_path):
    report = make_report(_write(tmp_path / "d.csv", 3), engine="pushdown")
    assert "calibrators of several classes need whole rows" in report.html
    assert "made from sums by 15 bins" in report.html
    assert Report.from_json(report.to_json()).to_dict() == report.to_dict()


@pytest.mark.usefixtures("no_recalibration")
def test_a_summary_made_before_is_enough():
    y, p = [0, 1] * 50, [0.2, 0.7] * 50
    report = make_report(grid_summary(y, p))
    # Every 0.2 was a miss and every 0.7 a hit, so it is too timid on both sides.
    assert "Under-confident: too timid" in report.headline
    assert "says 0.70, happens 1.00" in report.headline
