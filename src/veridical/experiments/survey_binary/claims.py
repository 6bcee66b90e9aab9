"""The statements of the survey's section 5.3 on single calibrators, each judged by a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.experiments._frame.page import Page
from veridical.experiments._frame.survey_study import NONE
from veridical.experiments.survey_binary.cells import CLASSIFIERS, BinaryStudy

WELL, LITTLE = 0.4, 0.2  # shares of the error removed: "well" is above the first
TENTHS = tuple((i / 10, (i + 1) / 10) for i in range(10))


def judge_binning(page: Page, study: BinaryStudy) -> None:
    """Figure 13 and section 5.3.1."""
    removed = [study.removed(name, "binning") for name in CLASSIFIERS]
    page.check(f"""Fig. 13, binning works on all three | most points are close to the diagonal after
        it | {min(removed)} > {WELL} | {_listed(removed)}""")
    most = max(int(study.values(name, "binning", "n_values").max()) for name in CLASSIFIERS)
    page.check(f"Fig. 13, values after binning | ten values or less | {most} <= 10")
    under, over = (study.mean(name, "binning", "n_values") for name in ("under", "over"))
    page.check(f"""Fig. 13, values of f_under | fewer than the others: no rows near 0 and 1 |
        {under} < {over} | on average, against {over:.1f} of f_over""")
    _judge_grouping(page, study, "binning", "Section 5.3.1, binning trades losses")


def _listed(removed: Sequence[float]) -> str:
    shares = ", ".join(f"{n} {part:.2f}" for n, part in zip(CLASSIFIERS, removed, strict=True))
    return f"smallest share of the true calibration error removed: {shares}"


def judge_isotonic(page: Page, study: BinaryStudy) -> None:
    """Figure 14 and section 5.3.2."""
    removed = [study.removed(name, "isotonic") for name in CLASSIFIERS]
    page.check(f"""Fig. 14, isotonic works on all three | reasonably well | {min(removed)} > {WELL}
        | {_listed(removed)}""")
    fewest = min(int(study.values(name, "isotonic", "n_values").min()) for name in CLASSIFIERS)
    page.check(f"""Fig. 14, values after isotonic | a larger variety than binning has | {fewest} >
        10 | fewest different values on fresh rows""")
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
        {certain.mean()} > 0.5 | share of fits that gave some fresh row a probability of exactly 0
        or 1""")
    _judge_grouping(page, study, "isotonic", "Section 5.3.2, isotonic adds grouping loss")


def _judge_sides(page: Page, study: BinaryStudy) -> None:
    beside, elsewhere = (1, 2, 3, 6, 7, 8), (0, 4, 5, 9)
    sides, rest = (
        float(np.mean([study.gaps("over", "isotonic", *TENTHS[i]) for i in which]))
        for which in (beside, elsewhere)
    )
    rows = study.truths["over"][0].share.reshape(10, 10).sum(axis=1)
    page.check(f"""Fig. 14, isotonic errs left and right of the middle | f_over keeps errors there
        for lack of training points | {sides / rest} is {sides > 1.25 * rest} | mean distance from
        the true map for scores in 0.1 to 0.4 and 0.6 to 0.9, divided by that elsewhere ({sides:.4f}
        and {rest:.4f}). A tenth of the scores has {rows[list(beside)].mean():.3f} of the rows
        there, {rows[4:6].mean():.3f} in the middle and {rows[[0, 9]].mean():.3f} at the ends""")


def _judge_grouping(page: Page, study: BinaryStudy, name: str, fact: str) -> None:
    """Losses of the squared score, exact; both sigmoids have no grouping loss to begin with."""
    grouping, saved = [], []
    for classifier in ("under", "over"):
        loss = study.values(classifier, name, "calibration_loss")
        grouping.append(float((study.values(classifier, name, "refined") - loss).mean()))
        saved.append(float((study.values(classifier, NONE, "calibration_loss") - loss).mean()))
    page.check(f"""{fact} | less calibration loss for more grouping loss | {max(grouping)} is
        {min(grouping) > 1e-5 and min(saved) > 0} | larger grouping loss of the two sigmoids, which
        have none uncalibrated ({grouping[0]:.5f} and {grouping[1]:.5f}, for {saved[0]:.5f} and
        {saved[1]:.5f} of calibration loss saved; Brier score, by quadrature)""")


def judge_platt(page: Page, study: BinaryStudy) -> None:
    """Figure 15 and section 5.3.3; the survey's line of the probability itself."""
    under, over = (study.removed(name, "Platt") for name in ("under", "over"))
    page.check(f"""
        - Fig. 15, Platt improves f_under | well | {under} > {WELL} | share of the true calibration
          error removed
        - Fig. 15, Platt fails with f_over | does not do much | {over} < {LITTLE} | share of the
          true calibration error removed; on log odds instead of probabilities Platt scaling removes
          {study.removed("over", "Platt, log odds"):.2f}
    """)
    maps = np.array([fit["Platt"]["map"] for fit in study.fits["over", 10_000]]).mean(axis=0)
    slope = float((maps[52] - maps[47]) / 0.05)
    outwards = maps[0] <= 0.005 and maps[-1] >= 0.995 and slope >= 1
    why = (
        f"it can, and does: the fitted map has slope {slope:.2f} in the middle and sends 0.005 and "
        f"0.995 to {maps[0]:.2f} and {maps[-1]:.2f}. It fails because the map needed is flat in "
        "the middle and steep at both ends, and a sigmoid of the probability bends the other way"
    )
    page.check(f"""Fig. 15, why Platt fails with f_over | a sigmoid cannot push probabilities
        towards the middle | {slope} is {outwards} | {"" if outwards else why}""")
    worse = sum(
        study.gaps("MLP", "Platt", *part).mean() > study.gaps("MLP", NONE, *part).mean()
        for part in TENTHS
    )
    page.check(f"""Fig. 15, Platt on the network | makes calibration worse around several regions |
        {worse} >= 2 | tenths of the scores in which the map is farther from the true one than the
        diagonal; in all, the true error goes from {study.mean("MLP", NONE):.4f} to
        {study.mean("MLP", "Platt"):.4f}""")


def judge_beta(page: Page, study: BinaryStudy) -> None:
    """Figure 16 and section 5.3.4."""
    under = study.removed("under", "beta")
    page.check(f"""Fig. 16, beta improves f_under | fairly well | {under} > {WELL} | share of the
        true calibration error removed""")
    left, right = (study.gap_removed("over", "beta", *half) for half in ((0, 0.5), (0.5, 1)))
    platt = study.gap_removed("over", "Platt", 0, 0.5)
    page.check(f"""
        - Fig. 16, beta on f_over below 0.5 | corrects more than Platt scaling | {left} > {platt} |
          share of the distance from the true map removed; Platt scaling: {platt:.2f}
        - Fig. 16, beta on f_over above 0.5 | does not help much | {right} < {LITTLE} | share of the
          distance from the true map removed; below 0.5 it is {left:.2f}. Task and model are nearly
          symmetric, and so is the map
    """)
    high = study.gap_removed("MLP", "beta", 0.6, 1)
    single = study.gaps("MLP", NONE, 0.6, 1) - study.gaps("MLP", "beta", 0.6, 1)
    helped = float((single > 0).mean())
    page.check(f"""Fig. 16, beta on the network above 0.6 | improves it | {high} > 0 | share of the
        distance from the true map removed; it helped in {helped:.0%} of {len(single)} repetitions,
        over {len(study.truths["MLP"])} network(s)""")
    apart = float(np.mean([pair["beta"] for pair in study.twins]))
    error = study.mean("over", "beta")
    page.check(f"""Fig. 16, beta on both sigmoids | almost identical after calibration | {apart} <
        {0.2 * error} | mean distance between both calibrated models, fitted to the same rows; their
        true error is {error:.4f}. Platt scaling of log odds:
        {np.mean([pair["Platt, log odds"] for pair in study.twins]):.5f}""")
    beta, platt_after = (study.mean("posterior", n) for n in ("beta", "Platt"))
    page.check(f"""Section 5.3.4, beta holds the identity | and so leaves calibrated probabilities
        alone | {beta} is {beta < 0.02 and platt_after > 2 * beta} | true calibration error it gives
        to the posterior itself; Platt scaling gives it {platt_after:.4f}""")
    worst = max(study.mean(n, "isotonic") / study.mean(n, "beta") for n in ("under", "over"))
    page.check(f"""Section 5.3.4, complicated maps | non-parametric methods are preferable then |
        {worst} < 1 | true error of isotonic regression divided by that of beta calibration, the
        larger of both sigmoids, on 10,000 rows""")
