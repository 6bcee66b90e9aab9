"""The sentences of a verdict: what was judged, which parts stand out, and how much it matters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.labels import shortened
from veridical._core.runtime.text import numbers_apart
from veridical._core.sample import MulticlassSample, weighted_mean
from veridical.evaluation._data.source import SampleSource, Source
from veridical.evaluation._data.sums import SumsSource
from veridical.evaluation._verdict.size import MATTERS, POWER, Reach, Saving
from veridical.lenses import Binary, Canonical, Confidence
from veridical.lenses.reading import event_of
from veridical.results import Coefficient, JointPart, JointTest, ReliabilityCurve
from veridical.results.base import say_pvalue

KINDS = ("level", "spread", "shape", "class", "vector")  # of parts, as they are spoken of
_MOST_NAMED = 5
_LONGEST = 40  # letters of a label
_FREQUENT = 0.05  # share of the rows from which on a bin is where predictions are frequent


@dataclass(frozen=True)
class Figures:
    """Figures that words are made from, of the binary problem that is drawn.

    Attributes
    ----------
    predicted, observed : mean prediction and frequency
    slope : of the recalibration line, None if unknown
    curve : reliability curve
    auc : area under the ROC curve, None if undefined
    """

    predicted: float
    observed: float
    slope: Coefficient | None
    curve: ReliabilityCurve
    auc: float | None

    @property
    def backwards(self) -> bool:
        """Whether outcomes are rarer where predictions are higher, however few rows say so."""
        slope = None if self.slope is None else self.slope.estimate
        return self.auc is not None and self.auc < 0.5 and slope is not None and slope < 0


def judges_whole(source: Source) -> bool:
    """Whether whole predictions of three classes or more are judged, not what one lens shows."""
    return source.has_classes and (not source.asked or isinstance(source.lens, Canonical))


def about_of(source: Source) -> str:
    """What is judged, in words."""
    of = "" if source.named.y is None else f" of {source.named.y}"
    if judges_whole(source):
        # Sums do not tell how the classes of a row go together.
        all_of_it = not isinstance(source, SumsSource)
        what = "whole prediction" if all_of_it else "confidence and probabilities"
        return f"{what} of {len(source.classes):,} classes{of}"
    if source.kind == "classwise":
        return f"probability of each of {len(source.classes):,} classes{of}"
    if source.kind == "vector":
        return f"prediction seen as {source.lens.name}"
    return f"probability that {event_of(source.lens, source.classes, source.named.y)}"


def scope_of(source: Source) -> str:
    """How many rows, and through which lens unless that is said."""
    lens = "" if judges_whole(source) else f", {source.lens.name} lens"
    return f"{source.n:,} row{'' if source.n == 1 else 's'}{lens}"


def named(label: Any) -> str:
    """A label, quoted as Python would, not too long."""
    return shortened(repr(label), _LONGEST)


class PartWords:
    """Sentences on the members of the family that stand out."""

    def __init__(self, source: Source, figures: Figures, joint: JointTest) -> None:
        self._source, self._figures, self._joint = source, figures, joint
        self._of_confidence = isinstance(source.binary_lens, Confidence)

    def sentences(self) -> Iterator[str]:
        """One for every kind of part, from the whole to its parts; a last one on groups."""
        out = self._joint.standing_out
        for kind in KINDS:
            parts = [part for part in out if part.name == kind]
            if parts:
                yield self._of_kind(kind, parts)
        if self._joint.rejected and not out:
            yield "No part stands out by itself."
        yield from self.of_groups()

    def of_groups(self) -> Iterator[str]:
        """Which groups stand out; else the worst of them."""
        groups = [part for part in self._joint.parts if part.name == "group"]
        if not groups:
            return
        out = _each_once([part for part in self._joint.standing_out if part.name == "group"])
        count = len({part.label for part in groups})
        if not out:
            worst = min(groups, key=lambda part: (part.adjusted, part.pvalue))
            which = f"worst: {named(worst.label)}, {self._adjusted(worst)}"
            yield f"None of {count:,} groups stands out ({which})."
            return
        listed = _listed([self._group(part) for part in out[:_MOST_NAMED]], len(out))
        verb = "stands" if len(out) == 1 else "stand"
        yield f"Of {count:,} groups {len(out):,} {verb} out: {listed}."

    def _group(self, part: JointPart) -> str:
        rows = self._source.group(part.label).binary
        means = (weighted_mean(values, rows.weight) for values in (rows.p, rows.y))
        says, observed = numbers_apart(*means)
        happens = "is right" if self._of_confidence else "happens"
        told = f"says {says}, {happens} {observed}; {self._adjusted(part)}"
        return f"{named(part.label)} ({told})"

    def _of_kind(self, kind: str, parts: list[JointPart]) -> str:
        part = parts[0]
        if kind == "level":
            return self._level(part)
        if kind == "spread":
            return self._spread(part)
        if kind == "class":
            return self._classes(_each_once(parts))
        if kind == "vector":
            return (
                "Whole vectors: classes do not occur together with the other probabilities of their"
                f" row as predicted ({self._adjusted(part)})."
            )
        beyond = "Shape: frequencies do not follow the predictions"
        if not any(each.name in ("level", "spread") for each in self._joint.standing_out):
            beyond += " although level and spread do not stand out"
        return f"{beyond} ({self._adjusted(part)})."

    def _level(self, part: JointPart) -> str:
        side = "Over" if part.direction < 0 else "Under"
        what, happens = "predicts", "happens"
        if self._of_confidence:
            what, happens = "confident", "is right"
        says, observed = numbers_apart(self._figures.predicted, self._figures.observed)
        return (
            f"{side}-{what}: says {says} on average, {happens} {observed} ({self._adjusted(part)})."
        )

    def _spread(self, part: JointPart) -> str:
        extreme = part.direction < 0
        if self._of_confidence:
            word = f"Differences between confidences are too {'large' if extreme else 'small'}"
        else:
            word = "Over-confident: too extreme" if extreme else "Under-confident: too timid"
        slope = self._figures.slope
        estimate = None if slope is None else slope.estimate
        # An odd sample may have its slope on the other side of 1; then it explains nothing.
        known = estimate is not None and math.isfinite(estimate) and (estimate < 1) == extreme
        line = f"recalibration slope {estimate:.2f}; " if known else ""
        return f"{word} ({line}{self._adjusted(part)})."

    def _classes(self, parts: Sequence[JointPart]) -> str:
        classes, means, rates = _shares(self._source)
        described = []
        for part in parts[:_MOST_NAMED]:
            says, happens = numbers_apart(
                means[classes.index(part.label)], rates[classes.index(part.label)]
            )
            told = f"says {says}, happens {happens}; {self._adjusted(part)}"
            described.append(f"{named(part.label)} ({told})")
        if len(parts) == len(classes):
            smallest = self._adjusted(min(parts, key=lambda part: part.adjusted))
            return f"Every one of {len(classes):,} classes stands out (smallest {smallest})."
        verb = "stands" if len(parts) == 1 else "stand"
        listed = _listed(described, len(parts))
        return f"Of {len(classes):,} classes {len(parts):,} {verb} out: {listed}."

    def _adjusted(self, part: JointPart) -> str:
        return adjusted_words(part, self._joint.n_resamples)


def _shares(source: Source) -> tuple[Sequence[Any], Sequence[float], Sequence[float]]:
    """Classes of the problem of the lens, their mean probabilities and their frequencies."""
    problem = source.problem if isinstance(source, SampleSource) else None
    if not isinstance(problem, MulticlassSample):
        return source.classes, source.mean_by_class, source.base_rate
    counts = np.bincount(problem.y, problem.weight, minlength=len(problem.classes))
    means = np.average(problem.p, axis=0, weights=problem.weight)
    return problem.classes, means.tolist(), (counts / counts.sum()).tolist()


def _each_once(parts: Sequence[JointPart]) -> list[JointPart]:
    """The clearest part of every label; of those alike, the one furthest off first."""
    found: list[JointPart] = []
    for part in sorted(parts, key=lambda part: (part.adjusted, -part.statistic)):
        if not any(part.label == known.label for known in found):
            found.append(part)
    return found


def _listed(texts: Sequence[str], count: int) -> str:
    """The first of so many, and how many more there are."""
    return ", ".join(texts) + (f" and {count - len(texts):,} more" if count > len(texts) else "")


def adjusted_words(part: JointPart, n_resamples: int) -> str:
    """The p-value of a part with all others considered."""
    return f"adjusted {say_pvalue(part.adjusted, n_resamples)}"


def saving_sentence(saving: Saving | None, lens: str) -> str:
    """How much it matters that something was found."""
    if saving is None:
        return f"Large: something happened that was given probability 0 ({lens} lens)."
    start = saving.words.capitalize() or "How much it matters is open"
    share, low, high = (percent(value) for value in saving)
    return (
        f"{start}: recalibration would save about {share} % of log loss ({low} to {high} %, {lens}"
        " lens)."
    )


def backwards_sentence(figures: Figures) -> str:
    """What is said of few rows that rank the wrong way round: no map should turn them."""
    return (
        f"These rows rank backwards (AUC {figures.auc:.2f}), too few to be sure: is the right class"
        " taken as positive?"
    )


def gap_sentence(figures: Figures) -> str:
    """The largest gap of the bins that hold many rows."""
    curve = figures.curve
    share = curve.weight / curve.weight.sum()
    often = share >= min(_FREQUENT, float(share.max()))
    at = int(np.argmax(np.where(often, np.abs(curve.gap), -1.0)))
    happens = "is right" if curve.lens == "confidence" else "happens"
    says, observed = numbers_apart(float(curve.predicted[at]), float(curve.observed[at]))
    return (
        f"Largest gap where predictions are frequent: says {says}, {happens} {observed}"
        f" ({percent(float(share[at]))} % of {'the weight' if _is_weighted(curve) else 'rows'})."
    )


def _is_weighted(curve: ReliabilityCurve) -> bool:
    return not np.array_equal(curve.weight, curve.count)


def reach_sentence(reach: Reach | None, n: int, lens: str) -> str:
    """What these rows could have shown, and how many would tell what matters."""
    if reach is None and n < 2:
        return "One row tells nothing."
    if reach is None:
        return "Every prediction is certain, so there is no chance to compare with."
    power = f"{100 * POWER:g} % power, {lens} lens"
    kind = "root-mean-square gap"
    if reach.needed is None:
        return f"Not shown either way: these {n:,} rows tell little ({lens} lens)."
    if reach.needed.n <= n:
        assert reach.found is not None
        least = numbers_apart(reach.found.delta)[0]
        return (
            f"A {kind} of {least} or more would have been found ({power}); a smaller one may be"
            " there."
        )
    return (
        f"Not shown either way: about {rounded(reach.needed.n):,} rows would tell of a {kind} of"
        f" {numbers_apart(reach.matters)[0]}, which costs {percent(MATTERS)} % of log loss"
        f" ({power})."
    )


def rounded(n: int) -> int:
    """Two significant digits, upwards: what is about right should not look exact."""
    step = 10 ** max(len(str(n)) - 2, 0)
    return -(-n // step) * step


def percent(share: float) -> str:
    """Per cent without a sign; one decimal where whole ones would hide the number."""
    value = 100 * share
    if abs(value) < 0.05:
        return "0.0" if abs(value) < 0.005 else f"{value:.2f}"
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"


def reversed_sentence(source: Source, auc: float) -> str:
    """What is said of predictions that rank the wrong way round."""
    event = event_of(source.lens, source.classes, source.named.y)
    negative, positive = source.classes
    if source.named.pos_label or source.named.pair:
        lower = f"the probability that {event} is lower where it happens"
        return f"Ranks backwards (AUC {auc:.2f}): {lower}."
    what = "the prediction" if source.named.prob is None else f"`{source.named.prob}`"
    return (
        f"Reversed: {what} looks like the probability of {named(negative)}, not of"
        f" {named(positive)}: pass pos_label={named(negative)} (`--pos-label {negative}`)."
    )


def is_binary(source: Source) -> bool:
    """Whether two classes are seen as they are, so that their order can be wrong."""
    return isinstance(source.lens, Binary) and not source.has_classes
