"""The joint test of rows, or of sums that an engine made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.groups import Groups
from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical.evaluation._data.source import SampleSource, Source
from veridical.evaluation._data.sums import SumsSource
from veridical.inference import adjust_pvalues
from veridical.inference.core import joint_core
from veridical.lenses import Binary, Canonical, ClassSpecific, Classwise
from veridical.results import JointPart, JointTest

_MOST_CLASSES = 20  # of sums: Holm's correction leaves drawn p-values of more no chance


def judges_whole(source: Source) -> bool:
    """Whether the family covers whole predictions of three classes or more, not one lens."""
    whole = not source.asked or isinstance(source.lens, Canonical)
    return source.has_classes and whole and isinstance(source, SampleSource)


def judges_each(source: SumsSource) -> bool:
    """Whether the family covers every class of sums, beside the confidence."""
    few = 2 < len(source.classes) <= _MOST_CLASSES
    return few and (not source.asked or isinstance(source.lens, Classwise))


def joint_of(source: Source, n_resamples: int, seed: int, level: float) -> JointTest:
    """Test everything the prediction can be wrong in, groups included if there are any."""
    if isinstance(source, SumsSource):
        return _of_sums(source, n_resamples, seed, level)
    assert isinstance(source, SampleSource)
    by = source.by
    problem, lens = source.problem, None if judges_whole(source) else source.lens
    if by is not None and isinstance(problem, BinarySample) and problem.n != source.n:
        # A lens that makes several rows of one: they are of one group.
        by = replace(by, codes=np.repeat(by.codes, problem.n // source.n))
        test = _of_problem(problem, by, _draws(n_resamples, seed), level)
        return _renamed(test, source.lens.name, source.n)
    if by is not None:
        present, codes = np.unique(by.codes, return_inverse=True)
        by = Groups(codes.reshape(-1), [by.keys[index] for index in present])
    return joint_core(source.sample, lens, by=by, draws=_draws(n_resamples, seed), level=level)


def _draws(n_resamples: int, seed: int) -> Draws:
    return Draws(n_resamples, np.random.default_rng(seed))


def _of_problem(problem: BinarySample, by: Groups | None, draws: Draws, level: float) -> JointTest:
    return joint_core(problem, Binary(), by=by, draws=draws, level=level)


def _renamed(test: JointTest, lens: str, n: int) -> JointTest:
    """The same test under the name of the lens that the problem was seen through."""
    parts = []
    for part in test.parts:
        own = n if part.name != "group" else part.n_samples
        parts.append(replace(part, lens=lens, n_samples=own))
    return replace(test, lens=lens, n_samples=n, parts=tuple(parts))


def _of_sums(source: SumsSource, n_resamples: int, seed: int, level: float) -> JointTest:
    """The test of rows that stand for all; of several classes one by one, by Holm's correction.

    Sums do not tell how the classes of a row go together, so that there is no joint null for them.
    """
    rows, by, counts = _with_groups(source)
    test = _of_problem(rows, by, _draws(n_resamples, seed), level)
    test = _renamed(test, source.binary_lens.name, source.n)
    if counts:
        sized = [
            replace(part, n_samples=counts[part.label]) if part.name == "group" else part
            for part in test.parts
        ]
        test = replace(test, parts=tuple(sized))
    if not judges_each(source):
        return test
    classes = []
    for label in source.classes:
        problem = source.through(ClassSpecific(label))
        if problem is not None:
            found = _of_problem(problem, None, _draws(n_resamples, seed), level)
            classes.append((label, found))
    return _corrected(test, classes, source.n)


def _corrected(test: JointTest, classes: Sequence[tuple[Any, JointTest]], n: int) -> JointTest:
    """One family of the confidence and every class, by Holm's correction."""
    adjusted = adjust_pvalues([test.pvalue, *(each.pvalue for _, each in classes)]).tolist()
    factor = adjusted[0] / test.pvalue
    parts = [replace(part, adjusted=min(1.0, part.adjusted * factor)) for part in test.parts]
    for (label, own), corrected in zip(classes, adjusted[1:], strict=True):
        clearest = min(own.parts, key=lambda part: (part.adjusted, part.pvalue))
        parts.append(
            JointPart(
                name="class",
                lens="one-vs-rest",
                label=label,
                statistic=clearest.statistic,
                direction=clearest.direction,
                pvalue=own.pvalue,
                adjusted=corrected,
                n_samples=n,
            )
        )
    return replace(
        test,
        pvalue=min(part.adjusted for part in parts),
        parts=tuple(parts),
        lens="confidence and single classes",
    )


def _with_groups(source: SumsSource) -> tuple[BinarySample, Groups | None, dict[Any, int]]:
    """Rows that stand for all; by group if there are groups, with the number of rows of each."""
    parts = list(source.groups())
    if not parts:
        return source.binary, None, {}
    samples = [part.binary for _, part in parts]
    # Weighted rows stand for their effective number in each group; here for that of all rows.
    scale = source.binary.size / source.sum_weight
    weights = []
    for (_, part), rows in zip(parts, samples, strict=True):
        assert rows.weight is not None
        weights.append(rows.weight * (part.sum_weight / rows.weight.sum()) * scale)
    together = BinarySample(
        y=np.concatenate([rows.y for rows in samples]),
        p=np.concatenate([rows.p for rows in samples]),
        weight=np.concatenate(weights),
        weight_type="frequency",
        classes=samples[0].classes,
    )
    codes = np.repeat(np.arange(len(parts)), [rows.n for rows in samples])
    keys = [key for key, _ in parts]
    return together, Groups(codes, keys), {key: part.n for key, part in parts}
