"""Which rows are watched together: all of them, each class, each range of scores, each group."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from veridical._core.groups import Groups
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import IntArray
from veridical.lenses import Confidence
from veridical.monitoring._cells import clipped
from veridical.monitoring._tally import Tally, tally

REGIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # ranges of scores, closed above
MOST_CLASSES = 50  # watched one by one; beyond, the confidence and the groups speak for them

# How the evidence for the alarm is put together. Shares are fixed beforehand, so that their
# weighted mean is evidence too; what no stream has claimed yet counts as 1.
_FAMILIES = {"all": 0.5, "region": 0.1, "class": 0.15, "group": 0.25}


@dataclass(frozen=True)
class Stream:
    """One watched part of the rows.

    Attributes
    ----------
    family : "all", "region", "class" or "group"
    name : label, range of scores or key of the group, as JSON text
    """

    family: str
    name: str

    @property
    def value(self) -> Any:
        """The label, range or key itself."""
        value = json.loads(self.name)
        return tuple(value) if isinstance(value, list) else value

    def __str__(self) -> str:
        if self.family == "all":
            return "all rows"
        if self.family == "region":
            low, high = self.value
            return f"scores {low:g} to {high:g}"
        return f"{self.family} {self.value!r}"


ALL = Stream("all", "null")


def share_of(family: str, position: int, n_classes: int) -> float:
    """Part of the alarm's evidence that the stream at this place of its family has.

    Classes and ranges share equally. Nobody knows how many groups will come: the j-th has
    1 / ((j + 1) (j + 2)) of its family's part, so that all that ever come fit in.
    """
    part = _FAMILIES[family]
    if family == "region":
        return part / (len(REGIONS) - 1)
    if family == "class":
        return part / n_classes
    return part if family == "all" else part / ((position + 1) * (position + 2))


def name_of(value: Any) -> str:
    """Label or key as JSON text."""
    return json.dumps(value, default=str, ensure_ascii=False)


def batch_streams(sample: Sample, groups: Groups | None) -> tuple[list[Stream], Tally]:
    """Count the rows of a batch for every stream they are part of."""
    problem = sample if isinstance(sample, BinarySample) else Confidence().induce(sample)
    whole = tally(problem.y, problem.p)
    streams, parts = [ALL], [whole]
    names, regions = _by_region(problem)
    streams += names
    parts.append(regions)
    if isinstance(sample, MulticlassSample) and len(sample.classes) <= MOST_CLASSES:
        streams += [Stream("class", name_of(label)) for label in sample.classes]
        parts.append(_by_class(sample))
    if groups is not None:
        streams += [Stream("group", name_of(key)) for key in groups.keys]
        parts.append(tally(problem.y, problem.p, groups.codes, len(groups.keys)))
    return streams, _stacked(parts)


def _by_region(problem: BinarySample) -> tuple[list[Stream], Tally]:
    region = np.searchsorted(REGIONS[1:-1], clipped(problem.p), side="left")
    names = [Stream("region", name_of(ends)) for ends in pairwise(REGIONS)]
    return names, tally(problem.y, problem.p, region, len(names))


def _by_class(sample: MulticlassSample) -> Tally:
    n, n_classes = sample.p.shape
    column = np.tile(np.arange(n_classes), n)
    happened: IntArray = (column == np.repeat(sample.y, n_classes)).astype(np.intp)
    return tally(happened, np.ascontiguousarray(sample.p).reshape(-1), column, n_classes)


def _stacked(parts: list[Tally]) -> Tally:
    return Tally(
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.sum_p for part in parts]),
        np.concatenate([part.log_likelihood for part in parts]),
        np.concatenate([part.squared for part in parts]),
    )
