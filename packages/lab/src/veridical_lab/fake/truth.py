"""What is true of a fake classifier: exact figures, conventions and extreme examples."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from veridical import simulation
from veridical.binning import SimplexBins
from veridical.miscalibration import (
    BinnedError,
    classwise_calibration_error,
    expected_calibration_error,
)
from veridical.simulation import FakeSample, PowerMap
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.noise import with_error
from veridical_lab._frame.page import Page, by_column
from veridical_lab.arrays import FloatArray
from veridical_lab.evaluating.examples import TABLE_1

# What kyle 0.1.8 (commit 067e08d), the package of the source's authors, answers for the power 3 of
# a uniform Dirichlet distribution: from its samples, and from its module of exact values.
_SAMPLED_ACCURACY = {2: 0.7500, 3: 0.6119}
_SAMPLED_ECE = {2: 0.1414, 3: 0.209}
_SAMPLED_CLASSWISE = 0.1401
_EVALUATED_ACCURACY = {2: 0.8914, 3: 0.8208}
_EVALUATED_CLASSWISE = 0.0709
_PROGRAM = "kyle 0.1.8"
_NOISE = 0.001  # rounding to three or four digits, and the noise of a sample

_ALMOST = 0.01  # the epsilon of section 1.1


def show_truth(lab: Laboratory, page: Page) -> None:
    """Exact figures beside those of the source's own package, and its examples in words."""
    page.section("What is true of a fake classifier")
    page.text(
        """Section 6 draws rows that have no features: a probability vector p from a Dirichlet
        distribution, a label from p, and a report c = h(p). The truth is known, so every figure
        is an integral. The package kyle of the same authors draws rows in this order, but its
        module of exact values assumes the other one (c is drawn, the label comes from h(c)), and
        its two halves contradict each other."""
    )
    _compare_with_kyle(page)
    _adjust(lab, page)
    page.section("Accuracy, calibration and lenses are different things")
    _extremes(page)
    _lenses(lab, page)


def _compare_with_kyle(page: Page) -> None:
    rows: list[tuple[Any, ...]] = []
    for k in (2, 3):
        fake = simulation.DirichletFakeClassifier([1.0] * k, map=PowerMap(3))  # type: ignore[arg-type]
        accuracy, ece = fake.accuracy().value, fake.expected_calibration_error().value
        confidence = fake.mean_confidence().value
        rows.append((k, "accuracy", accuracy, _SAMPLED_ACCURACY[k], _EVALUATED_ACCURACY[k]))
        rows.append((k, "ECE", ece, _SAMPLED_ECE[k], None))
        page.check(
            f"""
            - Section 6, power 3, K = {k}, accuracy | {accuracy} = {_SAMPLED_ACCURACY[k]} ± {_NOISE}
              | a sample of kyle; E max p is {"3/4" if k == 2 else "11/18"}
            - Section 6, power 3, K = {k}, ECE | {ece} = {_SAMPLED_ECE[k]} ± {_NOISE} | a sample of
              kyle; the integral E max c - E max p is {ece:.6f}
            - Section 6, power 3, K = {k}, accuracy by kyle's exact module | {accuracy} =
              {_EVALUATED_ACCURACY[k]} ± {_NOISE} | the module takes c for drawn and h(c) for true,
              the reverse of the sampler; its figure is E max c = {confidence:.4f}, the mean
              confidence
        """,
            origin=_PROGRAM,
        )
    classwise = fake.classwise_error().value
    rows.append((3, "classwise ECE", classwise, _SAMPLED_CLASSWISE, _EVALUATED_CLASSWISE))
    page.check(
        f"""
        - Section 6, power 3, K = 3, classwise ECE | {classwise} = {_SAMPLED_CLASSWISE} ± {_NOISE} |
          a sample of kyle
        - Section 6, power 3, K = 3, classwise ECE by kyle's exact module | {classwise} =
          {_EVALUATED_CLASSWISE} ± {_NOISE} | the reverse convention, and integrated over [1/K +
          0.01, 0.99] only
    """,
        origin=_PROGRAM,
    )
    names = ("classes", "figure", "exact", "kyle, sampled", "kyle, exact module")
    caption = "The power 3 of a uniform Dirichlet distribution"
    page.table(by_column(names, rows), caption=caption)


def _adjust(lab: Laboratory, page: Page) -> None:
    """Ask for accuracy and error, and look whether a sample has them."""
    size = 20_000 if lab.quick else 50_000
    classes = (2, 10) if lab.quick else (2, 10, 100)
    shares = (0.5,) if lab.quick else (0.25, 0.75)
    worst, asked = 0.0, 0
    for k, accuracy, share in product(classes, (0.6, 0.9), shares):
        for over in (True, False):
            room = 1 - accuracy if over else accuracy - 1 / k
            ece = share * room
            fake = simulation.fake_classifier_for(
                accuracy, ece, n_classes=k, direction="over" if over else "under"
            )
            drawn = fake.sample(size, rng=lab.rng("adjust", f"{k} {accuracy} {ece} {over}"))
            worst = max(worst, *_deviations(drawn, accuracy, ece, sign=1 if over else -1))
            asked += 1
    # The bound is for the largest of so many normal deviations; 1 in 1,500 by chance.
    page.check(f"""Sections 4 and 6, adjustable | there are fake classifiers with adjustable
        accuracy and calibration | {worst} < 4.5 | {asked} pairs of accuracy and ECE, 2 to
        {classes[-1]} classes; the largest deviation of a sample of {size:,} rows from what was
        asked for, in standard errors""")


def _deviations(drawn: FakeSample, accuracy: float, ece: float, *, sign: int) -> list[float]:
    """Standard errors between rows and targets; a power map errs to one side on every row."""
    p, c = drawn.p_true, drawn.y_prob
    top = p[np.arange(len(p)), c.argmax(axis=1)]
    gap = (c.max(axis=1) - top) * sign
    return [
        abs(float(values.mean()) - target) / (float(values.std()) / len(values) ** 0.5)
        for values, target in ((top, accuracy), (gap, ece))
    ]


def _extremes(page: Page) -> None:
    k = 10
    certain = simulation.EmpiricalFakeClassifier(np.eye(k), map=simulation.CallableMap(_hesitant))
    found = certain.expected_calibration_error().value
    page.check(f"""Section 1.1, always right with confidence 1/K + 0.01, ECE | {found} =
        {1 - 1 / k - _ALMOST} ± 1e-9 | accuracy {certain.accuracy().value:.0f}, and not calibrated
        at all""")
    shares = simulation.EmpiricalFakeClassifier([[0.5, 0.3, 0.2]])  # type: ignore[arg-type]
    page.check(f"""Section 1.1, always the population fractions | perfectly calibrated but generally
        inaccurate | {shares.accuracy().value} == 0.5 and {shares.canonical_error().value} == 0 |
        fractions 0.5, 0.3, 0.2: the accuracy, and the canonical error""")


def _hesitant(p: FloatArray) -> FloatArray:
    """Barely prefer the right one of ten classes."""
    k = p.shape[1]
    top = 1 / k + _ALMOST
    return np.where(p == 1, top, (1 - top) / (k - 1))


def _lenses(lab: Laboratory, page: Page) -> None:
    """Zero through two lenses and not through the third; conditioning on less hides error."""
    predicted, true = np.array(TABLE_1).transpose(1, 0, 2)
    y = np.tile(np.arange(3), len(predicted))
    c, weight = np.repeat(predicted, 3, axis=0), true.ravel()
    ece = expected_calibration_error(y, c, lens="confidence", sample_weight=weight)
    classwise = classwise_calibration_error(y, c, sample_weight=weight)
    canonical = BinnedError(SimplexBins(10))(y, c, lens="canonical", sample_weight=weight)
    page.check(f"""Section 2.1, classwise calibrated | all class-wise errors and the ECE may be zero
        without strong calibration | {canonical} as noticeable and {max(ece, classwise)} < 1e-12 |
        the example of Vaicenavicius et al. (2019), Table 1: the canonical error, and the larger of
        the other two""")
    exponents = [0.5, 1.0, 2.0]
    fake = simulation.DirichletFakeClassifier([1.0] * 3, map=simulation.ClassPowerMap(exponents))  # type: ignore[arg-type]
    # Rows that are all different pool with no other: the finite figure conditions on all of c.
    drawn = lab.rng("conditioning").dirichlet([1.0] * 3, 100_000)
    rows = simulation.EmpiricalFakeClassifier(drawn, map=fake.map)
    given_top = fake.expected_calibration_error(), fake.classwise_error()
    given_all = rows.expected_calibration_error(), rows.classwise_error()
    page.table(
        {
            "figure": ["ECE", "classwise ECE"],
            "given max c or c_k": [one.value for one in given_top],
            "given the whole of c": [one.value for one in given_all],
        },
        caption=f"Uniform Dirichlet distribution, power of each class {exponents}",
    )
    difference = given_all[0].value - given_top[0].value
    noise = max(given_all[0].error, given_top[0].error) / 2  # errors are of 95 %
    page.check(f"""Section 2.1, conditioning | ECE differs from E|P(Y = argmax C \\| C) - max C| |
        {with_error(difference, noise)} > 0 | the second is the larger: rows that err up and rows
        that err down meet
        in max C""")
