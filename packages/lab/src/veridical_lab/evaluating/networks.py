"""The classifiers the tables are made of: one that ships, two whose truth is known, and files."""

from __future__ import annotations

import hashlib

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import Binning, SimplexBins, UniformBins, VarianceSplitBins
from veridical.exceptions import invalid
from veridical.lenses.reading import RawData
from veridical.simulation import DirichletFakeClassifier, PowerMap
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.predictions import Predictions, find_predictions

CALIBRATED, OVERCONFIDENT, DIGITS = "calibrated fake", "over-confident fake", "digits"
# Ten classes, as sure as the LeNet (accuracy 0.73) and the DenseNet (0.93) of the paper.
FAKES = {
    CALIBRATED: DirichletFakeClassifier((0.07,) * 10),
    OVERCONFIDENT: DirichletFakeClassifier((0.012,) * 10, PowerMap(2.0)),
}
EQUAL, DATA = "equal", "data-dependent"
AXIS_BINS = 10
_ROWS = 10_000


def read_networks(lab: Laboratory) -> list[Predictions]:
    """Return all classifiers, those of the user last."""
    paths = ("", *map(str, lab.data))
    digits, *own = (find_predictions(path, caller="run_experiment") for path in paths)
    networks = [digits, *(draw_fake(name, lab.seed) for name in FAKES), *own]
    names = [network.name for network in networks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        hint = "rename one of the files."
        expected = f"files of different names (and not {DIGITS!r})"
        raise invalid("run_experiment", "data", expected, f"{twice!r} twice", hint=hint)
    return networks


def draw_fake(name: str, seed: int) -> Predictions:
    """Return the sample of a fake classifier, the same for the same seed."""
    drawn = FAKES[name].sample(_ROWS, rng=seed)
    return Predictions(name=name, y=drawn.y, p=drawn.y_prob)


def network_cell(lab: Laboratory, network: Predictions, index: int) -> dict[str, str | int]:
    """Return what finds the network again in another process, and changes with its rows."""
    first_file = 1 + len(FAKES)
    path = str(lab.data[index - first_file]) if index >= first_file else ""
    rows = hashlib.sha256(network.p.tobytes() + network.y.tobytes()).hexdigest()
    return {"network": network.name, "path": path, "rows": rows, "seed": lab.seed}


def find_network(cell: Cell) -> Predictions:
    """Return the network of a cell."""
    if cell["path"] or cell["network"] == DIGITS:
        return find_predictions(cell["path"], caller="run_experiment")
    return draw_fake(cell["network"], cell["seed"])


def seen_through(lens: str, network: Predictions) -> BinarySample | MulticlassSample:
    """Return the problem that the confidence or the canonical lens makes of a network."""
    problem = RawData(network.y, network.p).through(lens, caller="run_experiment").problem
    assert isinstance(problem, (BinarySample, MulticlassSample))
    return problem


def bins_for(problem: BinarySample | MulticlassSample, kind: str) -> Binning:
    """Return equal bins, or the data-dependent ones of appendix B.

    The paper splits cells of 1,000 and more of its 10,000 rows; here cells of a tenth of the rows.
    """
    if kind == DATA:
        return VarianceSplitBins(max(2, problem.n // 10))
    vectors = isinstance(problem, MulticlassSample)
    return SimplexBins(AXIS_BINS) if vectors else UniformBins(AXIS_BINS)
