"""Python source is run in a namespace of its own and compared with `predict_proba`."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from export import maps

from veridical.calibrators import PlattCalibrator, SimplexHistogramCalibrator, TemperatureCalibrator
from veridical.exceptions import InvalidInputError
from veridical.export import to_python
from veridical.selection import AutoCalibrator

CLOSE = 1e-12


def _function(calibrator: Any, name: str = "calibrate") -> Any:
    space: dict[str, Any] = {}
    exec(to_python(calibrator, name=name), space)
    return space[name]


def _compare(calibrator: Any, scores: np.ndarray) -> None:
    function = _function(calibrator)
    found = np.array([function(row) for row in scores.tolist()])
    assert np.abs(found - calibrator.predict_proba(scores)).max() < CLOSE


@pytest.mark.parametrize("name", maps.ALL)
def test_one_probability(name: str) -> None:
    calibrator = maps.fitted(name)
    _compare(calibrator, maps.hard_scores(calibrator))


@pytest.mark.parametrize("name", maps.ALL)
def test_two_probabilities_the_positive_class_first(name: str) -> None:
    calibrator = maps.fitted(name, labels=(1, 0))
    p = maps.hard_scores(maps.fitted("histogram"))
    _compare(calibrator, np.column_stack([p, 1 - p]))
    _compare(calibrator, p)


@pytest.mark.parametrize(
    "name",
    [
        "platt",
        "beta",
        "spline",
        "uniform",
        "bbq",
        "isotonic",
        "density",
        "scaling_binning",
        *maps.ANY,
    ],
)
def test_logits(name: str) -> None:
    calibrator = maps.fitted(name, input="logit")
    _compare(calibrator, maps.hard_scores(calibrator))


@pytest.mark.parametrize("name", maps.ANY)
def test_three_classes(name: str) -> None:
    _compare(maps.fitted_three(name), maps.hard_rows())
    if name in maps.SMOOTH:
        logits = np.concatenate([maps.three_logits(maps.hard_rows()), [[900.0, -900.0, 0.0]]])
        _compare(maps.fitted_three(name, input="logit"), logits)


def test_average_of_many_folds() -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(p, y)
    _compare(auto, maps.hard_scores(maps.fitted("isotonic")))


def test_temperature_two_turns_odds_of_nine_into_three() -> None:
    map = TemperatureCalibrator(pseudo_rows=0).fit([0.9] * 4, [1, 1, 1, 0])
    function = _function(map)
    assert function(0.9) == pytest.approx([0.25, 0.75], abs=1e-9)
    assert function([0.1, 0.9]) == pytest.approx([0.25, 0.75], abs=1e-9)


def test_needs_nothing_but_the_standard_library() -> None:
    source = to_python(maps.fitted("averaged"), name="risk")
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert imported == {"math", "bisect"}
    script = f"{source}\nprint(repr(risk(0.25)[1]))"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, check=True
    )
    expected = maps.fitted("averaged").predict_proba([0.25])[0, 1]
    assert abs(float(run.stdout) - expected) < CLOSE


def test_the_function_refuses_what_predict_proba_refuses() -> None:
    function = _function(maps.fitted("platt"))
    for wrong in (1.5, -0.1, float("nan"), [0.2, 0.3, 0.5], [1.5, -0.5]):
        with pytest.raises(ValueError, match=r"\[0, 1\]|expected 2"):
            function(wrong)
    with pytest.raises(ValueError, match="finite"):
        _function(maps.fitted("platt", input="score"))(float("inf"))


def test_labels_are_named() -> None:
    p, y = maps.binary_rows()
    map = PlattCalibrator().fit(p, np.where(y == 1, "sick", "healthy"))
    space: dict[str, Any] = {}
    exec(to_python(map), space)
    assert space["CLASSES"] == ["healthy", "sick"]
    said = space["calibrate"].__doc__
    assert "or one number, the probability of 'sick'." in said
    assert "[0]: probability of 'healthy'\n    [1]: probability of 'sick'" in said


def test_what_cannot_be_written_is_refused() -> None:
    p, y = maps.three_rows()
    with pytest.raises(InvalidInputError, match=r"(?s)SimplexHistogramCalibrator.*save"):
        to_python(SimplexHistogramCalibrator(n_bins=2).fit(p, y))
    for name in ("class", "a b", "f():\n  pass\ndef g", ""):
        with pytest.raises(InvalidInputError, match="a name for a function"):
            to_python(maps.fitted("platt"), name=name)


def test_tables_have_names_of_their_own() -> None:
    for name in maps.ANY:
        source = to_python(maps.fitted_three(name))
        tables = [line.split(" = ")[0] for line in source.splitlines() if line.startswith("_")]
        assert len(set(tables)) == len(tables), name
