"""The recommendations of the source, each judged by the curves of Fig. 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical_lab._frame.noise import with_error
from veridical_lab._frame.page import Page
from veridical_lab._frame.words import WORDS
from veridical_lab.arrays import FloatArray
from veridical_lab.estimators.cell import PRINTED_RANGE
from veridical_lab.estimators.settings import COUNTS, FAMILIES
from veridical_lab.estimators.study import (
    Curves,
    Errors,
    EstimatorStudy,
    leaders,
    ranks,
    told_leaders,
)

_SILVERMAN = "ECE_d silverman"
AS_RUN, CORRECTED, AS_WRITTEN = "as run", "corrected", "as written"
# Whose statements the facts are: the source's, and what became of them otherwise.
ORIGINS = {AS_RUN: "", CORRECTED: "the corrected program", AS_WRITTEN: "tasks as written"}


@dataclass(frozen=True)
class Claim:
    """A statement of section 5.2, and how it is judged.

    Attributes
    ----------
    name, words : of the statement
    lens : whose curves it is about
    value : the number it is judged by, of curves and sizes
    asked : what that must be, as `Page.check` reads it
    meaning : of the number
    """

    name: str
    words: str
    lens: str
    value: Callable[[Curves, FloatArray], float]
    asked: str
    meaning: str


def judge_claims(text: EstimatorStudy, program: EstimatorStudy, page: Page) -> dict[str, int]:
    """Put every claim of section 5.2 on the page three times; return how many hold, by version."""
    page.text(
        f"Each statement of section 5.2 is judged in three versions, up to {PRINTED_RANGE} rows. "
        "Only the first is the source's own. Standard errors come from tasks drawn with "
        "replacement, all models and training sets of a task together."
    )
    versions: dict[str, Callable[[str], Errors]] = {
        AS_RUN: program.run,
        CORRECTED: program.meant,
        AS_WRITTEN: text.meant,
    }
    sizes = np.array(text.sizes, dtype=float)
    held = dict.fromkeys(versions, 0)
    for version, errors_of in versions.items():
        by_lens = {lens: errors_of(lens) for lens in ("confidence", "classwise")}
        for claim in CLAIMS:
            told = _judge(claim, by_lens, sizes)
            page.check(
                f"Section 5.2, {claim.name}, {version} | {claim.words} | {told}",
                origin=ORIGINS[version],
            )
            held[version] += page.facts[-1].verdict == "reproduced"
    return held


def _judge(claim: Claim, by_lens: dict[str, Errors], sizes: FloatArray) -> str:
    """The number with its standard error, what is asked of it, and what it is."""
    if claim.lens == "both":  # the places of one setting through both lenses
        pairs = zip(*(by_lens[lens].redrawn_curves for lens in by_lens), strict=True)
        values = [_places(b) - _places(a) for a, b in pairs]
        first, last = (_places(errors.curves()) for errors in by_lens.values())
        error, found = float(np.std(values, ddof=1)), last - first
        words = f"{first:.1f} of 15 by confidence, {last:.1f} by class"
    else:
        errors = by_lens[claim.lens]
        found = claim.value(errors.curves(), sizes)
        error = float(errors.noise(lambda curves: claim.value(curves, sizes)))
        words = f"best are: {told_leaders(errors.leads(), sizes.astype(int).tolist())}"
    return f"{with_error(found, error)} {claim.asked} | {claim.meaning}; {words}"


def _places(curves: Curves) -> float:
    return float(ranks(curves, _SILVERMAN).mean())


def _led_by(name: str, low: float = 0.0, high: float = np.inf) -> Callable[..., float]:
    """Share of sizes between two limits at which a setting is best."""

    def value(curves: Curves, sizes: FloatArray) -> float:
        some = (sizes > low) & (sizes < high)
        return float(np.mean(np.array([lead == name for lead in leaders(curves)])[some]))

    return value


def _below(new: str, old: str) -> Callable[..., float]:
    """Share of bin counts and sizes at which one family is below another."""

    def value(curves: Curves, _: FloatArray) -> float:
        below = [curves[f"{new} {count}"] < curves[f"{old} {count}"] for count in COUNTS]
        return float(np.mean(below))

    return value


def _alike(curves: Curves, sizes: FloatArray) -> float:
    """Share of settings whose error is similar to the least, from 300 rows on, at the worst."""
    late = np.stack([curve[sizes >= 300] for curve in curves.values()])
    near = late <= WORDS["similar"].bound * late.min(axis=0)
    return float(near.mean(axis=0).min())


def _root_to_ten(curves: Curves, _: FloatArray) -> float:
    """Error of the square root of n bins over that of ten at the last size, mean of families."""
    return float(np.mean([curves[f"{f} sqrt"][-1] / curves[f"{f} 10"][-1] for f in FAMILIES]))


def _most_led(curves: Curves, _: FloatArray) -> float:
    """Share of sizes at which the setting that is best most often is best."""
    names = leaders(curves)
    return max(names.count(name) for name in names) / len(names)


_ROOT = "the square root of n grows slightly too fast"
_FASTER = "error with √n bins over that with ten at the last size, mean of four families"
_SHARE = "share of bin counts and sizes"
CLAIMS = (
    Claim(
        "confidence, density",
        "ECE_d with Silverman's rule is best in almost all data regimes",
        "confidence",
        _led_by(_SILVERMAN),
        "as almost all",
        "share of sizes",
    ),
    Claim(
        "confidence, convex legacy",
        "the convex mapping usually improves the legacy estimator",
        "confidence",
        _below("ECE_c", "ECE_l"),
        "as usually",
        _SHARE,
    ),
    Claim(
        "confidence, convex adaptive",
        "the convex mapping usually improves the adaptive estimator",
        "confidence",
        _below("ECE_ac", "ECE_a"),
        "as usually",
        _SHARE,
    ),
    Claim(
        "confidence, adaptive",
        "adaptive bins alone usually underperform",
        "confidence",
        _below("ECE_l", "ECE_a"),
        "as usually",
        _SHARE,
    ),
    Claim(
        "confidence, 300 rows",
        "above 300 samples a lot of estimators perform similarly",
        "confidence",
        _alike,
        "as a lot",
        f"share of settings within {WORDS['similar'].bound:g} times the best",
    ),
    Claim("confidence, square root", _ROOT, "confidence", _root_to_ten, "> 1", _FASTER),
    Claim(
        "classwise, winner",
        "there is no clear outperformer in all data regimes",
        "classwise",
        _most_led,
        "< 1",
        "share of sizes at which the most frequent winner wins",
    ),
    Claim(
        "classwise, few rows",
        "below 100 samples ECE_ac with the square root is best",
        "classwise",
        _led_by("ECE_ac sqrt", high=100),
        "as most",
        "share of these sizes",
    ),
    Claim(
        "classwise, more rows",
        "then ECE_ac with a fixed small number of bins is best",
        "classwise",
        _led_by("ECE_ac 10", low=100),
        "as most",
        "share of these sizes",
    ),
    Claim("classwise, square root", _ROOT, "classwise", _root_to_ten, "> 1", _FASTER),
    Claim(
        "classwise, density",
        "Silverman's rule is less relevant than by confidence",
        "both",
        lambda curves, _: _places(curves),
        "> 0",
        "how many places it loses by class, on average over sizes",
    ),
)
N_CLAIMS = len(CLAIMS)
