"""The page on monitoring: its examples run and say what it says they do."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from veridical.cli import main
from veridical.monitoring._judge.prometheus import prometheus_text
from veridical.monitoring._store.plan import Plan

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "monitoring.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Names after all blocks have run, and what each printed."""
    folder = tmp_path_factory.mktemp("page")
    printed: list[str] = []
    found: dict[str, Any] = {"print": lambda *values: printed.append(" ".join(map(str, values)))}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in blocks("python"):
            exec(block, found)
    return found | {"printed": printed, "folder": folder}


def test_blocks_print_what_the_page_says(space: dict[str, Any]):
    said = [
        line.strip().removeprefix("# ")
        for block in blocks("python")
        for line in block.splitlines()
        if line.strip().startswith("# ")
    ]
    assert said == space["printed"]
    assert len(said) == 8
    assert (space["folder"] / "monitor.html").stat().st_size > 100_000


def test_commands_run(
    space: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(space["folder"])
    y, p, region = space["day"](300, drifted=False)
    pl.DataFrame({"label": y, "p": p, "region": region}).write_csv("today.csv")
    (commands,) = blocks("sh")
    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "veridical"
        assert main(arguments) == 0, capsys.readouterr().err
    assert Path("page.html").exists()
    assert Path("veridical.prom").read_text().startswith("# HELP")


def test_gauges_of_the_table_are_those_that_are_written(space: dict[str, Any]):
    written = set(re.findall(r"^# TYPE (\w+)", prometheus_text(space["status"]), flags=re.M))
    named = set()
    for line in PAGE.splitlines():
        if line.startswith("| `veridical_"):
            first, *others = re.findall(r"`([\w.]+)`", line.split("|")[1])
            named.add(first)
            stem = first.removesuffix("_rows") if first.startswith("veridical_part") else first
            named |= {name.replace("...", stem) for name in others}
    assert named == written


def test_weights_on_the_page_are_those_of_the_code():
    cases = {"two classes": (2, 0), "two classes, groups": (2, 3), "three to 20 classes": (3, 0)}
    cases["three to 20 classes, groups"] = (3, 3)
    families = ("all", "region", "class", "vector", "group")
    for name, case in cases.items():
        parts = Plan.of_first_batch(*case).parts
        assert sum(parts.values()) == pytest.approx(1)
        cells = " | ".join(f"{parts[family]:.3g}" for family in families)
        assert f"| {name} | {cells} |" in PAGE
    later = Plan.of_first_batch(2, 0)
    part = later.parts["group"]
    assert [round(part / later.share("group", j, 2)) for j in range(3)] == [2, 6, 12]
    first = Plan.of_first_batch(2, 4)
    assert first.share("group", 3, 2) == pytest.approx(0.75 * first.parts["group"] / 4)


def test_change_points_on_the_page_are_those_of_the_table():
    with (DOCS / "evidence" / "monitor_change_points.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    shares = sorted({round(100 * float(row["interval_holds"])) for row in rows})
    assert f"{shares[0]} % and {shares[-1]} % of them" in " ".join(PAGE.split())
    assert {float(row["median_error_batches"]) for row in rows} == {0.0}
    assert {row["streams"] for row in rows} == {"60"}


def test_stores_and_requirements_on_the_page_are_those_of_the_tables():
    with (DOCS / "evidence" / "monitor_stores.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["treatment"] == "kills":
                assert f"{row['times']}: {row['detail']} |" in PAGE
    with (DOCS / "evidence" / "monitor_requirements.csv").open() as stream:
        for row in csv.DictReader(stream):
            missed = 100 * (float(row["missed_above"]) + float(row["missed_below"]))
            assert missed <= 5
            limits = f"{row['mean_low']} to {row['mean_high']}"
            line = f"| {row['law']} | {missed:.1f} % | {row['true_error']} | {limits} |"
            assert line in PAGE
