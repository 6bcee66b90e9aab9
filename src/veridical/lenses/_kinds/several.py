"""Lenses that keep several classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.labels import find_label
from veridical._core.data.validation import is_integer
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical.exceptions import invalid
from veridical.lenses._kinds.base import ClasswiseProblem, Lens, about_rows, as_multiclass
from veridical.lenses._kinds.one import Confidence


@dataclass(frozen=True)
class Classwise(Lens):
    """Every class against the rest; errors are aggregated over the classes (survey Definition 4).

    Examples
    --------
    >>> z, q = Classwise()([2], [[0.5, 0.25, 0.25]])
    >>> z.tolist(), q.tolist()
    ([[0.0, 0.0, 1.0]], [[0.5, 0.25, 0.25]])
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "classwise"

    def induce(self, sample: Sample) -> ClasswiseProblem:
        """Return K one-vs-rest problems."""
        return ClasswiseProblem(as_multiclass(sample))


@dataclass(frozen=True)
class Canonical(Lens):
    """The whole probability vector (002 Example 2(i)); for two classes the binary problem.

    Examples
    --------
    Squared distances of both vectors from what happened are 0.375 and 0; seen through the
    confidence they are 0.25 and 0.

    >>> from veridical import BrierScore
    >>> y, p = [2, 0], [[0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]
    >>> BrierScore()(y, p, lens=Canonical()), BrierScore()(y, p, lens="confidence")
    (0.1875, 0.125)
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "canonical"

    def induce(self, sample: Sample) -> Sample:
        """Return the sample itself."""
        return sample


@dataclass(frozen=True)
class TopK(Lens):
    """The k largest predictions: which of them occurred, if any (002 Example 2(iii)).

    Induces k + 1 classes: first, ..., k-th most probable, and none of them. With k = 1 this is
    the confidence lens. Ties go to the first column.

    Parameters
    ----------
    k : int
        How many of the largest predictions are looked at, less than the number of classes.

    Examples
    --------
    >>> z, q = TopK(2)([1], [[0.125, 0.25, 0.125, 0.5]])
    >>> z.tolist(), q.tolist()
    ([1], [[0.5, 0.25, 0.25]])
    """

    k: int

    @property
    def name(self) -> str:
        """Short name."""
        return f"top-{self.k}"

    def induce(self, sample: Sample) -> Sample:
        """Return rank of the class that occurred and the sorted probabilities."""
        n_classes = len(sample.classes)
        if not (is_integer(self.k) and 1 <= self.k < n_classes):
            hint = "the last rank is implied by the others."
            raise invalid("TopK", "k", f"between 1 and {n_classes - 1}", repr(self.k), hint=hint)
        if self.k == 1:
            return Confidence().induce(sample)
        several = as_multiclass(sample)
        rows = np.arange(several.n)
        remaining = several.p.copy()
        leading = np.empty((several.n, self.k + 1), dtype=several.p.dtype)
        rank = np.full(several.n, self.k, dtype=np.intp)
        for position in range(self.k):
            column = remaining.argmax(axis=1)
            leading[:, position] = remaining[rows, column]
            rank[column == several.y] = position
            remaining[rows, column] = -1  # below any probability: not chosen again
        np.maximum(remaining, 0, out=remaining)
        leading[:, self.k] = remaining.sum(axis=1)
        names = (*(f"top {i + 1}" for i in range(self.k)), "rest")
        return MulticlassSample(y=rank, p=leading, classes=names, **about_rows(several))


@dataclass(frozen=True)
class Grouped(Lens):
    """Classes merged into groups: is the right group's probability right (002 Example 2(ii))?

    Parameters
    ----------
    partition : mapping of name to labels, or list of lists of labels
        Every class must be in exactly one group. Two groups induce a binary problem whose
        positive class is the second group.

    Examples
    --------
    >>> z, q = Grouped([[0, 1], [2]])([2, 1], [[0.5, 0.25, 0.25], [0.0, 0.75, 0.25]])
    >>> z.tolist(), q.tolist()
    ([1, 0], [0.25, 0.25])
    """

    partition: Any

    @property
    def name(self) -> str:
        """Short name."""
        return "grouped " + " | ".join(name for name, _ in self._groups())

    def induce(self, sample: Sample) -> Sample:
        """Return group indices and summed probabilities."""
        several = as_multiclass(sample)
        group_of, names = self._group_of(several.classes)
        q = np.zeros((several.n, len(names)), dtype=several.p.dtype)
        for column, group in enumerate(group_of):
            q[:, group] += several.p[:, column]
        np.minimum(q, 1, out=q)  # a sum of probabilities may exceed one by rounding
        z = np.asarray(group_of)[several.y]
        if len(names) == 2:
            second = np.ascontiguousarray(q[:, 1])
            return BinarySample(y=z, p=second, classes=tuple(names), pair=q, **about_rows(several))
        return MulticlassSample(y=z, p=q, classes=tuple(names), **about_rows(several))

    def _groups(self) -> list[tuple[str, list[Any]]]:
        named = isinstance(self.partition, Mapping)
        parts = self.partition.values() if named else self.partition
        if isinstance(parts, Iterable) and not isinstance(parts, str):
            groups = [[part] if isinstance(part, str) else part for part in parts]
            if all(isinstance(group, Iterable) for group in groups):
                members = [list(group) for group in groups]
                joined = ["+".join(str(member) for member in group) for group in members]
                names = [str(name) for name in self.partition] if named else joined
                return list(zip(names, members, strict=True))
        hint = 'e.g. `Grouped({"animal": ["cat", "dog"], "other": ["car"]})`.'
        got = repr(self.partition)
        raise invalid("Grouped", "partition", "groups of labels", got, hint=hint)

    def _group_of(self, classes: tuple[Any, ...]) -> tuple[list[int], list[str]]:
        groups = self._groups()
        group_of = [-1] * len(classes)
        for index, (_, members) in enumerate(groups):
            for member in members:
                column = find_label(member, classes, caller="Grouped", param="partition")
                if group_of[column] != -1:
                    hint = "put every class into exactly one group."
                    got = f"{member!r} twice"
                    raise invalid("Grouped", "partition", "disjoint", got, hint=hint)
                group_of[column] = index
        missing = [label for label, group in zip(classes, group_of, strict=True) if group == -1]
        if missing or len(groups) < 2:
            hint = "put every class into exactly one of two or more groups."
            got = f"{len(groups)} groups without {missing}"
            raise invalid("Grouped", "partition", "a partition of the classes", got, hint=hint)
        return group_of, [name for name, _ in groups]
