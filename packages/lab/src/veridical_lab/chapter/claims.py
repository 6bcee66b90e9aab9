"""What the chapter says of its demonstration, checked.

What one draw of the chapter's demonstration gives, in numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical.binning import UniformBins
from veridical.curves import reliability_curve
from veridical.decomposition import decompose
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.scores import brier_score
from veridical_lab._frame.noise import drawn, jackknifed
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray
from veridical_lab.chapter.draw import INFLATION, VERSIONS, ChapterStudy, another_draw

ERROR = BinnedError(UniformBins(10, closed="left"))  # bins as R's findInterval makes them


def measures(study: ChapterStudy, n_resamples: int, rng: np.random.Generator) -> dict[str, float]:
    """Return named numbers of one draw; names are "what, version"."""
    from sklearn.metrics import roc_auc_score

    y = study.draw.test
    found: dict[str, float] = {"slope, Platt": float(study.platt.slope_)}
    log_odds, truth = study.truth()
    exact = study.probabilities(log_odds)
    for version, p in study.test.items():
        test = consistency_test(ERROR, y, p, n_resamples=n_resamples, rng=rng)
        binned = decompose(y, p, method="bins", binning=ERROR.binning)
        found |= {
            f"Brier, {version}": brier_score(y, p),
            f"ECE, {version}": test.statistic,
            f"null, {version}": test.null_level.mean,
            f"p-value, {version}": test.pvalue,
            f"true error, {version}": true_error(exact[version], truth),
            f"AUC, {version}": float(roc_auc_score(y, p)),
            f"discrimination, {version}": decompose(y, p).discrimination,
            f"resolution, {version}": binned.discrimination,
            f"within bins, {version}": binned.within_bin,
        }
    found |= {f"ECE, {variant}": ERROR(y, p) for variant, p in study.variants().items()}
    return found


def repetition(cell: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One cell of the experiment: another draw of the same law."""
    return dict(measures(ChapterStudy(another_draw(rng)), int(cell["n_resamples"]), rng))


def true_error(probabilities: FloatArray, truth: FloatArray) -> float:
    """Mean distance of P(Y = 1 | probability) from the probability, over equally likely slices.

    Examples
    --------
    A probability given to slices of 0.2 and 0.6 stands for 0.4:

    >>> true_error([0.5, 0.5, 0.9], [0.2, 0.6, 0.9]).__round__(9)
    0.066666667
    """
    levels, level = np.unique(probabilities, return_inverse=True)
    count = np.bincount(level)
    met = np.bincount(level, truth) / count
    return float(np.average(np.abs(met - levels), weights=count))


def check_claims(
    page: Page, study: ChapterStudy, one: dict[str, float], many: dict[str, FloatArray]
) -> None:
    """Check the sentences of section 86.6."""
    page.section("What the section says")
    page.text(
        "Recalibration works as told. Four sentences need a caveat: the curve of an over-confident "
        "model crosses the diagonal at 0.5 instead of sagging below it; isotonic regression does "
        "give up some discrimination; Platt scaling needs log odds here, not probabilities; and "
        "the three parts of the Brier score add up only if predictions are equal within bins."
    )
    _improvement(page, many)
    _discrimination(page, one, many)
    _curve(page, study, one)
    _inputs(page, one, many)
    page.check(f"""Section 86.6, how the model is distorted | by squaring the odds | {INFLATION} ==
        2 | the code multiplies log odds by 1.8, so odds are raised to 1.8""")
    slope = many["slope, Platt"]
    page.check(f"""Section 86.6, slope of Platt scaling | {slope.mean()} | the distortion is undone
        by 1 / 1.8 = {1 / INFLATION:.3f}; standard deviation {slope.std(ddof=1):.3f}""")


def _improvement(page: Page, many: dict[str, FloatArray]) -> None:
    before = many["ECE, uncalibrated"]
    left = [many[f"ECE, {version}"] for version in VERSIONS[1:]]
    halved = np.maximum(*left) < before / 2
    asked = [f"{jackknifed(lambda a, b: 1 - a / b, one, before)} as substantially" for one in left]
    page.check(f"""Section 86.6, both recalibrators | cut the ECE substantially |
        {" and ".join(asked)} | share removed on average, by Platt scaling and isotonic regression;
        in {halved.mean():.1%} of draws both more than halve it""")
    for version in VERSIONS[1:]:
        brier = 1 - many[f"Brier, {version}"] / many["Brier, uncalibrated"]
        ece = 1 - many[f"ECE, {version}"] / before
        page.check(f"""Section 86.6, Brier score, {version} | moves less than the ECE |
            {drawn(ece - brier)} > 0 | share by which the ECE falls on average, {ece.mean():.2f},
            less that of the Brier score, {brier.mean():.3f}""")


def _discrimination(page: Page, one: dict[str, float], many: dict[str, FloatArray]) -> None:
    """Is discrimination, which the chapter also calls resolution, left alone?"""
    for version in VERSIONS[1:]:
        lost = many["discrimination, uncalibrated"] - many[f"discrimination, {version}"]
        rank = np.abs(many["AUC, uncalibrated"] - many[f"AUC, {version}"])
        page.check(f"""Section 86.6, discrimination, {version} | is left alone |
            {np.abs(lost).max()} < 1e-9 | isotonic part of the Brier score, largest loss; mean
            {lost.mean():.5f}, AUC changes by up to
            {rank.max():.4f}{"; steps merge scores" if lost.max() > 1e-9 else ""}""")
    rest = one["within bins, uncalibrated"]
    page.check(f"""Section 86.4.1, calibration, resolution and variance of outcomes in bins | add up
        to the Brier score | {abs(rest)} < 1e-6 | what is missing on the printed draw:
        predictions differ within a bin; the sum is exact only for one prediction a bin""")
    moved = one["resolution, Platt"] - one["resolution, uncalibrated"]
    page.check(f"""Section 86.4.1, resolution in ten bins, change by Platt scaling | {moved} | in
        the chapter's own formula, on the printed draw: scores move to other bins, so even a
        strictly monotone map changes it""")


def _curve(page: Page, study: ChapterStudy, one: dict[str, float]) -> None:
    curve = reliability_curve(
        study.draw.test, study.test["uncalibrated"], binning=ERROR.binning, interval=None
    )
    middle = (curve.lower > 0.05) & (curve.upper < 0.95)
    below = curve.gap[middle] < 0
    page.check(f"""Figure 86.1, uncalibrated curve | sags below the diagonal across the middle |
        {below.sum()} == {middle.sum()} | middle bins in which it does, of {int(middle.sum())}, all
        of them above {curve.lower[middle][below].min():.1f}: over-confident predictions
        are too low below 0.5 and too high above it, so their curve crosses the diagonal""")
    log_odds, truth = study.truth()
    at = float(np.interp(np.log(0.8 / 0.2), log_odds, truth))
    page.check(f"""Figure 86.1, where the model says 0.8 | positives are less than 80 % | {at} < 0.8
        | true probability there, by quadrature""")
    for version in VERSIONS[1:]:
        page.check(f"""Figure 86.1, {version} | snaps back to the diagonal |
            {one[f"p-value, {version}"]} > 0.05 | p-value of the test that it is calibrated""")


def _inputs(page: Page, one: dict[str, float], many: dict[str, FloatArray]) -> None:
    """Can either method take either input, probabilities or log odds?"""
    other, usual = many["ECE, Platt of probabilities"], many["ECE, Platt"]
    page.check(f"""Section 86.6, Platt scaling | can take probabilities as well as log odds |
        {jackknifed(lambda a, b: a / b, other, usual)} as similar | mean ECE, {other.mean():.3f},
        over that on log odds, {usual.mean():.3f}: a
        logistic curve of probabilities does not contain the inverse of the distortion""")
    apart = np.abs(many["ECE, isotonic, interpolated"] - many["ECE, isotonic"])
    page.check(f"""Section 86.6, isotonic regression read by lines instead of steps | {apart.mean()}
        | mean change of the ECE; the fit depends on the order of scores only, so that probabilities
        and log odds give the same steps""")
