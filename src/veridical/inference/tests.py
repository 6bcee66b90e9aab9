"""The tests of calibration by name: title, what is run, what it takes, and what it costs.

Whoever lists tests reads `TESTS`: the battery, the language of requirements, the command line. A
new test is one more record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from veridical._core.sample import BinarySample, Sample
from veridical.inference._cox.cox import cox_core
from veridical.inference._goodness.chi_square import pearson_core
from veridical.inference._goodness.hosmer_lemeshow import hosmer_lemeshow_core
from veridical.inference._goodness.spiegelhalter import spiegelhalter_core
from veridical.inference._kernel.t_cal import t_cal_core
from veridical.inference._kernel.test import kernel_core
from veridical.inference._nulls.consistency import consistency_core
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import Induced
from veridical.results import CalibrationTest

__all__ = ["TESTS", "TEST_OF_CLASSES", "KnownTest"]

# Probabilities times draws that take a second or two: outcomes redrawn and summed by bins of every
# width, by class, and by groups of whole vectors.
_MOST_BY_SCALE, _MOST_BY_CLASS, _MOST_BY_VECTOR = 1e7, 1e8, 3e7
# Cox's test of K classes: probabilities times K, in one fit and in those of all draws. It draws
# where outcomes vary less than this and probabilities are not too many.
_MOST_FITTED, _MOST_REFITTED = 3e6, 5e6
_VARIES_ENOUGH, _MOST_REDRAWN = 30.0, 20_000


def _never(induced: Induced, n_resamples: int) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class KnownTest:
    """A test of calibration that can be asked for by name.

    Attributes
    ----------
    name, title : how it is asked for, and what a sentence calls it
    core : the test of checked data, with `draws`
    takes : what else it takes: "estimator", "confidence_level"
    unasked : whether it is made where no test is named
    without_draws : whether sums of weighted rows, of which none can be drawn, leave it a null
        distribution: null="asymptotic"
    takes_long : whether it would take much more than a second with so many draws
    """

    name: str
    title: str
    core: Callable[..., CalibrationTest]
    takes: tuple[str, ...] = ()
    unasked: bool = True
    without_draws: bool = False
    takes_long: Callable[[Induced, int], bool] = _never

    @property
    def caller(self) -> str:
        """The public function of this test."""
        return self.core.__name__.replace("_core", "_test")

    def doubts(self, test: CalibrationTest) -> list[str]:
        """Notes of a test made, each with the name of the function that makes it."""
        return [f"{self.caller}: {note}" for note in test.notes]


def _tested(induced: Induced) -> Sample:
    problem = induced.problem
    return problem.sample if isinstance(problem, ClasswiseProblem) else problem


def _scales_take_long(induced: Induced, n_resamples: int) -> bool:
    return _tested(induced).p.size * n_resamples > _MOST_BY_SCALE


def _classes_take_long(induced: Induced, n_resamples: int) -> bool:
    several = not isinstance(induced.problem, BinarySample)
    return several and _tested(induced).p.size * n_resamples > _MOST_BY_CLASS


def _vectors_take_long(induced: Induced, n_resamples: int) -> bool:
    several = not isinstance(induced.problem, BinarySample)
    return several and _tested(induced).p.size * n_resamples > _MOST_BY_VECTOR


def _fits_take_long(induced: Induced, n_resamples: int) -> bool:
    sample = _tested(induced)
    binary = isinstance(sample, BinarySample)
    p = sample.p.astype(np.float64, copy=False)
    variance = sample.size * np.average(p * (1 - p), axis=0, weights=sample.weight)
    values = p.size * (1 if binary else len(sample.classes))
    if variance.min() < _VARIES_ENOUGH and p.size <= _MOST_REDRAWN:
        return values * n_resamples > _MOST_REFITTED
    return not binary and values > _MOST_FITTED


TESTS = {
    test.name: test
    for test in (
        KnownTest(
            name="consistency",
            title="the consistency test",
            core=consistency_core,
            takes=("estimator",),
            takes_long=_classes_take_long,
        ),
        KnownTest(name="spiegelhalter", title="Spiegelhalter's test", core=spiegelhalter_core),
        KnownTest(
            name="hosmer-lemeshow",
            title="the Hosmer-Lemeshow test",
            core=hosmer_lemeshow_core,
            without_draws=True,
            takes_long=_vectors_take_long,
        ),
        KnownTest(
            name="cox",
            title="Cox's test",
            core=cox_core,
            takes=("confidence_level",),
            without_draws=True,
            takes_long=_fits_take_long,
        ),
        KnownTest(name="t-cal", title="T-Cal", core=t_cal_core, takes_long=_scales_take_long),
        KnownTest(name="kernel", title="the kernel test", core=kernel_core, unasked=False),
        KnownTest(
            name="pearson",
            title="Pearson's test",
            core=pearson_core,
            unasked=False,
            without_draws=True,
        ),
    )
}

# Made beside the others for the classes of a prediction; asked for by the lens, not by name.
TEST_OF_CLASSES = replace(
    TESTS["consistency"], name="classwise", title="the consistency test of the classes"
)
