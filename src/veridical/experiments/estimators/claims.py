"""The recommendations of the source, each judged by the curves of Fig. 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from veridical.experiments._frame.page import Page
from veridical.experiments.estimators.cell import PRINTED_RANGE
from veridical.experiments.estimators.settings import COUNTS, FAMILIES
from veridical.experiments.estimators.study import Curves, EstimatorStudy, leaders, ranks

_MOST = 0.75  # share of comparisons from which on a rule holds "almost always"
_SIMILAR = 1.5  # a curve within so many times the lowest is much the same
_SILVERMAN = "ECE_d silverman"
AS_RUN, CORRECTED, AS_WRITTEN = "as run", "corrected", "as written"


@dataclass(frozen=True)
class VersionCurves:
    """Curves of both lenses in one version, at the sizes of the printed figure."""

    sizes: tuple[int, ...]
    confidence: Curves
    classwise: Curves


@dataclass(frozen=True)
class ClaimFinding:
    """Whether a claim holds, the number it was judged by, and what that is in words."""

    holds: bool
    value: float
    words: str


def judge_claims(text: EstimatorStudy, program: EstimatorStudy, page: Page) -> dict[str, int]:
    """Put every claim of section 5.2 on the page three times; return how many hold, by version."""
    page.text(
        f"Each statement of section 5.2 is judged by the three columns of the figure, up to "
        f'{PRINTED_RANGE} rows. "In almost all regimes" and "improves" mean at '
        f'{percent(_MOST)} of the sizes (and numbers of bins) at least, "best" lowest at more than '
        f'half of the sizes, "similar" within {_SIMILAR:g} times the lowest, "a lot" half of the '
        "settings."
    )
    sizes = text.printed_sizes
    curves = {AS_RUN: program.run, CORRECTED: program.printed, AS_WRITTEN: text.printed}
    versions = {
        name: VersionCurves(sizes, of("confidence"), of("classwise")) for name, of in curves.items()
    }
    held = dict.fromkeys(versions, 0)
    for stated, judge in _CLAIMS.items():
        name, claim = stated.split(" | ")
        for version, evidence in versions.items():
            finding = judge(evidence)
            held[version] += finding.holds
            page.check(f"""Section 5.2, {name}, {version} | {claim} | {finding.value} is
                {finding.holds} | {finding.words}""")
    return held


def told_leaders(curves: Curves, sizes: tuple[int, ...]) -> str:
    """Which setting is best at which sizes, in words."""
    parts = []
    for name, group in groupby(zip(leaders(curves), sizes, strict=True), key=lambda pair: pair[0]):
        some = [size for _, size in group]
        span = f"n = {some[0]}" if len(some) == 1 else f"n = {some[0]} to {some[-1]}"
        parts.append(f"{name} ({span})")
    return ", ".join(parts)


def percent(share: float) -> str:
    """A share as whole per cent."""
    return f"{100 * share:.0f} %"


def _density_is_best(evidence: VersionCurves) -> ClaimFinding:
    share = float(np.mean([name == _SILVERMAN for name in leaders(evidence.confidence)]))
    lowest = np.stack(list(evidence.confidence.values())).min(axis=0)
    behind = float((evidence.confidence[_SILVERMAN] / lowest).max() - 1)
    words = (
        f"best at {percent(share)} of the sizes, never more than {percent(behind)} behind; "
        f"best are {told_leaders(evidence.confidence, evidence.sizes)}"
    )
    return ClaimFinding(share >= _MOST, share, words)


def _mostly_below(new: str, old: str, word: str) -> Callable[[VersionCurves], ClaimFinding]:
    """Judge by the share of bin counts and sizes at which one family is below another."""

    def judge(evidence: VersionCurves) -> ClaimFinding:
        curves = evidence.confidence
        below = [curves[f"{new} {count}"] < curves[f"{old} {count}"] for count in COUNTS]
        share = float(np.mean(below))
        words = f"{word} at {percent(share)} of bin counts and sizes"
        return ClaimFinding(share >= _MOST, share, words)

    return judge


def _many_are_similar(evidence: VersionCurves) -> ClaimFinding:
    late = np.array([n >= 300 for n in evidence.sizes])
    values = np.stack([curve[late] for curve in evidence.confidence.values()])
    similar = (values <= _SIMILAR * values.min(axis=0)).sum(axis=0)
    fewest = int(similar.min())
    words = f"{fewest} of {len(values)} settings are within {_SIMILAR:g} times the best"
    return ClaimFinding(fewest >= len(values) / 2, fewest, words)


def _root_grows_too_fast(lens: str) -> Callable[[VersionCurves], ClaimFinding]:
    def judge(evidence: VersionCurves) -> ClaimFinding:
        curves: Curves = getattr(evidence, lens)
        last = [curves[f"{family} sqrt"][-1] / curves[f"{family} 10"][-1] for family in FAMILIES]
        ratio, n = float(np.mean(last)), evidence.sizes[-1]
        words = (
            f"at n = {n} its {int(np.sqrt(n))} bins are {ratio:.2f} times as far off as ten, on"
            " average over the four estimators"
        )
        return ClaimFinding(ratio > 1, ratio, words)

    return judge


def _nobody_wins_classwise(evidence: VersionCurves) -> ClaimFinding:
    different = len(set(leaders(evidence.classwise)))
    return ClaimFinding(
        different > 1, different, f"best are {told_leaders(evidence.classwise, evidence.sizes)}"
    )


def _lowest_at(curves: Curves, name: str, sizes: tuple[int, ...], at: list[bool]) -> ClaimFinding:
    some = np.array(at)
    share = float(np.mean(np.array([lead == name for lead in leaders(curves)])[some]))
    place = ranks(curves, name)[some]
    words = (
        f"best at {percent(share)} of these sizes, place {place.min()} to {place.max()} of"
        f" {len(curves)}; best are {told_leaders(curves, sizes)}"
    )
    return ClaimFinding(share > 0.5, share, words)


def _root_is_best_below_100(evidence: VersionCurves) -> ClaimFinding:
    at = [n < 100 for n in evidence.sizes]
    return _lowest_at(evidence.classwise, "ECE_ac sqrt", evidence.sizes, at)


def _ten_is_best_above_100(evidence: VersionCurves) -> ClaimFinding:
    at = [n > 100 for n in evidence.sizes]
    return _lowest_at(evidence.classwise, "ECE_ac 10", evidence.sizes, at)


def _density_suffers_classwise(evidence: VersionCurves) -> ClaimFinding:
    place = [
        float(ranks(curves, _SILVERMAN).mean())
        for curves in (evidence.confidence, evidence.classwise)
    ]
    words = f"mean place {place[0]:.1f} of 15 by confidence, {place[1]:.1f} by class"
    return ClaimFinding(place[1] > place[0], place[1] - place[0], words)


_CLAIMS: dict[str, Callable[[VersionCurves], ClaimFinding]] = {
    "confidence, density | ECE_d with Silverman's rule is best in almost all data regimes": (
        _density_is_best
    ),
    "confidence, convex legacy | the convex mapping improves the legacy estimator": (
        _mostly_below("ECE_c", "ECE_l", "lower")
    ),
    "confidence, convex adaptive | the convex mapping improves the adaptive estimator": (
        _mostly_below("ECE_ac", "ECE_a", "lower")
    ),
    "confidence, adaptive | adaptive bins alone underperform": _mostly_below(
        "ECE_l", "ECE_a", "higher"
    ),
    "confidence, 300 rows | above 300 samples a lot of estimators perform similarly": (
        _many_are_similar
    ),
    "confidence, square root | the square root of n grows slightly too fast": (
        _root_grows_too_fast("confidence")
    ),
    "classwise, winner | there is no clear outperformer in all data regimes": (
        _nobody_wins_classwise
    ),
    "classwise, few rows | below 100 samples ECE_ac with the square root is best": (
        _root_is_best_below_100
    ),
    "classwise, more rows | then ECE_ac with a fixed small number of bins is best": (
        _ten_is_best_above_100
    ),
    "classwise, square root | the square root of n grows slightly too fast": (
        _root_grows_too_fast("classwise")
    ),
    "classwise, density | Silverman's rule is less relevant than by confidence": (
        _density_suffers_classwise
    ),
}
N_CLAIMS = len(_CLAIMS)
