"""Decisions from probabilities and costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.data.arrays import NamedArray, to_numpy
from veridical._core.data.columns import names_of
from veridical._core.data.reading import Reading, Scale
from veridical._core.data.validation import check_sample, float_array
from veridical._core.typing import ArrayLike
from veridical.decisions._costs.matrix import check_costs, choose
from veridical.exceptions import invalid
from veridical.results import Decisions
from veridical.results.library import answers_in_kind

_CALLER = "decide"


@answers_in_kind
def decide(
    y_prob: ArrayLike,
    costs: Any,
    *,
    actions: ArrayLike | None = None,
    abstain_cost: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    scale: Scale = "probability",
    normalize: bool = False,
) -> Decisions:
    r"""Choose for each row the action that is expected to cost least.

    Parameters
    ----------
    y_prob : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities: of the positive class, or one column for each class.
    costs : array-like of shape (K, A) or (n, K, A), mapping, or (false_positive, false_negative)
        Cost of each action (columns) if each class (rows, in the order of `labels`) is the true
        one, for all rows or row by row, in any unit; negative costs are gains. A mapping is
        ``{action: {label: cost}}``. Two numbers stand for two classes and the actions of calling a
        row by one of them.
    actions : array-like of shape (A,), optional
        Names of the actions; default the labels if there are as many, else 0 .. A-1.
    abstain_cost : float or array-like of shape (n,), optional
        What it costs to leave a row undecided, whatever its class: one more action, "abstain".
    labels : array-like of shape (K,), optional
        Classes in the order of columns and of rows of `costs`; default those that a mapping of
        costs names, sorted, else 0 .. K-1. Columns of a frame are matched to them by name.
    pos_label : label, optional
        The class `y_prob` of one column is of, and a false positive is false about; default the
        larger of the two. For one column and `labels` that end in the smaller one, say which.
    scale, normalize
        How values are read, as in :func:`evaluate`.

    Returns
    -------
    Decisions
        With `action`, one name a row, `expected_cost` of each, and the `share` of each action.

    Notes
    -----
    .. math:: a(p) = \arg\min_a \sum_k p_k C_{ka}

    the Bayes decision: no other rule has a lower expected cost if the probabilities are right. For
    two classes and actions it compares p with :func:`cost_threshold`; abstaining at a fixed cost is
    the rule of Chow (1970, doi 10.1109/TIT.1970.1054406). Ties go to the first action, abstaining
    last; costs that differ by rounding errors only are tied.

    If the probabilities are not calibrated, neither are the expected costs, and the decisions may
    be wrong: see :func:`expected_cost` and :func:`miscalibration_cost`. Adding a constant to all
    costs of a class, or multiplying all costs by a positive factor, changes no decision.

    Time O(n K A), memory O(n) beside the input.

    Examples
    --------
    A missed case costs 10, a false alarm 1: alarm above 1/11.

    >>> decisions = decide([0.05, 0.1, 0.6], (1, 10))
    >>> decisions.action.tolist(), decisions.expected_cost.round(2).tolist()
    ([0, 1, 1], [0.5, 0.9, 0.4])

    With an expert at 0.45 who knows, only the last row is decided without:

    >>> decide([0.05, 0.1, 0.6], (1, 10), abstain_cost=0.45).action.tolist()
    ['abstain', 'abstain', 1]

    Actions need not be classes:

    >>> costs = {"treat": {"ill": 5, "well": 3}, "wait": {"ill": 20, "well": 0}}
    >>> decide([[0.1, 0.9], [0.3, 0.7]], costs, labels=["ill", "well"]).action.tolist()
    ['wait', 'treat']
    """
    p = float_array(y_prob, caller=_CALLER, param="y_prob")
    reading = Reading(scale, normalize=normalize).checked(caller=_CALLER)
    if reading.converts:
        p = reading.probabilities(p, caller=_CALLER, param="y_prob")
        y_prob = NamedArray(p, names_of(y_prob) or ())
    if len(p) == 0:
        raise invalid(_CALLER, "y_prob", "non-empty", "0 rows", hint="pass at least one row.")
    if labels is None:
        labels = _labels_in(costs, p.shape[1] if p.ndim == 2 and p.shape[1] > 1 else 2)
    # The border takes outcomes, decisions need none: any one label stands for them.
    known = [0] if labels is None else to_numpy(labels, caller=_CALLER, param="labels").ravel()
    sample = check_sample(
        np.full(len(p), known[0] if len(known) else 0),
        p if labels is None else y_prob,  # names of columns are those of labels
        caller=_CALLER,
        labels=labels,
        pos_label=pos_label,
        option="scale",
    )
    table = check_costs(
        costs, sample, sample.n, actions=actions, abstain_cost=abstain_cost, caller=_CALLER
    )
    chosen = choose(sample, table)
    count = np.bincount(chosen.action, minlength=len(table.actions))
    return Decisions(
        choice=chosen.action,
        expected_cost=chosen.promised,
        actions=table.actions,
        share=count / sample.n,
        mean_expected_cost=float(chosen.promised.mean()),
        definition=table.definition,
        n_samples=sample.n,
    )


def _labels_in(costs: Any, n_classes: int) -> list[Any] | None:
    """Classes that costs by label name, sorted as everywhere; None if they do not name them."""
    if not isinstance(costs, Mapping):
        return None
    named = [set(each) for each in costs.values() if isinstance(each, Mapping)]
    try:
        return sorted(named[0]) if named and len(named[0]) == n_classes else None
    except TypeError:  # labels of several kinds, which the border refuses
        return None
