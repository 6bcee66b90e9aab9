"""Section 6 of the survey: two tests of calibration (Table 8, Algorithm 1, Fig. 21)."""

from __future__ import annotations

import numpy as np

from veridical.binning import UniformBins
from veridical.inference import consistency_test, hosmer_lemeshow_test
from veridical.miscalibration import BinnedError
from veridical.plots import null
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.survey_toy import tables as toy

_BINS = 5
_SURVEY_DRAWS = 1000
_PRINTED_ERROR = 0.1787
_TIE = 1e-12


def hosmer_lemeshow(page: Page, *, n_simulations: int, rng: np.random.Generator) -> list[toy.Cell]:
    """Check Table 8 and the test made of it; return its cells."""
    y, p = toy.toy_rows()
    page.section("Table 8: multiclass Hosmer-Lemeshow test")
    cells = _cells(y, p)
    toy.check_cells(page, "Table 8", cells, cause=toy.ROUNDING)
    printed = printed_statistic()
    page.check(f"""Table 8, multiclass Hosmer-Lemeshow | {printed} = 25.3 ± 0.05 | each cell once,
        from the expectations as rounded in Table 8""")
    test = hosmer_lemeshow_test(y, p, n_bins=_BINS, fitted=True)
    page.check(f"""
        - Table 3, multiclass Hosmer-Lemeshow | {test.statistic} = 25.3 ± 0.05 | from the rows
          themselves
        - Eq. 21, multiclass Hosmer-Lemeshow | {2 * printed} = 25.3 ± 0.05 | the equation as printed
          adds every term twice; the example uses it once
    """)
    toy.check_number(page, "Section 6, degrees of freedom", "6", float(test.df or 0))
    toy.check_number(page, "Section 6, p-value of Hosmer-Lemeshow", "0.0003", test.pvalue)
    outside = hosmer_lemeshow_test(y, p, n_bins=_BINS, n_resamples=10 * n_simulations, rng=rng)
    page.check(f"""Section 6, p-value of Hosmer-Lemeshow, drawn | {outside.pvalue} |
        {10 * n_simulations:,} draws of outcomes from the predictions: the chi-square law is of
        little use with expected counts below 1""")
    rejected = rejections(p, n_simulations, rng)
    page.text(
        f"The table and the sum hold. Two cautions. Eq. 21 adds every term twice and would give "
        f"{2 * printed:.2f}. And (M - 2)(K - 1) = 6 degrees of freedom are for a model fitted on "
        f"these very rows; with them, {rejected:.0%} of calibrated models would be rejected at "
        f"5 % on 30 rows like these. Drawn from the predictions, the p-value is "
        f"{outside.pvalue:.4f} and not 0.0003; the conclusion stays."
    )
    page.check(f"""Section 6, calibrated models that Hosmer-Lemeshow rejects at 5 % | {rejected} |
        {n_simulations:,} draws of outcomes from Table 3, 6 degrees of freedom: these are for models
        fitted on the same rows, and predictions on new rows have 9 here""")
    return cells


def resampling(page: Page, *, n_resamples: int, rng: np.random.Generator) -> None:
    """Check the p-value of Algorithm 1 and draw Fig. 21."""
    y, p = toy.toy_rows()
    page.section("Algorithm 1 and Fig. 21: resampled labels")
    estimator = BinnedError(UniformBins(_BINS))
    many = consistency_test(estimator, y, p, lens="classwise", n_resamples=n_resamples, rng=rng)
    sample, found = many.null_level.sample, many.statistic
    strict = float((sample > found + _TIE).mean())
    counted = float((sample >= found - _TIE).mean())
    noise = _standard_error(strict, _SURVEY_DRAWS)
    page.check(f"""
        - Section 6, p-value of Algorithm 1 | {strict} ~ {noise} = 0.016 ± 0.0005 | noise of
          1,000 draws,
          whose standard error is {noise:.4f}; here {n_resamples:,} draws, larger errors only, as
          the algorithm says; 16 or more of 1,000 have probability {_at_least(16, strict):.2f}
        - Section 6, p-value of Algorithm 1, ties counted | {counted} | errors as large as the one
          found are as much evidence; only so does the test hold its level
    """)
    rounded = float((sample > _PRINTED_ERROR).mean())
    page.check(f"""
        - Section 6, p-value with the rounded error | 0.1787 may stand for the exact error |
          {abs(rounded - strict)} < 1e-12 | difference of the p-values: no possible error lies
          between it and
          0.178519
        - Section 6, Algorithm 1 | rejects calibration at 5 % | {counted} < 0.05
        - Table 3, classwise-ECE a calibrated model would show | {many.null_level.mean} | 95 % are
          up to {many.null_level.quantile(0.95):.3f}
    """)
    page.text(
        f"Algorithm 1 counts larger errors only: {strict:.4f}, with a standard error of "
        f"{_standard_error(strict, n_resamples):.4f} from {n_resamples:,} draws. With ties, which "
        f"have a probability of {counted - strict:.4f} here, it is {counted:.4f}. The printed "
        "0.016 is within the noise of its 1,000 draws."
    )
    once = consistency_test(estimator, y, p, lens="classwise", n_resamples=_SURVEY_DRAWS, rng=rng)
    drawn = null(once, ax=toy.blank_axes((5.6, 3.6)))
    caption = """Fig. 21. Classwise-ECE of 1,000 label sets drawn from the predictions of Table 3,
        and the one found. | Histogram of classwise errors under calibration with the observed error
        in its tail"""
    page.figure("fig-21", drawn.figure, caption)


def printed_statistic() -> float:
    """Sum of (O - E)^2 / E over Table 8 as printed; the cell of O = E = 0 adds nothing.

    Examples
    --------
    >>> round(printed_statistic(), 3)
    25.295
    """
    observed = np.array(toy.TABLE_8_OBSERVED, dtype=np.float64)
    expected = np.array(toy.TABLE_8_EXPECTED, dtype=np.float64)
    held = expected > 0
    return float(((observed - expected)[held] ** 2 / expected[held]).sum())


def rejections(p: FloatArray, n_simulations: int, rng: np.random.Generator) -> float:
    """Share of outcomes drawn from `p` that the test for fitted models rejects at 5 %."""
    borders = p.cumsum(axis=1)[:, :-1]
    rejected = 0
    for _ in range(n_simulations):
        drawn = 1 + (rng.random((len(p), 1)) > borders).sum(axis=1)
        test = hosmer_lemeshow_test(drawn, p, n_bins=_BINS, fitted=True, labels=[1, 2, 3])
        rejected += test.pvalue <= 0.05
    return rejected / n_simulations


def _cells(y: IntArray, p: FloatArray) -> list[toy.Cell]:
    """Counts in bins of 1 - p_1 between its quintiles, closed on the right as printed."""
    other = 1 - p[:, 0]
    edges = np.quantile(other, np.linspace(0, 1, _BINS + 1)[1:])
    inside = np.searchsorted(edges[:-1] + _TIE, other)
    cells = []
    for m, (edge, observed, expected) in enumerate(
        zip(toy.TABLE_8_EDGES, toy.TABLE_8_OBSERVED, toy.TABLE_8_EXPECTED, strict=True)
    ):
        cells.append(toy.Cell(f"bin {m + 1}, upper edge", edge, float(edges[m])))
        for k in range(3):
            rows = inside == m
            where = f"bin {m + 1}, class {k + 1}"
            exact = float((y[rows] == k + 1).sum()), float(p[rows, k].sum())
            cells += [
                toy.Cell(f"{where}, observed", str(observed[k]), exact[0]),
                toy.Cell(f"{where}, expected", expected[k], exact[1]),
            ]
    return cells


def _standard_error(share: float, draws: int) -> float:
    return float(np.sqrt(share * (1 - share) / draws))


def _at_least(count: int, probability: float) -> float:
    from scipy.stats import binom

    return float(binom.sf(count - 1, _SURVEY_DRAWS, probability))
