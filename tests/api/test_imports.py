"""Importing stays light: what is not used is not loaded."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

HEAVY = ("matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn")


def _loaded_after(code: str) -> set[str]:
    """Top-level packages a fresh interpreter holds after running `code`."""
    report = "import sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{dedent(code)}\n{report}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_library():
    loaded = _loaded_after("import veridical")
    assert "veridical" in loaded
    assert not loaded & set(HEAVY)


def test_the_errors_are_available_without_any_library():
    assert not _loaded_after("from veridical import InvalidInputError") & set(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        "import veridical.evaluation",
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
    ids=["import", "evaluate", "json"],
)
def test_evaluating_arrays_loads_no_optional_library(code):
    loaded = _loaded_after(code)
    assert "numpy" in loaded
    assert not loaded & {"matplotlib", "numba", "pandas", "sklearn", "torch"}


def test_small_data_do_not_load_the_compiler():
    code = """
    import numpy, veridical
    p = numpy.linspace(0, 1, 100_000)
    veridical.expected_calibration_error(p > 0.5, p)
    """
    assert "numba" not in _loaded_after(code)


def test_a_score_does_not_load_scipy_or_frames():
    loaded = _loaded_after("import veridical; veridical.brier_score([0, 1], [0.2, 0.7])")
    assert not loaded & {"scipy", "polars", "pandas", "pyarrow", "numba"}
