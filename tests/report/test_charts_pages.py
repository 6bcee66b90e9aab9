"""Every chart is a picture that a browser shows whole, without a network and without scripts."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from needs import needed
from typography import faults_of

from veridical import (
    audit_segments,
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
    segment_map_chart,
    segments_chart,
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
    features = {HOSTILE: groups, LONG: np.arange(N) % 40, "short": np.arange(N) % 2}
    searched = audit_segments(y, p, features, min_rows=20, n_resamples=19, rng=0)
    times = [f"2026-01-{day:02d}" for day in range(1, 11)]
    moving = TimePanel(name=HOSTILE, at=times, value=[0.1] * 10, low=[0.05] * 10,
                       high=[0.2] * 10, alarms=times[5:6])  # fmt: skip
    return {
        "reliability": reliability_chart(curve),
        "models": reliability_chart(curves, title=HOSTILE),
        "simultaneous": reliability_chart(
            reliability_curve(y, p, method="isotonic", interval="simultaneous")
        ),
        "consistency": reliability_chart(
            reliability_curve(y, p, n_bins=10, interval="consistency", rng=0)
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
        "segments": segments_chart(searched),
        "segment-map": segment_map_chart(searched, *searched.pairs[0]),
        "evidence-path": timeline_chart([evidence_panel(sequential_test(y, p))]),
        "times": timeline_chart([moving], axis=HOSTILE),
    }


def test_pictures_are_well_formed_and_labels_are_no_markup(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        text = chart.to_svg()
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img", name
        assert root[0].tag.endswith("title"), name
        assert "<img" not in text
        assert " id=" not in text
        assert "<style>" not in chart.to_html("x")
    assert "&lt;/script" in charts["models"].to_svg()


def test_words_and_numbers_come_with_every_chart(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        assert chart.title, name
        assert len(chart.description) > 20, name
        assert chart.table.rows, name
        assert all(len(row) == len(chart.table.header) for row in chart.table.rows), name
        assert "nan" not in chart.description, name


def test_a_hundred_classes_stay_small(charts: dict[str, Chart]) -> None:
    assert len(charts["classwise"].to_html("x")) < 500_000
    assert sum(len(chart.to_html("x")) for chart in charts.values()) < 1_500_000


def test_script_and_style_are_small_with_nothing_to_fetch() -> None:
    assert len(runtime_script()) < 8_000
    assert "</script" not in runtime_script().lower()
    assert len(chart_style()) < 12_000
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
    yield opened
    assert complaints == []
    assert asked == [path.as_uri()]
    context.close()


def _seen(page: Any, name: str) -> Any:
    return page.locator(f"#{name} .chart-view:visible svg.vd:visible")


def test_every_chart_is_seen_once_and_no_label_became_an_element(page: Any) -> None:
    for name in page.evaluate("[...document.querySelectorAll('figure.chart')].map((f) => f.id)"):
        assert _seen(page, name).count() == (12 if name == "classwise" else 1), name
    assert page.locator("img").count() == 0
    assert page.locator("svg.vd:not([role=img][aria-label])").count() == 0


@pytest.mark.parametrize("width", [1280, 720, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_are_apart_large_enough_and_whole(page: Any, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    seen, faults = page.locator("svg.vd:visible").count(), faults_of(page)
    reach = page.evaluate("document.documentElement.scrollWidth")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")
    page.set_viewport_size({"width": 1200, "height": 900})
    page.emulate_media(color_scheme="light")
    assert seen > 100
    assert faults == []
    assert reach <= width


def test_axe_finds_nothing_serious(page: Any) -> None:
    axe = needed("axe_playwright_python.sync_playwright").Axe()
    looked_at = {
        "include": [[f"#{name}"] for name in ("switchable", "slider", "groups", "simplex")]
    }
    grave = [
        (found["id"], found["nodes"][0]["html"][:200])
        for found in axe.run(page, context=looked_at).response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_lists_change_the_chart_by_keyboard(page: Any, charts: dict[str, Chart]) -> None:
    first = _seen(page, "switchable").inner_html()
    method = page.locator("#switchable select").nth(1)
    method.focus()
    page.keyboard.press("ArrowDown")
    assert _seen(page, "switchable").inner_html() != first
    said = page.inner_text("#switchable .chart-status")
    assert "blocks" in said
    assert _seen(page, "switchable").locator("desc").text_content() == said
    rows = page.locator("#switchable .chart-view:visible tbody tr").count()
    assert rows == len(charts["switchable"].frames[1].table.rows)


def test_a_choice_without_its_neighbour_takes_the_nearest(page: Any) -> None:
    lens, method = (page.locator("#switchable select").nth(k) for k in (0, 1))
    lens.select_option(label=HOSTILE)
    assert method.evaluate("(s) => s.selectedOptions[0].text") == "smooth"
    lens.select_option(label="confidence")
    assert method.evaluate("(s) => s.selectedOptions[0].text") == "10 bins"
    assert "share of rows it was right" in _seen(page, "switchable").inner_html()


def test_slider_reads_what_the_rows_cost(page: Any) -> None:
    y, p = _rows()
    slider = page.locator("#slider input[type=range]")
    slider.focus()
    line = _seen(page, "slider").locator(".chosen")
    before = line.bounding_box()["x"]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert line.bounding_box()["x"] < before  # a dear miss: act from a lower probability on
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
    table = charts["reliability"].table
    rows = table.rows[4][table.header.index("rows")]
    _seen(page, "reliability").scroll_into_view_if_needed()
    _seen(page, "reliability").locator(".touch").nth(4).hover(force=True)
    box = page.locator(".chart-tooltip")
    assert re.search(rf"\b{rows} rows\b", box.inner_text())
    page.mouse.move(0, 0)
    assert box.is_hidden()


def test_dark_ground_changes_the_colours(page: Any) -> None:
    dot = _seen(page, "reliability").locator(".dot").first
    fill = "(mark) => getComputedStyle(mark).fill"
    light = dot.evaluate(fill)
    page.emulate_media(color_scheme="dark")
    dark = dot.evaluate(fill)
    page.emulate_media(color_scheme="light")
    assert (light, dark) == ("rgb(0, 114, 178)", "rgb(86, 180, 233)")
    # What the reader chose on the page counts more than what the machine says.
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert dot.evaluate(fill) == dark
    page.evaluate("delete document.documentElement.dataset.theme")


def test_charts_are_seen_without_scripts(
    browser: Any, charts: dict[str, Chart], tmp_path: Any
) -> None:
    path = tmp_path / "page.html"
    path.write_text(_page(charts), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    opened = context.new_page()
    opened.goto(path.as_uri())
    for name in charts:
        assert opened.locator(f"#{name} svg.vd:visible").count() >= 1, name
    context.close()
