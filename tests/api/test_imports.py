"""Importing stays light: what is not used is not loaded."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from textwrap import dedent

import pytest

HEAVY = ("matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn")


def _modules_after(code: str) -> set[str]:
    """Modules that a fresh interpreter holds after running `code`."""
    report = "import sys; print(chr(0), *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{dedent(code)}\n{report}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.partition(chr(0))[2].split())


def _loaded_after(code: str) -> set[str]:
    """Top-level packages a fresh interpreter holds after running `code`."""
    return {name.split(".")[0] for name in _modules_after(code)}


def test_importing_the_package_loads_no_library():
    loaded = _loaded_after("import veridical")
    assert "veridical" in loaded
    assert not loaded & set(HEAVY)


def test_the_errors_are_available_without_any_library():
    assert not _loaded_after("from veridical import InvalidInputError") & set(HEAVY)


@pytest.mark.parametrize("room", ["calibrators", "evaluation", "monitoring", "report", "results"])
def test_importing_a_room_loads_no_library(room):
    assert not _loaded_after(f"import veridical.{room}") & set(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        """
        import veridical
        p = [0.1, 0.3, 0.7, 0.9] * 100
        y = [0, 0, 1, 1] * 100
        assert "calibration" in str(veridical.evaluate(y, p, n_bins=4))
        """,
        """
        import veridical
        veridical.evaluate([0, 0, 1, 1] * 100, [0.1, 0.3, 0.7, 0.9] * 100, n_bins=4).to_json()
        """,
    ],
    ids=["evaluate", "json"],
)
def test_evaluating_arrays_loads_no_optional_library(code):
    loaded = _loaded_after(code)
    assert "numpy" in loaded
    assert not loaded & {"matplotlib", "numba", "pandas", "sklearn", "torch"}


def test_a_score_does_not_load_scipy_or_frames():
    loaded = _loaded_after("import veridical; veridical.brier_score([0, 1], [0.2, 0.7])")
    assert not loaded & {"scipy", "polars", "pandas", "pyarrow", "numba"}


_SAMPLE = """
    import numpy
    rng = numpy.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p**2).astype(int)
"""
# What scikit-learn brings, and rooms that have nothing to do with a report.
_NOT_FOR_A_REPORT = {
    "matplotlib",
    "numba",
    "pandas",
    "pyarrow",
    "rich",  # draws on terminals
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "sklearn",
    "veridical.calibrators._segments.segment",
    "veridical.calibrators._trees.boosted",
    "veridical.evaluation._gate.gate",
    "veridical.evaluation._rates.estimate",
    "veridical.export",
    "veridical.monitoring",
    "veridical.planning",
    "veridical.plots",
    "veridical.selection._classifier.classifier",
    "veridical.simulation",
    "veridical.studio",
    "veridical_lab",
}


def test_a_report_loads_what_it_needs(tmp_path):
    code = f"""
    from pathlib import Path
    from veridical.cli import main
    {_SAMPLE}
    folder = Path({str(tmp_path)!r})
    rows = [f"{{a}},{{b}},{{'ab'[i % 2]}}" for i, (a, b) in enumerate(zip(y, p.round(6)))]
    (folder / "p.csv").write_text("\\n".join(["label,p,group", *rows]))
    read, written = folder / "p.csv", folder / "p.html"
    assert main(["report", str(read), "--by", "group", "-o", str(written)]) == 0
    assert written.stat().st_size > 100_000
    """
    assert not _modules_after(code) & _NOT_FOR_A_REPORT


def test_a_monitor_loads_neither_scikit_learn_nor_maps():
    code = f"""
    import veridical
    {_SAMPLE}
    monitor = veridical.CalibrationMonitor()
    assert monitor.update(y, p).n_rows == 400
    monitor.status()
    """
    heavy = {"pandas", "scipy.stats", "sklearn", "veridical.calibrators._trees.boosted"}
    assert not _modules_after(code) & heavy


def test_maps_are_fitted_chosen_and_saved_without_scikit_learn():
    code = f"""
    from veridical.calibrators import Calibrator, PlattCalibrator
    from veridical.selection import AutoCalibrator
    {_SAMPLE}
    for map in (PlattCalibrator(), AutoCalibrator()):
        again = Calibrator.from_dict(map.fit(p, y).to_dict())
        assert (again.predict_proba(p) == map.predict_proba(p)).all()
    """
    assert not _modules_after(code) & {"pandas", "scipy.stats", "sklearn"}


def test_names_of_rooms_and_doors_are_listed_and_found():
    rooms = ("calibrators", "evaluation", "inference", "results", "selection", "calibrators.core")
    for room in rooms:
        module = import_module(f"veridical.{room}")
        assert set(dir(module)) >= set(module.__all__)
        assert all(getattr(module, name) is not None for name in module.__all__)
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = module.nothing
