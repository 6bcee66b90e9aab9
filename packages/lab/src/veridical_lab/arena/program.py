"""The maps of probmetrics on the rows of its own tests, and the same maps here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from veridical.calibrators import (
    Calibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    QuadraticCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from veridical.miscalibration import SmoothError, expected_calibration_error
from veridical.scores import brier_score, log_loss
from veridical_lab._frame.page import Page, by_column
from veridical_lab.arena.recorded import TEST_ROWS, TestRows, recorded
from veridical_lab.arrays import FloatArray, IntArray

_ONE_BY_ONE = ("isotonic", "cir", "ivap-ovr")
# Without the guards that are the default here: the other package has none.
_MAPS: Mapping[str, Callable[[], Calibrator]] = {
    "temp-scaling": lambda: TemperatureCalibrator(pseudo_rows=0),
    "isotonic": lambda: IsotonicCalibrator(laplace=0),
    "cir": lambda: IsotonicCalibrator(centered=True, laplace=0),
    "affine-scaling": lambda: PlattCalibrator(penalty=None, smooth_targets=False),
    "quadratic-scaling": lambda: QuadraticCalibrator(penalty=None),
    "svs": StructuredVectorCalibrator,
    "sms": StructuredMatrixCalibrator,
    "ivap-ovr": VennAbersCalibrator,
}
_EQUAL = {"logloss": 2e-5, "brier": 2e-5}  # of float32, of two optimisers, and rounded


def program_section(page: Page) -> None:
    """Add every score that probmetrics gives, beside ours."""
    found = recorded("probmetrics")
    page.section("The maps of probmetrics, on the rows of its tests")
    page.text(
        f"""The tests of probmetrics {found["version"]} make two sets of probabilities that are too
        sure or not sure enough, and ask that every map lowers Brier score, smECE and ECE of the
        rows it was fitted to. They print no numbers and leave labels to chance; here labels have
        a seed, and the package was run on them once. Its Brier score of two classes is twice the
        usual one, its ECE that of the positive class."""
    )
    rows = []
    for test in TEST_ROWS:
        rows += _compare(page, test, found["values"][test.name])
    names = ["rows", "map", "log loss: theirs", "ours", "Brier: theirs", "ours ", "ECE: theirs"]
    page.table(by_column([*names, "ours  ", "smECE: theirs", "ours   "], rows), digits=6)


def _compare(page: Page, test: TestRows, theirs: Mapping[str, Any]) -> list[list[Any]]:
    y, p = test.draw()
    ours = {"before": measure(y, p)} | {
        name: measure(y, fitted(name, test.n_classes).fit(p, y).predict_proba(p))
        for name in theirs
        if name != "before"
    }
    for name in theirs:
        for score, within in _EQUAL.items():
            told = f"{test.name}, {name}, {score}"
            text = f"{told} | {ours[name][score]} = {theirs[name][score]} ± {within}"
            page.check(text, origin=f"probmetrics {recorded('probmetrics')['version']}")
    scores = ("brier", "smece", "ece-15")
    lowered = sum(ours[n][s] < ours["before"][s] for n in theirs if n != "before" for s in scores)
    page.check(f"""{test.name}, their test | every map lowers Brier score, smECE and ECE of the rows
        it was fitted to | {lowered} >= {len(scores) * (len(theirs) - 1)} | cases, of our maps""")
    return [
        [test.name, name, *(one[name][s] for s in ("logloss", *scores) for one in (theirs, ours))]
        for name in theirs
    ]


def fitted(name: str, n_classes: int) -> Calibrator:
    """The map of that name, of two classes or one against the rest."""
    map_ = _MAPS[name]()
    return OneVsRestCalibrator(map_) if name in _ONE_BY_ONE and n_classes > 2 else map_


def measure(y: IntArray, p: FloatArray) -> dict[str, float]:
    """Scores as the other package defines them."""
    labels = list(range(p.shape[1]))
    twice = 2 if len(labels) == 2 else 1
    return {
        "logloss": log_loss(y, p, labels=labels),
        "brier": twice * brier_score(y, p, labels=labels),
        "ece-15": expected_calibration_error(y, p, labels=labels),
        "smece": SmoothError()(y, p, labels=labels),
    }
