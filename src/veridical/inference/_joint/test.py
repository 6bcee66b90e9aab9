"""One test of everything predictions can be wrong in, at one level."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from veridical._core.data.groups import Groups
from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import check_level
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import ArrayLike, ColumnNames, WeightType
from veridical.exceptions import warn_of
from veridical.inference._draws.groups import weight_notes
from veridical.inference._joint.family import joint_test_of
from veridical.inference._joint.line import parts_of_sample
from veridical.inference._joint.whole import whole_parts
from veridical.lenses import Classwise, ClasswiseProblem, Lens, Pooled, Problem
from veridical.lenses.reading import RawData, default_lens, named_lens
from veridical.results import JointTest
from veridical.results.library import answers_in_kind

_CALLER = "joint_test"


@answers_in_kind
def joint_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    by: Any = None,
    level: float = 0.05,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> JointTest:
    r"""Test at one level whether predictions are wrong in any respect, and name the respects.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Look at one problem only ("pooled" is looked at class by class). Default is the whole
        prediction: of two classes the binary problem; of more the confidence, every class and the
        whole vector.
    by : array-like of shape (n,), column name or list of column names, optional
        Subgroup of each row. Each is one more member of the same family.
    level : float, default 0.05
        Chance that anything is found in calibrated predictions.
    n_resamples : int, default 1000
        How many times outcomes are drawn.
    rng : int, Generator or None
        Seed; the same seed gives the same p-values.
    weight_type : {"importance", "frequency"}
        What weights mean. Importance weights may depend on the outcomes, see Notes.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    JointTest
        `pvalue` of all, and `parts`, each with a p-value of its own and one adjusted for the
        others; the smallest adjusted one is `pvalue`.

    Notes
    -----
    The null hypothesis is that outcomes are independent draws from the predictions. Outcomes are
    drawn again from these, once for all members, and every member is the same function of the
    sums of :math:`w (1[y = k] - p_k)` over cells of predictions that do not depend on outcomes:

    - level: the sum of all residuals; spread: their sum with the log odds, centred (score tests
      of the intercept and of the slope given the intercept [1]_);
    - shape: what the other two leave: slow and faster cosine waves [2]_, the cell that is least
      likely and the sum over all cells, by their deviance;
    - class: the three together for one class against the rest, and group: for one subgroup;
    - vector: the squared kernel calibration error of whole vectors [3]_, in cells.

    Every member is put on the scale of its own tail, and the largest is compared with the largest
    of each draw [4]_. What was observed is treated as one of the draws, so the level holds at any
    sample size and for any predictions. Parts are adjusted by stepping down; that a part stands
    out is sure to this level where all others are right, and a strong hint where they are not.

    Of three or more classes and more than 20,000 rows, outcomes of 20,000 of them are drawn, which
    say how sums go together; each sum has its own law from all rows.

    Where importance weights differ, outcomes are drawn with the odds that they have among rows so
    weighted, and weigh what rows of their label do; with `groups` those of a group are drawn
    together. `null` says so. All rows are drawn then, of very many fewer times.

    References
    ----------
    .. [1] Cox (1958), Two further applications of a model for binary regression, Biometrika 45.
    .. [2] Neyman (1937), "Smooth test" for goodness of fit, Skandinavisk Aktuarietidskrift 20.
    .. [3] Widmann, Lindsten & Zachariah (2019), arXiv 1910.11385.
    .. [4] Westfall & Young (1993), Resampling-based multiple testing, Wiley.

    Examples
    --------
    All of 20 happened where a half was predicted, which the level tells: 2 of 2^20 ways to fall
    are as far off.

    >>> test = joint_test([1] * 20, [0.5] * 20, rng=0)
    >>> round(test.pvalue, 4), [part.name for part in test.standing_out]
    (0.001, ['level'])
    """
    check_level(_CALLER, level, "level")
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    raw = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, by=by, groups=groups
    )
    data = raw.weighted(sample_weight, weight_type).check(caller=_CALLER)
    chosen = None if lens is None else named_lens(lens, caller=_CALLER)
    groups = None if data.by is None else data.by.kept(data.kept, _CALLER)
    test = joint_core(data.sample, chosen, by=groups, draws=draws, level=level)
    warn_of(test.notes, caller=_CALLER)
    return replace(test, notes=(*data.notes, *test.notes)) if data.notes else test


def joint_core(
    sample: Sample,
    lens: Lens | None,
    *,
    draws: Draws,
    by: Groups | None = None,
    level: float = 0.05,
) -> JointTest:
    """The test of checked rows, whole (lens None) or through a lens; `by` is of these rows."""
    chosen = default_lens(sample) if lens is None else lens
    whole = lens is None and isinstance(sample, MulticlassSample)
    if isinstance(chosen, Pooled):  # rows of one outcome, which is drawn once for all classes
        problem: Problem = Classwise().induce(sample)
    else:
        problem = sample if whole else chosen.induce(sample)
    name = "whole prediction" if whole else chosen.name
    codes, keys = (None, []) if by is None else (by.codes, list(by.keys))
    if isinstance(problem, BinarySample):
        found, said = parts_of_sample(problem, codes, name, keys, draws)
    else:
        one_by_one = isinstance(problem, ClasswiseProblem)
        rows = problem.sample if isinstance(problem, ClasswiseProblem) else problem
        found, said = whole_parts(rows, name, codes, keys, draws, only_classes=one_by_one)
    notes = weight_notes(sample, draws.n_resamples)
    return joint_test_of(found, lens=name, level=level, n_samples=sample.n, null=said, notes=notes)
