"""The figures a reader sees are those of the data: recomputed here with NumPy alone."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from veridical import evaluate
from veridical.report import Report, make_report


def _data(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Over-confident predictions: says p, happens 0.2 + 0.6 p."""
    rng = np.random.default_rng(11)
    p = rng.uniform(0, 1, n).round(3)
    y = (rng.random(n) < 0.2 + 0.6 * p).astype(int)
    return y, p, np.where(rng.random(n) < 0.5, "north", "south")


@pytest.fixture(scope="module")
def report() -> Report:
    y, p, region = _data()
    return make_report(y, p, by=region)


@pytest.fixture(scope="module")
def page_text(report: Report) -> str:
    """Words of the page, without scripts, styles and tags."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", report.html, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def _naive_ece(y: np.ndarray, p: np.ndarray, bins: int = 15) -> float:
    total = 0.0
    for k in range(bins):
        low, high = k / bins, (k + 1) / bins
        inside = (p > low) & (p <= high) if k else (p >= low) & (p <= high)
        if inside.any():
            total += inside.sum() * abs(y[inside].mean() - p[inside].mean())
    return total / len(y)


def test_the_headline_is_the_verdict_of_evaluate(report, page_text):
    y, p, region = _data()
    verdict = evaluate(y, p, by=region).verdict
    assert report.headline.startswith(verdict.text)
    assert page_text.count(verdict.text) == 1  # on the first screen
    assert page_text.count(verdict.short) == 1
    assert verdict.about in report.subtitle
    assert "Over-confident: too extreme" in verdict.text


def test_scores_and_errors_are_those_of_the_data(page_text):
    y, p, _ = _data()
    given = np.where(y == 1, p, 1 - p)
    wins = (p[y == 1][:, None] > p[y == 0]).mean() + (p[y == 1][:, None] == p[y == 0]).mean() / 2
    for name, value in {
        "Brier score": np.mean((p - y) ** 2),
        "log loss": -np.log(given).mean(),
        "accuracy": np.mean((p > 0.5) == (y == 1)),
        "AUC": wins,
        "ECE": _naive_ece(y, p),
    }.items():
        assert f"{name} {value:.4f}" in page_text


def test_groups_are_those_of_the_data(report, page_text):
    y, p, region = _data()
    for name in ("north", "south"):
        own = region == name
        shown = f"{name} {own.sum()} {y[own].mean():.4f} {p[own].mean():.4f}"
        assert shown in page_text
    adjusted = [group.adjusted for group in report.models[0].groups]
    assert adjusted == sorted(adjusted)


def test_what_recalibration_saves_is_measured_on_rows_held_out(report, page_text):
    y, p, _ = _data()
    found = report.models[0].recalibration
    before = -np.log(np.where(y == 1, p, 1 - p)).mean()
    assert found.before == pytest.approx(before, rel=1e-9)
    assert found.cut == pytest.approx(1 - found.after / before, rel=1e-9)
    shown = [f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.1f}"
             for share in (found.cut, found.low, found.high)]  # fmt: skip
    words = "makes no sure difference: a cut of {} % in log loss ({} to {} %)."
    if found.low > 0:
        words = "cuts log loss by {} % ({} to {} %)."
    assert words.format(*shown) in page_text
    # The best straight line there is, fitted to the same rows it is judged on, saves no less.
    truth = 0.2 + 0.6 * p
    best = -np.log(np.where(y == 1, truth, 1 - truth)).mean()
    assert found.low < 1 - best / before < found.high


def test_costs_are_those_of_the_data(page_text):
    y, p, _ = _data()
    acted = p >= 1 / 6  # a miss costs five false alarms
    model = np.mean(np.where(acted, y == 0, 5 * (y == 1)))
    row = (
        f"5 : 1 0.1667 {100 * acted.mean():.1f} % {model:.4f} {np.mean(y == 0):.4f}"
        f" {5 * y.mean():.4f}"
    )
    assert row in page_text


def _outcomes(*counts: tuple[float, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and outcomes from (prediction, positives, negatives)."""
    p = np.concatenate([np.full(a + b, value) for value, a, b in counts])
    y = np.concatenate([np.repeat([1, 0], [a, b]) for _, a, b in counts])
    return p, y


@pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")
@pytest.mark.parametrize(
    ("counts", "words"),
    [
        # The two sides are off by 0.2, the level is right.
        ([(0.1, 120, 280), (0.9, 280, 120)], "Over-confident: too extreme"),
        ([(0.4, 40, 360), (0.6, 360, 40)], "Under-confident: too timid"),
        # Everything is 0.2 too high, in log odds too.
        ([(0.4, 80, 320), (0.6, 145, 255)], "Over-predicts: says 0.50 on average, happens 0.28"),
        ([(0.4, 224, 176), (0.6, 300, 100)], "Under-predicts: says 0.50 on average, happens 0.66"),
        ([(0.2, 80, 320), (0.8, 320, 80)], "No miscalibration shown"),
        ([(0.2, 320, 80), (0.8, 80, 320)], "looks like the probability of 0, not of 1"),
    ],
)
def test_words_go_the_right_way(counts, words):
    p, y = _outcomes(*counts)
    assert words in evaluate(y, p, n_resamples=200).verdict.text


@pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")
def test_of_several_classes_it_is_the_top_label_that_is_right_or_not():
    p = np.tile([0.9, 0.05, 0.05], (300, 1))
    y = np.repeat([0, 1, 2], [210, 45, 45])
    found = evaluate(y, p, n_resamples=200).verdict
    assert "Over-confident: says 0.90 on average, is right 0.70" in found.text
