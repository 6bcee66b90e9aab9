"""The statements of the survey's section 5.3 on single calibrators, each judged by a number."""

from __future__ import annotations

import numpy as np

from veridical_lab._frame.noise import drawn, share
from veridical_lab._frame.page import Page
from veridical_lab._frame.survey_study import NONE, SURVEY_ROWS, removed
from veridical_lab.survey_binary.cells import CLASSIFIERS, BinaryStudy

TENTHS = tuple((i / 10, (i + 1) / 10) for i in range(10))
_SHARES = f"share of the true calibration error removed, of {', '.join(CLASSIFIERS)}"


def judge_binning(page: Page, study: BinaryStudy) -> None:
    """Figure 13 and section 5.3.1."""
    page.check(f"""Fig. 13, binning works on all three | most points are close to the diagonal after
        it, well removed | {_all(study, "binning", "well")} | {_SHARES}""")
    most = max(int(study.values(name, "binning", "n_values").max()) for name in CLASSIFIERS)
    page.check(f"Fig. 13, values after binning | ten values or less | {most} <= 10")
    under, over = (study.values(name, "binning", "n_values") for name in ("under", "over"))
    page.check(f"""Fig. 13, values of f_under | fewer than the others: no rows near 0 and 1 |
        {drawn(under - over)} < 0 | {under.mean():.1f} values on average, less the {over.mean():.1f}
        of f_over""")
    _judge_grouping(page, study, "binning", "Section 5.3.1, binning trades losses")


def _all(study: BinaryStudy, calibrator: str, word: str) -> str:
    return " and ".join(f"{study.removal(name, calibrator)} as {word}" for name in CLASSIFIERS)


def judge_isotonic(page: Page, study: BinaryStudy) -> None:
    """Figure 14 and section 5.3.2."""
    page.check(f"""Fig. 14, isotonic works on all three | reasonably well |
        {_all(study, "isotonic", "reasonably well")} | {_SHARES}""")
    more = [study.excess(name, "isotonic", "binning", "n_values") for name in CLASSIFIERS]
    page.check(f"""Fig. 14, values after isotonic | a larger variety than binning has |
        {" and ".join(f"{one} > 0" for one in more)} | different values on fresh rows more than
        after binning, of {", ".join(CLASSIFIERS)}""")
    _judge_sides(page, study)
    certain = np.concatenate(
        [
            (study.values(name, "isotonic", "smallest", n) == 0)
            | (study.values(name, "isotonic", "largest", n) == 1)
            for name in CLASSIFIERS
            for n in study.plan.sizes
        ]
    )
    page.check(f"""Section 5.3.2, isotonic is certain at its ends | first and last bins of 0 and 1 |
        {share(certain)} as most | share of fits that gave some fresh row a probability of exactly 0
        or 1""")
    _judge_grouping(page, study, "isotonic", "Section 5.3.2, isotonic adds grouping loss")


def _judge_sides(page: Page, study: BinaryStudy) -> None:
    beside, elsewhere = (1, 2, 3, 6, 7, 8), (0, 4, 5, 9)
    sides, rest = (
        np.mean([study.gaps("over", "isotonic", *TENTHS[i]) for i in which], axis=0)
        for which in (beside, elsewhere)
    )
    ratio = study.told(lambda a, b: a / b, "over", sides, rest)
    rows = study.truths["over"][0].share.reshape(10, 10).sum(axis=1)
    page.check(f"""Fig. 14, isotonic errs left and right of the middle | f_over keeps errors there
        for lack of training points | {ratio} > 1 | mean distance from the true map for scores in
        0.1 to 0.4 and 0.6 to 0.9, divided by that elsewhere ({sides.mean():.4f} and
        {rest.mean():.4f}). A tenth of the scores has {rows[list(beside)].mean():.3f} of the rows
        there, {rows[4:6].mean():.3f} in the middle and {rows[[0, 9]].mean():.3f} at the ends""")


def _judge_grouping(page: Page, study: BinaryStudy, name: str, fact: str) -> None:
    """Losses of the squared score, exact; both sigmoids have no grouping loss to begin with."""
    asked = []
    for classifier in ("under", "over"):
        loss = study.values(classifier, name, "calibration_loss")
        grouping = study.values(classifier, name, "refined") - loss
        saved = study.values(classifier, NONE, "calibration_loss") - loss
        asked += [f"{drawn(grouping)} > 1e-5", f"{drawn(saved)} > 0"]
    page.check(f"""{fact} | less calibration loss for more grouping loss | {" and ".join(asked)} |
        grouping loss, and calibration loss saved, of f_under, then of f_over; neither has grouping
        loss uncalibrated (Brier score, by quadrature)""")


def judge_platt(page: Page, study: BinaryStudy) -> None:
    """Figure 15 and section 5.3.3; the survey's line of the probability itself."""
    page.check(f"""
        - Fig. 15, Platt improves f_under | well | {study.removal("under", "Platt")} as well | share
          of the true calibration error removed
        - Fig. 15, Platt fails with f_over | does not do much | {study.removal("over", "Platt")} as
          not much | share of the true calibration error removed; on log odds instead of
          probabilities Platt scaling removes {study.removed("over", "Platt, log odds"):.2f}
    """)
    maps = np.array([fit["Platt"]["map"] for fit in study.fits["over", SURVEY_ROWS]])
    slope = (maps[:, 52] - maps[:, 47]) / 0.05
    low, high = maps[:, 0], maps[:, -1]
    page.check(f"""Fig. 15, why Platt fails with f_over | a sigmoid cannot push probabilities
        towards the middle | {drawn(slope)} >= 1 and {drawn(low)} <= 0.005 and {drawn(high)} >=
        0.995 | slope of the fitted map in the middle, and where it sends 0.005 and 0.995: it can
        push towards the middle, and does. It fails because the map needed is flat in the middle and
        steep at both ends, and a sigmoid of the probability bends the other way""")
    harm = [
        study.independent("MLP", study.gaps("MLP", "Platt", *part) - study.gaps("MLP", NONE, *part))
        for part in TENTHS
    ]
    second = sorted(harm, key=lambda d: float(d.mean() / max(d.std(ddof=1), 1e-12)))[-2]
    page.check(f"""Fig. 15, Platt on the network | makes calibration worse around several regions |
        {drawn(second)} > 0 | how much farther the map is from the true one than the diagonal, in
        the second worst tenth of the scores; on average it is in
        {sum(float(d.mean()) > 0 for d in harm)} of ten. In all, the true error goes from
        {study.mean("MLP", NONE):.4f} to {study.mean("MLP", "Platt"):.4f}""")


def judge_beta(page: Page, study: BinaryStudy) -> None:
    """Figure 16 and section 5.3.4."""
    page.check(f"""Fig. 16, beta improves f_under | fairly well | {study.removal("under", "beta")}
        as fairly well | share of the true calibration error removed""")
    halves = [
        [study.gaps("over", name, *half) for name in (NONE, "beta", "Platt")]
        for half in ((0, 0.5), (0.5, 1))
    ]
    more = study.told(lambda none, beta, platt: (platt - beta) / none, "over", *halves[0])
    left, right = (study.told(removed, "over", *half[:2]) for half in halves)
    page.check(f"""
        - Fig. 16, beta on f_over below 0.5 | corrects more than Platt scaling | {more} > 0 | share
          of the distance from the true map removed, more than by Platt scaling
        - Fig. 16, beta on f_over above 0.5 | does not help much | {right} as not much | share of
          the distance from the true map removed; below 0.5 it is {float(left.split()[0]):.2f}. Task
          and model are nearly symmetric, and so is the map
    """)
    pair = [study.gaps("MLP", name, 0.6, 1) for name in (NONE, "beta")]
    helped = float((pair[0] > pair[1]).mean())
    page.check(f"""Fig. 16, beta on the network above 0.6 | improves it |
        {study.told(removed, "MLP", *pair)} as improves | share of the distance from the true map
        removed; it helped in {helped:.0%} of {len(pair[0])} repetitions, over
        {len(study.truths["MLP"])} networks""")
    apart = np.array([pair["beta"] for pair in study.twins])
    ratio = study.told(lambda a, b: a / b, "over", apart, study.values("over", "beta"))
    page.check(f"""Fig. 16, beta on both sigmoids | almost identical after calibration | {ratio} as
        almost identical | mean distance between both calibrated models, fitted to the same rows,
        divided by their true error of {study.mean("over", "beta"):.4f}. Distance with Platt scaling
        of log odds: {np.mean([pair["Platt, log odds"] for pair in study.twins]):.5f}""")
    beta, platt = (study.values("posterior", name) for name in ("beta", "Platt"))
    page.check(f"""Section 5.3.4, beta holds the identity | and so leaves calibrated probabilities
        alone | {drawn(beta)} as leaves alone and {drawn(platt - beta)} > 0 | true calibration error
        it gives to the posterior itself, and how much more Platt scaling gives it""")
    ratios = [
        study.told(lambda a, b: a / b, name, *(study.values(name, n) for n in ("isotonic", "beta")))
        for name in ("under", "over")
    ]
    page.check(f"""Section 5.3.4, complicated maps | non-parametric methods are preferable then |
        {" and ".join(f"{ratio} < 1" for ratio in ratios)} | true error of isotonic regression
        divided by that of beta calibration, of both sigmoids, on {SURVEY_ROWS:,} rows""")
