"""Every test of calibration, in one form, and how often a simulation can afford to repeat it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from veridical import (
    BinnedError,
    BrierScore,
    CumulativeError,
    QuantileBins,
    SmoothError,
    consistency_test,
    cox_test,
    hosmer_lemeshow_test,
    kernel_test,
    multiple_test,
    pearson_test,
    sequential_test,
    spiegelhalter_test,
    t_cal_test,
)

N_RESAMPLES = 99  # p-values are multiples of 1 %: levels of 1, 5 and 10 % are met exactly

PValue: TypeAlias = Callable[..., float]
Repetitions: TypeAlias = Mapping[int, int]  # by number of rows; a number that is absent is left out

FORMULA: Repetitions = {100: 1000, 300: 100, 1000: 300, 2000: 60, 10_000: 60}
DRAWN: Repetitions = {100: 200, 300: 60, 1000: 80, 2000: 40, 10_000: 30}
PAIRS: Repetitions = {100: 400, 300: 60, 1000: 40, 2000: 30}  # all pairs of vectors
BOOTSTRAP: Repetitions = {100: 1000, 300: 60, 1000: 150, 2000: 40, 10_000: 30}
PLACES: Repetitions = {100: 200, 300: 60, 1000: 60, 2000: 30, 10_000: 15}
SMOOTH: Repetitions = {100: 60, 300: 40, 1000: 20, 2000: 20}
REFITTED: Repetitions = {100: 60, 300: 40, 1000: 25, 2000: 40, 10_000: 30}


@dataclass(frozen=True)
class Entry:
    """A test: its name in the tables, its p-value, and what it costs for two classes and more."""

    name: str
    pvalue: PValue
    binary: Repetitions | None = None
    vector: Repetitions | None = None
    grid: bool = False  # needs predictions that repeat
    power: tuple[int, ...] = (2, 3, 10)  # numbers of classes in the table of power

    def repetitions(self, n_classes: int, n: int) -> int:
        """How often a cell is simulated; zero if it is left out."""
        of_size = self.binary if n_classes == 2 else self.vector
        if self.name.startswith("Cox") and (n_classes, n) == (10, 100):
            return 0  # ten classes, of some of which no row is seen
        return (of_size or {}).get(n, 0)


def of(test: Callable[..., Any], *first: Any, **options: Any) -> PValue:
    """P-value of a test with these options."""
    if test is not sequential_test:
        options.setdefault("n_resamples", N_RESAMPLES)

    def pvalue(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> float:
        labels = range(2 if p.ndim == 1 else p.shape[1])
        chance = {} if test is sequential_test else {"rng": rng}
        found = test(*first, y, p, labels=labels, **chance, **options)
        return min(found.adjusted) if test is multiple_test else found.pvalue

    return pvalue


_QUANTILE = BinnedError(QuantileBins(15))
_TWO_SIDED = {"alternative": "two-sided"}
_ASYMPTOTIC = {"null": "asymptotic"}

# Lenses apply to three classes and more; two have the binary one.
BATTERY = (
    Entry("consistency, ECE", of(consistency_test, BinnedError()), DRAWN, DRAWN),
    Entry("consistency, ECE, classwise", of(consistency_test, BinnedError(), lens="classwise"),
          vector=DRAWN),
    Entry("consistency, ECE, canonical", of(consistency_test, BinnedError(), lens="canonical"),
          vector=DRAWN),
    Entry("consistency, RMSCE", of(consistency_test, BinnedError(norm=2)), DRAWN, DRAWN,
          power=(2,)),
    Entry("consistency, equal-mass ECE", of(consistency_test, _QUANTILE), DRAWN, DRAWN,
          power=(2,)),
    Entry("consistency, equal-mass ECE, classwise",
          of(consistency_test, _QUANTILE, lens="classwise"), vector=DRAWN),
    Entry("consistency, smECE", of(consistency_test, SmoothError()), SMOOTH, SMOOTH,
          power=(2,)),
    Entry("consistency, KS", of(consistency_test, CumulativeError("ks")), DRAWN, DRAWN,
          power=(2, 3)),
    Entry("consistency, Kuiper", of(consistency_test, CumulativeError("kuiper")), DRAWN, DRAWN),
    Entry("consistency, Brier, two-sided", of(consistency_test, BrierScore(), **_TWO_SIDED), DRAWN),
    Entry("consistency, Brier, two-sided, canonical",
          of(consistency_test, BrierScore(), lens="canonical", **_TWO_SIDED), vector=DRAWN,
          power=()),
    Entry("Pearson (predictions on a grid)", of(pearson_test), FORMULA, FORMULA, grid=True),
    Entry("Pearson, asymptotic (grid)", of(pearson_test, **_ASYMPTOTIC), FORMULA, FORMULA,
          grid=True, power=()),
    Entry("Hosmer-Lemeshow", of(hosmer_lemeshow_test), DRAWN, FORMULA),
    Entry("Hosmer-Lemeshow, asymptotic", of(hosmer_lemeshow_test, **_ASYMPTOTIC), FORMULA, FORMULA,
          power=()),
    Entry("Spiegelhalter", of(spiegelhalter_test), FORMULA, FORMULA),
    Entry("Spiegelhalter, asymptotic", of(spiegelhalter_test, **_ASYMPTOTIC), FORMULA, FORMULA,
          power=()),
    Entry("Cox", of(cox_test), DRAWN, REFITTED),
    Entry("Cox, asymptotic", of(cox_test, **_ASYMPTOTIC), FORMULA, FORMULA, power=()),
    Entry("kernel, consistency", of(kernel_test), DRAWN, PAIRS),
    Entry("kernel, bootstrap", of(kernel_test, method="bootstrap"), BOOTSTRAP, PAIRS,
          power=(2, 3)),
    Entry("kernel, asymptotic-block", of(kernel_test, method="asymptotic-block"), FORMULA, FORMULA),
    Entry("kernel, distribution-free (biased)",
          of(kernel_test, method="distribution-free", estimator="biased"), DRAWN, PAIRS,
          power=(2, 3)),
    Entry("kernel, ucme", of(kernel_test, method="ucme"), DRAWN, PLACES),
    Entry("T-Cal", of(t_cal_test), DRAWN, DRAWN),
    Entry("T-Cal, canonical", of(t_cal_test, lens="canonical"), vector=PLACES),
    Entry("sequential", of(sequential_test), FORMULA, FORMULA),
    Entry("multiple, ECE by bin or class", of(multiple_test, BinnedError(), n_resamples=199),
          DRAWN, DRAWN),
)  # fmt: skip
