"""Every chart compiles without a warning, and works in a browser without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from veridical import (
    compare,
    cost_curve,
    decision_curve,
    decompose,
    evaluate,
    reliability_curve,
    sequential_test,
)
from veridical.binning import SimplexBins
from veridical.lenses.reading import RawData
from veridical.report._charts.catalogue import (
    Chart,
    TimePanel,
    chart_style,
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
    runtime_script,
    score_histogram,
    simplex_chart,
    slider_thresholds,
    switchable_reliability,
    timeline_chart,
)
from veridical.results import CandidateEvidence, Evidence
from veridical.summaries import summarise

HOSTILE = "</script><img src=x onerror=alert(1)>"
LONG = "name " * 40
N = 300


def _rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    p = rng.beta(0.8, 1.2, N).clip(0.01, 0.99)
    return (rng.random(N) < 0.2 + 0.6 * p).astype(int), p


def _evidence() -> Evidence:
    entries = [
        CandidateEvidence(
            candidate=name, log_loss=0.5, brier=0.2, difference=d, low=d - 0.01, high=d + 0.01,
            weight=weight, chosen=weight > 0, note=HOSTILE, seconds=0.1,
        )
        for name, d, weight in (("identity", 0.0, 0.0), (HOSTILE, -0.02, 1.0), (LONG, 0.01, 0.5))
    ]  # fmt: skip
    return Evidence(candidates=tuple(entries), strategy="pool", verdict=HOSTILE, n_samples=N,
                    n_classes=2, partitions=(5,), n_used=N, confidence_level=0.95)  # fmt: skip


def _switchable(y: np.ndarray, p: np.ndarray) -> Chart:
    variants = {
        ("binary", "10 bins"): reliability_curve(y, p, n_bins=10),
        ("binary", "isotonic"): reliability_curve(y, p, method="isotonic", interval="simultaneous"),
        ("confidence", "10 bins"): reliability_curve(y, p, n_bins=10, lens="confidence"),
        (HOSTILE, "smooth"): reliability_curve(y, p, method="smooth"),
    }
    return switchable_reliability(variants, names=["lens", "method"])


def _simplex() -> Chart:
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.ones(3), N)
    labels = [HOSTILE, LONG, "c"]
    y = np.array(labels)[[rng.choice(3, p=row) for row in p]]
    problem = RawData(y, p, labels=sorted(labels)).through("canonical", caller="test").problem
    return simplex_chart(summarise(problem, SimplexBins(4)))


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    """Every chart once, with labels that try to get out."""
    y, p = _rows()
    groups = np.where(np.arange(N) < N // 2, HOSTILE, LONG)
    found = evaluate(y, p, by=groups, n_resamples=50, rng=0)
    models = {HOSTILE: p, LONG: 0.2 + 0.6 * p, "plain": p**2}
    compared = compare(models, y, n_resamples=50, rng=0)
    curve = reliability_curve(y, p, n_bins=10)
    curves = {name: reliability_curve(y, q, n_bins=10) for name, q in models.items()}
    many = {f"class {k} {HOSTILE}": curve for k in range(100)}
    times = [f"2026-01-{day:02d}" for day in range(1, 11)]
    moving = TimePanel(name=HOSTILE, at=times, value=[0.1] * 10, low=[0.05] * 10,
                       high=[0.2] * 10, alarms=times[5:6])  # fmt: skip
    return {
        "reliability": reliability_chart(curve),
        "models": reliability_chart(curves, title=HOSTILE),
        "simultaneous": reliability_chart(
            reliability_curve(y, p, method="isotonic", interval="simultaneous")
        ),
        "deviation": reliability_chart(
            reliability_curve(y, p, n_bins=10, interval="consistency", rng=0), deviation=True
        ),
        "switchable": _switchable(y, p),
        "classwise": classwise_chart(many),
        "decomposition": decomposition_chart({n: decompose(y, q) for n, q in models.items()}),
        "errors": errors_chart(found),
        "histogram": score_histogram(curve),
        "masses": score_histogram(reliability_curve(y, p, n_bins=5, strategy="quantile")),
        "decision": decision_chart({n: decision_curve(y, q) for n, q in models.items()}),
        "slider": cost_slider(decision_curve(y, p, thresholds=slider_thresholds(41))),
        "costs": cost_curve_chart({n: cost_curve(y, q) for n, q in models.items()}),
        "evidence": evidence_chart(_evidence()),
        "groups": groups_chart(found),
        "simplex": _simplex(),
        "comparison": comparison_chart(compared),
        "evidence-path": timeline_chart([evidence_panel(sequential_test(y, p))]),
        "times": timeline_chart([moving], axis=HOSTILE),
    }


def test_every_specification_compiles_without_a_warning(
    charts: dict[str, Chart], need: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    convert = need("vl_convert")
    for name, chart in charts.items():
        json.dumps(chart.spec, allow_nan=False)
        convert.vegalite_to_vega(chart.spec, show_warnings=True)
        said = capfd.readouterr()
        assert (name, said.out + said.err) == (name, "")


def test_pictures_have_their_title_and_no_markup_of_labels(
    charts: dict[str, Chart], need: Any
) -> None:
    need("vl_convert")
    text = charts["models"].to_svg(dark=True)
    assert text.startswith("<svg")
    assert "<img" not in text
    assert "&lt;/script" in text
    assert "#56B4E9" in text
    assert "<noscript><svg" in charts["models"].to_html("x", static=True)


def test_words_and_numbers_come_with_every_chart(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        assert chart.title, name
        assert len(chart.description) > 20, name
        assert chart.table.rows, name
        assert all(len(row) == len(chart.table.header) for row in chart.table.rows), name
        assert "nan" not in chart.description, name


def test_a_hundred_classes_stay_small(charts: dict[str, Chart]) -> None:
    assert len(charts["classwise"].to_html("x")) < 400_000
    assert sum(len(chart.to_html("x")) for chart in charts.values()) < 1_500_000


def test_runtime_is_one_megabyte_with_licences_and_nothing_to_fetch(need: Any) -> None:
    need("vl_convert")
    script = runtime_script()
    assert len(script.encode()) < 1_000_000
    assert "</script" not in script.lower()
    assert script.startswith("/*!")
    for holder in ("University of Washington", "Mike Bostock", "WITHOUT WARRANTY OF ANY KIND"):
        assert holder in script
    assert runtime_script() is script
    assert "@import" not in chart_style()
    assert "url(" not in chart_style()


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _page(charts: dict[str, Chart]) -> str:
    """Page under the strictest policy: no network, no eval, no other script or style."""
    script, style = runtime_script(), chart_style()
    policy = f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}"
    figures = "".join(chart.to_html(name) for name, chart in charts.items())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Charts</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{style}</style></head><body>{figures}<script>{script}</script></body></html>"
    )


@pytest.fixture(scope="module")
def page(browser: Any, charts: dict[str, Chart], tmp_path_factory: Any) -> Iterator[Any]:
    """The page with every chart drawn; at the end nothing may have been complained about."""
    path = tmp_path_factory.mktemp("charts") / "page.html"
    path.write_text(_page(charts), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda raised: complaints.append(str(raised)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(path.as_uri())
    opened.wait_for_selector("figure.chart:not([data-drawn])", state="detached")
    yield opened
    assert complaints == []
    assert asked == [path.as_uri()]
    context.close()


def _drawing(page: Any, name: str) -> str:
    return page.inner_html(f"#{name} .chart-view svg")


def _changed(page: Any, name: str, act: Any) -> str:
    """Do something and wait until the chart was drawn again; return the new drawing."""
    before = page.get_attribute(f"#{name}", "data-drawn")
    act()
    page.wait_for_selector(f"#{name}:not([data-drawn='{before}'])")
    return _drawing(page, name)


def test_every_chart_is_drawn_and_no_label_became_an_element(page: Any) -> None:
    assert page.locator("figure.chart svg").count() == page.locator("figure.chart").count()
    assert page.locator("img").count() == 0
    assert page.locator("[role=img]").count() == page.locator("figure.chart").count()
    # Pictures are one image with a name to those who hear the page, not hundreds without one.
    assert page.locator(".chart-view > :not([aria-hidden=true])").count() == 0


def test_lists_change_the_chart_by_keyboard(page: Any) -> None:
    first = _drawing(page, "switchable")
    method = page.locator("#switchable select").nth(1)
    method.focus()
    second = _changed(page, "switchable", lambda: page.keyboard.press("ArrowDown"))
    assert second != first
    said = page.inner_text("#switchable .chart-status")
    assert "blocks" in said
    assert page.get_attribute("#switchable [role=img]", "aria-label") == said
    shown = page.locator("#switchable tbody tr").count()
    chart = page.evaluate(
        "JSON.parse(document.querySelector('#switchable .chart-data').textContent).frames"
        ".map((frame) => frame.table.length)"
    )
    assert shown == chart[1]


def test_a_choice_without_its_neighbour_takes_the_nearest(page: Any) -> None:
    lens, method = (page.locator("#switchable select").nth(k) for k in (0, 1))
    _changed(page, "switchable", lambda: lens.select_option(label=HOSTILE))
    assert method.evaluate("(s) => s.selectedOptions[0].text") == "smooth"
    drawing = _changed(page, "switchable", lambda: lens.select_option(label="confidence"))
    assert method.evaluate("(s) => s.selectedOptions[0].text") == "10 bins"
    assert "below: over-confident" in drawing
    assert "over-prediction" not in drawing


def test_slider_reads_what_the_rows_cost(page: Any) -> None:
    y, p = _rows()
    slider = page.locator("#slider input[type=range]")
    slider.focus()
    before = _drawing(page, "slider")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    assert _drawing(page, "slider") != before
    shown = {
        name: page.inner_text(f"#slider [data-output={name}]")
        for name in ("threshold", "called", "model", "all", "none", "benefit")
    }
    thresholds = slider_thresholds(41)[::-1]
    t = thresholds[20 + 5]
    ratio = (1 - t) / t
    called = p >= t
    wrong = np.mean(np.where(called, (y == 0) * 1.0, (y == 1) * ratio))
    benefit = np.mean(called & (y == 1)) - np.mean(called & (y == 0)) / ratio
    expected = {
        "threshold": t,
        "model": wrong,
        "all": np.mean(y == 0),
        "none": ratio * np.mean(y == 1),
        "benefit": benefit,
    }
    for name, value in expected.items():
        assert float(shown[name]) == pytest.approx(value, abs=5.1e-5), name
    assert shown["called"] == f"{100 * called.mean():.1f} %"
    assert ratio > 1
    assert page.inner_text("#slider [data-output=ratio]").endswith(": 1")


def test_pointing_at_a_bin_shows_its_rows(page: Any, charts: dict[str, Chart]) -> None:
    row = charts["reliability"].spec["datasets"]["points"][4]
    svg = page.locator("#reliability .chart-view svg")
    svg.scroll_into_view_if_needed()
    places = page.locator("#reliability .mark-symbol path[opacity='0']")
    places.nth(4).hover(force=True)
    page.wait_for_selector("#chart-tooltip.visible")
    text = page.inner_text("#chart-tooltip")
    assert re.search(rf"rows\s+{row['count']:.0f}\b", text)
    assert f"{row['observed']:.4f}" in text
    page.mouse.move(0, 0)


def test_dark_ground_changes_the_colours(page: Any) -> None:
    assert "#0072B2" in _drawing(page, "reliability")
    dark = _changed(page, "reliability", lambda: page.emulate_media(color_scheme="dark"))
    assert "#56B4E9" in dark
    assert "#0072B2" not in dark
    light = _changed(page, "reliability", lambda: page.emulate_media(color_scheme="light"))
    assert "#0072B2" in light


def test_a_phone_shows_every_chart_whole(page: Any) -> None:
    _changed(page, "times", lambda: page.set_viewport_size({"width": 360, "height": 740}))
    page.wait_for_timeout(300)
    wide = page.evaluate(
        "[...document.querySelectorAll('figure.chart')].filter((f) =>"
        " f.querySelector('svg').getBoundingClientRect().right > innerWidth + 1).map((f) => f.id)"
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
