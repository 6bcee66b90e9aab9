"""The estimators that are compared, as the source means them, as it ran them, and newer ones."""

from __future__ import annotations

from dataclasses import replace

from veridical.binning import Binning, QuantileBins, SweepBins, UniformBins
from veridical.binning.counts import BinCount
from veridical.miscalibration import BinnedError, DensityError, Estimator, SmoothError

LENSES = ("confidence", "classwise")
FAMILIES = ("ECE_l", "ECE_a", "ECE_c", "ECE_ac")
COUNTS: tuple[BinCount, ...] = (10, 30, "sqrt")
BANDWIDTHS: tuple[float | str, ...] = ("silverman", 0.1, 0.033)
NEWER = ("debiased, 15 bins", "monotone sweep", "smooth (smECE)", "plain, 15 bins")
_COARSE = 512  # a grid to begin with; it is refined wherever a bandwidth asks for it


def settings() -> tuple[str, ...]:
    """Names of the fifteen settings of the source."""
    binned = [f"{family} {count}" for family in FAMILIES for count in COUNTS]
    return (*binned, *(f"ECE_d {bandwidth}" for bandwidth in BANDWIDTHS))


def as_meant(low: float) -> dict[str, Estimator]:
    """The fifteen settings, all on the same interval [low, 1] and at the same number of bins.

    001 sections 4.3 to 4.5: equal-width or adaptive bins, one bin a row or two (linear binning),
    and densities mirrored at both ends.
    """
    found: dict[str, Estimator] = {}
    for family in FAMILIES:
        for count in COUNTS:
            adaptive, linear = family in ("ECE_a", "ECE_ac"), family in ("ECE_c", "ECE_ac")
            binning: Binning = UniformBins(count, support=(low, 1.0))
            if adaptive:
                binning = QuantileBins(count, support=(low, 1.0))
            error = BinnedError(binning, assignment="linear" if linear else "hard")
            found[f"{family} {count}"] = error
    for bandwidth in BANDWIDTHS:
        density = DensityError(bandwidth=bandwidth, n_grid=_COARSE, support=(low, 1.0))
        found[f"ECE_d {bandwidth}"] = density
    return found


def as_run(low: float) -> dict[str, Estimator]:
    """Those of the fifteen that the authors' program computes otherwise than it means to.

    Linear binning gives each of the two bins the share of the other, and the legacy estimator
    counts its bins on [0, 1] where the others count theirs on [low, 1].
    """
    found: dict[str, Estimator] = {}
    for name, estimator in as_meant(low).items():
        if isinstance(estimator, BinnedError):
            if estimator.assignment == "linear":
                found[name] = replace(estimator, assignment="linear-inverted")
            elif isinstance(estimator.binning, UniformBins) and low > 0:
                found[name] = replace(estimator, binning=UniformBins(estimator.binning.n))
    return found


def newer() -> dict[str, Estimator]:
    """Estimators the source does not have, beside the usual one."""
    binned = (BinnedError(debias=True), BinnedError(SweepBins()))
    return dict(zip(NEWER, (*binned, SmoothError(n_grid=1024), BinnedError()), strict=True))
