"""From data and figures to the one verdict on them, and on every subgroup."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical.evaluation._data.source import SampleSource, Source
from veridical.evaluation._data.sums import SumsSource
from veridical.evaluation._verdict.size import Reach, Saving, reach_of, saving_of
from veridical.evaluation._verdict.words import (
    Figures,
    PartWords,
    about_of,
    adjusted_words,
    backwards_sentence,
    gap_sentence,
    is_binary,
    judges_whole,
    named,
    reach_sentence,
    reversed_sentence,
    saving_sentence,
    scope_of,
)
from veridical.inference.core import joint_core, joint_sums_core
from veridical.lenses import Binary, ClassSpecific, Pooled
from veridical.results import JointPart, JointTest, Verdict
from veridical.results.base import say_pvalue

_STANDARD_ERRORS = 4.0  # below one half, from which on an area is that of reversed predictions


class Judging(NamedTuple):
    """Options of a verdict: bins of its figures, its level, and draws from a seed."""

    n_bins: Any
    level: float
    n_resamples: int
    seed: int


@dataclass(frozen=True)
class Judged:
    """A verdict and what else was found on the way.

    Attributes
    ----------
    verdict : of all rows, subgroups considered
    reach : what the rows could have shown; None if something was found, or that is not known
    of_group : the member of the family that is about each subgroup, the clearest if there are some
    """

    verdict: Verdict
    reach: Reach | None = None
    of_group: Mapping[Any, JointPart] = field(default_factory=dict)


def judge(source: Source, figures: Figures, options: Judging) -> Judged:
    """Make the verdict of data that were read; the same data and options give the same words."""
    if not options.n_resamples:
        return Judged(_untested(source, figures))
    joint = joint_of(source, options)
    of_group: dict[Any, JointPart] = {}
    for part in sorted(joint.parts, key=lambda part: part.adjusted):
        if part.name == "group":
            of_group.setdefault(part.label, part)
    if is_reversed(source, figures.auc):
        return Judged(_reversed(source, figures, joint), None, of_group)
    if joint.rejected:
        return Judged(_rejected(source, figures, joint, options), None, of_group)
    reach = reach_of(source.binary, options.n_bins, options.level / max(len(joint.parts), 1))
    return Judged(_not_shown(source, figures, joint, reach), reach, of_group)


def joint_of(source: Source, options: Judging) -> JointTest:
    """Test everything the prediction can be wrong in, groups included if there are any."""
    draws = Draws(options.n_resamples, np.random.default_rng(options.seed))
    lens = None if judges_whole(source) else source.lens
    if isinstance(source, SumsSource):
        return joint_sums_core(
            source.grid, lens, draws=draws, level=options.level, caller=source.caller
        )
    assert isinstance(source, SampleSource)
    by = source.by
    if by is None:
        return joint_core(source.sample, lens, draws=draws, level=options.level)
    by = by.kept(np.ones(len(by.codes), dtype=bool), "evaluate")  # groups that have rows
    problem = source.problem
    pooled = isinstance(source.lens, Pooled)
    if pooled or not isinstance(problem, BinarySample) or problem.n == source.n:
        return joint_core(source.sample, lens, by=by, draws=draws, level=options.level)
    # A lens that makes several rows of one: they are of one group.
    by = replace(by, codes=np.repeat(by.codes, problem.n // source.n))
    test = joint_core(problem, Binary(), by=by, draws=draws, level=options.level)
    parts = tuple(replace(part, lens=source.lens.name) for part in test.parts)
    return replace(test, lens=source.lens.name, parts=parts)


def judge_group(
    source: Source, figures: Figures, key: Any, part: JointPart | None, options: Judging
) -> Verdict:
    """The verdict on one subgroup, from its member of the family; no test of its own."""
    if part is None:
        return _untested(source, figures)
    about, where = about_of(source), f"in {named(key)}"
    scope = f"{adjusted_words(part, options.n_resamples)}; {scope_of(source)}"
    common: dict[str, Any] = {"pvalue": part.adjusted, "about": f"{about} {where}"}
    if is_reversed(source, figures.auc):
        headline = f"Ranks backwards {where} (AUC {figures.auc:.2f}): {about} ({scope})."
        return Verdict(kind="reversed", headline=headline, text=headline, **common)
    if part.adjusted > options.level:
        headline = f"No miscalibration shown {where}: {about} ({scope})."
        return Verdict(kind="not shown", headline=headline, text=headline, **common)
    headline = f"Miscalibrated {where}: {about} ({scope})."
    saving = saving_of(source.binary, 1 - options.level)
    size = saving_sentence(saving, source.binary_lens.name)
    text = " ".join([headline, size, gap_sentence(figures)])
    return Verdict(kind="miscalibrated", headline=headline, text=text, **common, **_saved(saving))


def area_error(auc: float, n_positive: float, n_negative: float) -> float:
    """Standard error of an area under the ROC curve, above zero even at 0 and 1.

    The larger of that of Hanley & McNeil (1982), doi 10.1148/radiology.143.1.7063747, and of that
    if the predictions told nothing (Mann & Whitney 1947, doi 10.1214/aoms/1177730491).

    Examples
    --------
    >>> round(area_error(0.0, 10, 10) ** 2, 6)  # 21 / (12 * 100)
    0.0175
    """
    pairs = n_positive * n_negative
    q_1, q_2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    own = auc * (1 - auc) + (n_positive - 1) * (q_1 - auc**2) + (n_negative - 1) * (q_2 - auc**2)
    blind = (n_positive + n_negative + 1) / 12
    return math.sqrt(max(own, blind) / pairs)


def is_reversed(source: Source, auc: float | None) -> bool:
    """Whether predictions of two classes rank the wrong way round, beyond doubt."""
    if auc is None or not is_binary(source):
        return False
    size, (_, rate) = source.size, source.base_rate
    error = area_error(auc, size * rate, size * (1 - rate))
    return auc < 0.5 - _STANDARD_ERRORS * error


def reversal(verdict: Verdict) -> list[str]:
    """The doubt that reversed predictions are, for a warning."""
    return [verdict.headline.rstrip(".")] if verdict.kind == "reversed" else []


def _untested(source: Source, figures: Figures) -> Verdict:
    about = about_of(source)
    if is_reversed(source, figures.auc):
        return _reversed(source, figures, None)
    headline = f"Not tested: {about} ({scope_of(source)}, no resamples)."
    return Verdict(kind="untested", headline=headline, text=headline, about=about)


def _reversed(source: Source, figures: Figures, joint: JointTest | None) -> Verdict:
    assert figures.auc is not None
    headline = reversed_sentence(source, figures.auc)
    area = f"AUC {figures.auc:.3f}, {scope_of(source)}"
    text = f"{headline} Calibration is not judged, and recalibration would not mend it ({area})."
    return Verdict(
        kind="reversed",
        headline=headline,
        text=text,
        pvalue=None if joint is None else joint.pvalue,
        about=about_of(source),
        joint=joint,
    )


def _rejected(source: Source, figures: Figures, joint: JointTest, options: Judging) -> Verdict:
    about, p = about_of(source), say_pvalue(joint.pvalue, joint.n_resamples)
    headline = f"Miscalibrated: {about} ({p}; {scope_of(source)})."
    sentences = [headline, *PartWords(source, figures, joint).sentences()]
    saving, lens = _saving_where_it_is(source, joint, options)
    if is_binary(source) and figures.backwards:
        sentences.append(backwards_sentence(figures))
        saving, lens = None, ""
    elif lens:
        sentences.append(saving_sentence(saving, lens))
    if lens == source.binary_lens.name:
        sentences.append(gap_sentence(figures))
    return Verdict(
        kind="miscalibrated",
        headline=headline,
        text=" ".join(sentences),
        pvalue=joint.pvalue,
        about=about,
        joint=joint,
        **(_saved(saving) if lens else {}),
    )


def _saving_where_it_is(
    source: Source, joint: JointTest, options: Judging
) -> tuple[Saving | None, str]:
    """What recalibration saves where something is wrong, and through which lens.

    That is the problem of the curve, else the class or the group that is clearest. No lens if that
    is whole vectors, of which no cheap curve tells.
    """
    out, confidence = joint.standing_out, 1 - options.level
    clearest = {part.name: part for part in reversed(out)}
    if not out or {"level", "spread", "shape"} & set(clearest):
        return saving_of(source.binary, confidence), source.binary_lens.name
    if "class" in clearest:
        lens = ClassSpecific(clearest["class"].label)
        problem = source.through(lens)
        return (None, "") if problem is None else (saving_of(problem, confidence), lens.name)
    if "group" not in clearest:
        return None, ""
    label = clearest["group"].label
    rows = source.group(label).binary
    return saving_of(rows, confidence), f"{named(label)}, {source.binary_lens.name}"


def _saved(saving: Saving | None) -> dict[str, Any]:
    if saving is None:
        return {"size": "large"}
    return {
        "size": saving.words,
        "saving": saving.share,
        "saving_low": saving.low,
        "saving_high": saving.high,
    }


def _not_shown(source: Source, figures: Figures, joint: JointTest, reach: Reach | None) -> Verdict:
    about, p = about_of(source), say_pvalue(joint.pvalue, joint.n_resamples)
    headline = f"No miscalibration shown: {about} ({p}; {scope_of(source)})."
    words = PartWords(source, figures, joint)
    power = reach_sentence(reach, source.n, source.binary_lens.name)
    open_question = power.startswith("Not shown either way")
    return Verdict(
        kind="not shown",
        headline=headline,
        text=" ".join([headline, *words.of_groups(), power]),
        pvalue=joint.pvalue,
        about=about,
        size="not shown either way" if open_question else "",
        joint=joint,
    )
