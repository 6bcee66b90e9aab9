"""Names that moved to the distribution veridical-lab, and the error that says so."""

from __future__ import annotations

from veridical.exceptions import MissingDependencyError

# In a checkout, because no index knows the name yet.
INSTALL = "run `pip install ./packages/lab` in a checkout of veridical."

_RESULTS = ("ExperimentResult", "Fact", "FactCheck")
_DRIFT = (
    "DriftBatch",
    "DriftStream",
    "GroupDrift",
    "LabelDelay",
    "PriorShift",
    "TaskPredictions",
    "TemperatureDrift",
)
_FIGURES = (
    "ConvergenceArtists",
    "CriticalDifferenceArtists",
    "SimplexFunctionArtists",
    "TrajectoryArtists",
    "convergence",
    "critical_difference",
    "probability_paper",
    "simplex_function",
    "trajectory",
)
# Module of the core, module of the lab, and the names that moved from one to the other.
_MOVED = (
    ("veridical", "veridical_lab", ("Experiment", "list_experiments", "run_experiment")),
    ("veridical", "veridical_lab", _RESULTS),
    ("veridical.results", "veridical_lab", _RESULTS),
    ("veridical.simulation", "veridical_lab.simulation", _DRIFT),
    ("veridical.plots", "veridical_lab.plots", _FIGURES),
)
_NEW_NAMES = {f"{old}.{name}": f"{new}.{name}" for old, new, names in _MOVED for name in names}
_NEW_NAMES["veridical.experiments"] = "veridical_lab"


def moved_error(old: str) -> MissingDependencyError | None:
    """Build the error for a name that is in the lab now, None for any other name.

    The message is one line: the new name and how to install it. It is an ImportError, because
    ``from module import name`` replaces the text of an AttributeError.

    Examples
    --------
    >>> print(moved_error("veridical.run_experiment"))
    veridical.run_experiment is veridical_lab.run_experiment now, in the distribution veridical-lab:
    run `pip install ./packages/lab` in a checkout of veridical.
    >>> moved_error("veridical.evaluate") is None
    True
    """
    if old not in _NEW_NAMES:
        return None
    error = MissingDependencyError(
        f"{old} is {_NEW_NAMES[old]} now, in the distribution veridical-lab: {INSTALL}"
    )
    error.hint = INSTALL
    return error
