"""Every number in the tables for people who come from other packages is true."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from public_names import NAMES

import veridical

ROOT = Path(__file__).parents[2]
RECORDED = json.loads((ROOT / "docs/migration/recorded.json").read_text(encoding="utf-8"))
_ROW = re.compile(r"\| `([^`]+)` \| ([\d.]+) \| `([^`]+)` \| ([\d.]+|inf) \| (.+) \|")


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    forest = pl.read_csv(ROOT / "examples/forest.csv")
    digits = pl.read_csv(ROOT / "examples/digits.csv")
    return {name: getattr(veridical, name) for name in NAMES} | {
        "y": forest["label"].to_numpy(),
        "p": forest["p"].to_numpy(),
        "Y": digits["label"].to_numpy(),
        "P": digits.select("^p_.*$").to_numpy(),
        "q": np.array([0.3]),
        "debiased": veridical.BinnedError(veridical.QuantileBins(15), norm=2, debias=True),
    }


@pytest.mark.parametrize("package", sorted(RECORDED))
def test_both_columns_of_the_table_are_true(package, space):
    recorded = RECORDED[package]
    text = (ROOT / f"docs/migrate-from-{package}.md").read_text(encoding="utf-8")
    assert f"version {recorded['version']}" in text
    rows = _ROW.findall(text)
    numbers = {call for call, answer in recorded["answers"].items() if isinstance(answer, float)}
    assert {call for call, *_ in rows} == numbers  # each recorded call has its row
    for theirs, there, ours, here, why in rows:
        assert f"{recorded['answers'][theirs]:.4f}" == there, theirs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", veridical.VeridicalWarning)
            assert f"{eval(ours, dict(space)):.4f}" == here, ours
        assert why.startswith("the same") or there != here, theirs


@pytest.mark.parametrize(
    ("package", "call", "expected"),
    [
        ("netcal", "PlattCalibrator(penalty=None, smooth_targets=False)", "0.0422"),
        ("netcal", "BetaCalibrator(penalty=None)", "0.0373"),
        ("netcal", "TemperatureCalibrator(pseudo_rows=0)", "0.0401"),
        ("netcal", "IsotonicCalibrator(laplace=0)", "0.0337"),
    ],
)
def test_options_that_give_their_number_do(package, call, expected, space):
    page = (ROOT / f"docs/migrate-from-{package}.md").read_text(encoding="utf-8")
    assert f"gives {expected}" in page
    calibrator = eval(call, dict(space)).fit(space["p"], space["y"])
    assert f"{calibrator.predict_proba(space['q'])[0, 1]:.4f}" == expected


@pytest.mark.parametrize("package", sorted(RECORDED))
def test_every_name_of_ours_exists(package):
    text = (ROOT / f"docs/migrate-from-{package}.md").read_text(encoding="utf-8")
    ours = "\n".join(line.rpartition(" | ")[2] for line in text.splitlines())
    for name in re.findall(r"`([A-Z]\w+)\(", ours):
        assert hasattr(veridical, name), name
