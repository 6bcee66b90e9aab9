"""The smooth calibration error of relplot, on inputs of its own.

Run from the root of the repository, with relplot installed:

    PYTHONPATH=tests/reference python -m recording.smooth
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recording.cases import COMMAND, Case, write_reference
from recording.definitions import SCORE
from recording.inputs import Input

PACKAGE = "relplot"
OWN_COMMAND = "PYTHONPATH=tests/reference python -m recording.smooth"
SEED = 20230921
NOTES = [
    "The search for the bandwidth stops after ten halvings of [0, 1] and returns the error at its "
    "upper end, so the figure is up to 1/1024 below the fixed point: hence the tolerance.",
    "The kernel is cut off at a distance of 0.5, so errors above about 0.1 come out too large "
    "(0.367 instead of 0.315 for y = 1 with probability 1 - p, p uniform, n = 500), unless all "
    "residuals have one sign; the integral counts both ends of [0, 1] fully instead of by half, "
    "which adds up to 2e-3 where residuals are large at the ends. Such inputs are not recorded.",
    "No weights, so none are recorded.",
]
DEFINITION = (
    "sigma with integral over t of |sum_i (y_i - p_i) K(t, p_i)| / n = sigma, K a Gaussian of "
    "standard deviation sigma reflected at 0 and 1; by bisection to 1/1024"
)
BANDWIDTHS = (0.01, 0.03, 0.1)


def make_inputs() -> dict[str, Input]:
    """Build all inputs, the same on every call and machine."""
    small, calibrated, over, skewed, tied = np.random.default_rng(SEED).spawn(5)
    inputs = {}
    for n in (15, 40):
        p = np.linspace(0.5 / n, 1 - 0.5 / n, n)
        y = (small.permuted(np.tile([0.25, 0.75], n))[:n] < p).astype(np.int64)
        inputs[f"small_{n}"] = Input(y, p, f"{n} scores spread evenly, close to calibrated")
    for n in (200, 1000):
        p = calibrated.random(n)
        y = (calibrated.random(n) < p).astype(np.int64)
        inputs[f"calibrated_{n}"] = Input(y, p, "uniform scores, calibrated")
    p = over.random(400)
    y = (over.random(400) < 0.15 + 0.7 * p).astype(np.int64)
    inputs["over_400"] = Input(y, p, "uniform scores, over-confident at both ends")
    p = skewed.beta(0.5, 5.0, 600)
    y = (skewed.random(600) < p).astype(np.int64)
    inputs["skewed_600"] = Input(y, p, "most scores near 0, calibrated")
    p = tied.integers(0, 21, 300) / 20
    y = (tied.random(300) < p**1.2).astype(np.int64)
    inputs["tied_300"] = Input(y, p, "21 distinct scores from 0 to 1, over-forecast")
    p = np.linspace(0.05, 0.65, 7)
    inputs["one_sign"] = Input(np.ones(7, dtype=np.int64), p, "all residuals positive")
    return inputs


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record smECE with its own bandwidth, and with given ones on one input."""
    from relplot.metrics import smECE, smECE_sigma

    cases = [
        Case(
            name=f"smECE {name}",
            input=name,
            quantity="smooth_error",
            settings={"lens": "binary", "bandwidth": "fixed-point"},
            call="relplot.smECE(p, y)",
            definition=f"{DEFINITION}; {SCORE['binary']}",
            output=float(smECE(sample.y_prob, sample.y_true)),
            tolerance=1e-3,
        )
        for name, sample in inputs.items()
    ]
    sample = inputs["calibrated_1000"]
    cases += [
        Case(
            name=f"smECE_sigma calibrated_1000 {width}",
            input="calibrated_1000",
            quantity="smooth_error",
            settings={"lens": "binary", "bandwidth": width},
            call=f"relplot.smECE_sigma(p, y, sigma={width})",
            definition=f"integral over t of |sum_i (y_i - p_i) K(t, p_i)| / n; {SCORE['binary']}",
            output=float(smECE_sigma(sample.y_prob, sample.y_true, sigma=width)),
            tolerance=1e-3,
        )
        for width in BANDWIDTHS
    ]
    return cases


def main() -> None:
    """Write `relplot_smooth.json` beside the other reference files."""
    inputs = make_inputs()
    path = Path(__file__).parents[1] / "relplot_smooth.json"
    write_reference(path, PACKAGE, inputs, record(inputs), NOTES)
    text = path.read_text(encoding="utf-8").replace(COMMAND, OWN_COMMAND)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
