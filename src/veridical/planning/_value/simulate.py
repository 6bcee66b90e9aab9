"""What accuracy and calibration are worth to a decision process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_level, check_option
from veridical._core.runtime.progress import track
from veridical._core.typing import ArrayLike, WeightType
from veridical.exceptions import InvalidInputError, invalid, warn_of
from veridical.planning._value.processes import DecisionProcess, as_process
from veridical.planning._value.targets import check_shares, make_targets
from veridical.planning._value.value import (
    Labelled,
    SimulationPlan,
    value_of_fake,
    value_of_predictions,
    values_of_targets,
)
from veridical.results import DecisionValue, RequirementTable
from veridical.results.library import answers_in_kind
from veridical.simulation import BinaryFakeClassifier, FakeClassifier
from veridical.simulation.core import Direction

_CALLER = "simulate_decisions"
_UNEQUAL = 0.05  # difference in the share of a class from which a grid is of another problem
_USUAL = "the default is a good start."
_FAKES = (FakeClassifier, BinaryFakeClassifier)


@answers_in_kind
def simulate_decisions(
    process: DecisionProcess | Callable[..., Any],
    source: Any = None,
    *,
    accuracy: ArrayLike | None = None,
    ece: ArrayLike | None = None,
    direction: Direction = "over",
    n_classes: int | None = None,
    class_shares: ArrayLike | None = None,
    n_samples: int = 20_000,
    n_repeats: int = 10,
    confidence_level: float = 0.95,
    rng: Any = 0,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> RequirementTable:
    r"""Value of a decision process at every accuracy and calibration error, and on real models.

    Sets requirements before anything is trained: fake classifiers of every accuracy and expected
    calibration error feed the process, and the table of values says what each is worth. The same
    process is evaluated on test sets of real models.

    Parameters
    ----------
    process : DecisionProcess or callable
        `CostProcess`, `ThresholdProcess`, `AllocationProcess`, `KellyProcess`, a subclass of
        `DecisionProcess`, or a function of (y, y_prob) that returns the value of each row. Higher
        is better.
    source : fake classifier, (y_true, y_prob), or mapping of names to these, optional
        Models to evaluate: known ones, or predictions on a test set.
    accuracy, ece : float or array-like, optional
        Targets of the grid. By default there is a grid only if no `source` is given.
    direction : {"over", "under"}
        Whether the classifiers of the grid are over- or under-confident, on every row.
    n_classes : int, optional
        Classes of the grid; default those of `source` or `class_shares`, else 2.
    class_shares : array-like of shape (n_classes,), optional
        How frequent the classes of the grid are; default equally.
    n_samples, n_repeats : int, default 20,000 and 10
        Rows of a repeat and independent repeats. For a process with a common budget `n_samples`
        is the number of rows that share it.
    confidence_level : float, default 0.95
        Of all limits.
    rng : int, Generator or None, default 0
        Source of randomness.
    labels, pos_label, sample_weight, weight_type
        As in :func:`brier_score`, for predictions.

    Returns
    -------
    RequirementTable
        With `grid` and `models`, and :meth:`RequirementTable.require`, which turns the grid into
        sentences. :func:`veridical.plots.requirements` draws it.

    Notes
    -----
    Section 4 of [1]_ proposes this: simulate the process with classifiers of adjustable accuracy
    and calibration to find the requirements, then run it on the test set of the real one.

    The classifiers of the grid are those of :func:`fake_classifier_for`: the truth is Dirichlet
    with `class_shares` for its mean, and one power distorts all rows the same way. A real model of
    the same accuracy and ECE has another distribution of truths and errs in another pattern; its
    value will differ, and its ECE may be harmless where the decision is made or all of it there.
    For other patterns pass fake classifiers of your own, such as `EmpiricalFakeClassifier` on the
    recalibrated outputs of a first model. Targets that no classifier meets (Lemma 1 of [1]_) get a
    `reason` instead of a value. For four and more unequal classes the ECE is met to about 0.001.

    For two classes the second column is the positive class, also in the costs of a process.

    `baseline` decides on the shares of the classes alone: one action for all rows, or a budget
    spent on rows at random. `calibrated` decides on the truth; for predictions, whose truth nobody
    knows, on recalibrated probabilities (five folds; beta calibration for two classes, structured
    vector scaling for more), and then `loss` is an estimate from below of what miscalibration
    costs, since a fitted map is not the best there is.

    With fake classifiers the expectation over the class given the truth is taken exactly, except
    for a callable; all classifiers of one accuracy share their truths, so differences along the
    ECE are more precise than the limits of each value. Limits are of Student's t over repeats.
    Those of predictions are normal limits over rows, which for a common budget take its price as
    given. Time O(grid points * n_samples * n_repeats * K) in decisions, and up to a quarter of a
    second a grid point to find its classifier (once; they are remembered); memory O(n_samples K).

    References
    ----------
    .. [1] Panchenko (2021), Calibration of Classifiers, appliedAI, sections 4, 6 and 7.

    Examples
    --------
    Equal costs: the cost is the error rate, whatever the calibration error.

    >>> from veridical.planning import CostProcess
    >>> table = simulate_decisions(CostProcess((1, 1)), accuracy=0.75, ece=[0, 0.1, 0.3],
    ...                            n_samples=2000, n_repeats=5)
    >>> [row.value is not None and bool(row.low < -0.25 < row.high) for row in table.grid]
    [True, True, False]
    >>> table.grid[0].value == table.grid[1].value, table.grid[0].baseline
    (True, -0.5)
    >>> print(table.require(saving=0.4).rows[0])
    To save 40 % of the cost of deciding without a model at accuracy 0.75, any ECE simulated will
    do, up to 0.1 (0.25 cannot be reached).
    """
    asked = as_process(process, caller=_CALLER)
    check_option(_CALLER, "direction", direction, ("over", "under"))
    level = check_level(_CALLER, confidence_level)
    generator = check_rng(rng, caller=_CALLER)
    least_rows = "an integer of 1 or more"
    check_integer(_CALLER, "n_samples", n_samples, hint=_USUAL, expected=least_rows)
    check_integer(_CALLER, "n_repeats", n_repeats, hint=_USUAL, least=2)
    sources = _named(source)
    k = _classes(n_classes, class_shares, sources)
    shares = check_shares(class_shares, k, caller=_CALLER)
    seeds = tuple(int(seed) for seed in generator.integers(2**63, size=n_repeats))
    plan = SimulationPlan(int(n_samples), seeds, level)
    wanted = source is None or accuracy is not None or ece is not None
    targets = []
    if wanted:
        targets = make_targets(accuracy, ece, shares=shares, direction=direction, caller=_CALLER)
    n_fakes = sum(isinstance(model, _FAKES) for model in sources.values())
    steps = track((len(targets) + n_fakes) * n_repeats, "decisions")
    grid = [row for each in targets for row in values_of_targets(asked, each, plan, steps)]
    labelled = Labelled(labels, pos_label, sample_weight, weight_type)
    models: list[DecisionValue] = []
    notes: list[str] = []
    map_notes: list[str] = []
    for name, model in sources.items():
        if isinstance(model, _FAKES):
            models.append(value_of_fake(asked, name, model, plan, steps))
            continue
        y_true, y_prob = model
        found = value_of_predictions(asked, name, y_true, y_prob, labelled, level, caller=_CALLER)
        models.append(found.value)
        map_notes += found.map_notes
        notes += [f"{name}: {note}" for note in found.notes]
        if grid and np.abs(found.prior - shares).max() > _UNEQUAL:
            there, here = (
                ", ".join(f"{x:.2f}" for x in some[:6]) for some in (shares, found.prior)
            )
            notes.append(
                f"{name}: its classes have shares {here}, those of the grid {there}; compare"
                " savings, not values, or set `class_shares`"
            )
    warn_of(map_notes)
    warn_of(notes, caller=_CALLER)
    return RequirementTable(
        grid=tuple(grid),
        models=tuple(models),
        process=asked.definition,
        kind=asked.kind,
        direction=direction,
        n_classes=k,
        class_shares=tuple(shares.tolist()),
        confidence_level=level,
        notes=tuple(notes),
    )


def _named(source: Any) -> dict[str, Any]:
    """Models by name, each a fake classifier or a pair of arrays."""
    if source is None:
        return {}
    named = dict(source) if isinstance(source, Mapping) else {"model": source}
    if not named:
        raise _unknown("an empty mapping")
    for name, model in named.items():
        pair = isinstance(model, (tuple, list)) and len(model) == 2
        if not (isinstance(model, _FAKES) or (pair and not isinstance(model[0], _FAKES))):
            got = f"{type(model).__name__} for {name!r}"
            raise _unknown(got)
    return {str(name): model for name, model in named.items()}


def _unknown(got: str) -> InvalidInputError:
    hint = 'e.g. `(y_true, y_prob)`, or `{"now": (y_true, y_prob), "next": fake}`.'
    expected = "a fake classifier, a pair (y_true, y_prob), or a mapping of names to these"
    return invalid(_CALLER, "source", expected, got, hint=hint)


def _classes(n_classes: Any, class_shares: Any, sources: dict[str, Any]) -> int:
    """Number of classes of the grid and of every model."""
    counts = {name: _count(model) for name, model in sources.items()}
    if n_classes is None:
        default = 2 if class_shares is None else np.size(class_shares)
        n_classes = next(iter(counts.values()), default)
    check_integer(_CALLER, "n_classes", n_classes, hint=_USUAL, least=2)
    for name, count in counts.items():
        if count != n_classes:
            hint = "one decision process has one number of classes."
            expected = f"of {n_classes} classes"
            raise invalid(_CALLER, "source", expected, f"{count} for {name!r}", hint=hint)
    return int(n_classes)


def _count(model: Any) -> int:
    if isinstance(model, FakeClassifier):
        return model.n_classes
    if isinstance(model, BinaryFakeClassifier):
        return 2
    shape = np.shape(model[1])
    return max(shape[1], 2) if len(shape) == 2 else 2
