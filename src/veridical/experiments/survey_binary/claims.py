"""The statements of the survey's section 5.3 on single calibrators, each judged by a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.experiments._frame.page import Page
from veridical.experiments.survey_binary.cells import CLASSIFIERS, NONE, Study

WELL, LITTLE = 0.4, 0.2  # shares of the error removed: "well" is above the first
TENTHS = tuple((i / 10, (i + 1) / 10) for i in range(10))


def judge_binning(page: Page, study: Study) -> None:
    """Figure 13 and section 5.3.1."""
    removed = [study.removed(name, "binning") for name in CLASSIFIERS]
    page.claim(
        "Fig. 13, binning works on all three", "most points are close to the diagonal after it",
        holds=min(removed) > WELL, value=min(removed),
        reason=_listed(removed),
    )  # fmt: skip
    most = max(int(study.values(name, "binning", "n_values").max()) for name in CLASSIFIERS)
    page.claim("Fig. 13, values after binning", "ten values or less", holds=most <= 10, value=most)
    under, over = (
        float(study.values(name, "binning", "n_values").mean()) for name in ("under", "over")
    )
    page.claim(
        "Fig. 13, values of f_under", "fewer than the others: no rows near 0 and 1",
        holds=under < over, value=under, reason=f"on average, against {over:.1f} of f_over",
    )  # fmt: skip
    _judge_grouping(page, study, "binning", "Section 5.3.1, binning trades losses")


def _listed(removed: Sequence[float]) -> str:
    shares = ", ".join(f"{n} {part:.2f}" for n, part in zip(CLASSIFIERS, removed, strict=True))
    return f"smallest share of the true calibration error removed: {shares}"


def judge_isotonic(page: Page, study: Study) -> None:
    """Figure 14 and section 5.3.2."""
    removed = [study.removed(name, "isotonic") for name in CLASSIFIERS]
    page.claim(
        "Fig. 14, isotonic works on all three", "reasonably well",
        holds=min(removed) > WELL, value=min(removed),
        reason=_listed(removed),
    )  # fmt: skip
    fewest = min(int(study.values(name, "isotonic", "n_values").min()) for name in CLASSIFIERS)
    page.claim(
        "Fig. 14, values after isotonic", "a larger variety than binning has",
        holds=fewest > 10, value=fewest, reason="fewest different values on fresh rows",
    )  # fmt: skip
    _judge_sides(page, study)
    certain = np.concatenate(
        [
            (study.values(name, "isotonic", "smallest", n) == 0)
            | (study.values(name, "isotonic", "largest", n) == 1)
            for name in CLASSIFIERS
            for n in study.plan.sizes
        ]
    )
    page.claim(
        "Section 5.3.2, isotonic is certain at its ends", "first and last bins of 0 and 1",
        holds=bool(certain.mean() > 0.5), value=float(certain.mean()),
        reason="share of fits that gave some fresh row a probability of exactly 0 or 1",
    )  # fmt: skip
    _judge_grouping(page, study, "isotonic", "Section 5.3.2, isotonic adds grouping loss")


def _judge_sides(page: Page, study: Study) -> None:
    beside, elsewhere = (1, 2, 3, 6, 7, 8), (0, 4, 5, 9)
    sides, rest = (
        float(np.mean([study.gaps("over", "isotonic", *TENTHS[i]) for i in which]))
        for which in (beside, elsewhere)
    )
    rows = study.truths["over"][0].share.reshape(10, 10).sum(axis=1)
    page.claim(
        "Fig. 14, isotonic errs left and right of the middle",
        "f_over keeps errors there for lack of training points",
        holds=sides > 1.25 * rest, value=sides / rest,
        reason="mean distance from the true map for scores in 0.1 to 0.4 and 0.6 to 0.9, divided "
        f"by that elsewhere ({sides:.4f} and {rest:.4f}). A tenth of the scores has "
        f"{rows[list(beside)].mean():.3f} of the rows there, {rows[4:6].mean():.3f} in the middle "
        f"and {rows[[0, 9]].mean():.3f} at the ends",
    )  # fmt: skip


def _judge_grouping(page: Page, study: Study, name: str, fact: str) -> None:
    """Losses of the squared score, exact; both sigmoids have no grouping loss to begin with."""
    grouping, saved = [], []
    for classifier in ("under", "over"):
        loss = study.values(classifier, name, "calibration_loss")
        grouping.append(float((study.values(classifier, name, "refined") - loss).mean()))
        saved.append(float((study.values(classifier, NONE, "calibration_loss") - loss).mean()))
    page.claim(
        fact, "less calibration loss for more grouping loss",
        holds=min(grouping) > 1e-5 and min(saved) > 0, value=max(grouping),
        reason="larger grouping loss of the two sigmoids, which have none uncalibrated "
        f"({grouping[0]:.5f} and {grouping[1]:.5f}, for {saved[0]:.5f} and {saved[1]:.5f} of "
        "calibration loss saved; Brier score, by quadrature)",
    )  # fmt: skip


def judge_platt(page: Page, study: Study) -> None:
    """Figure 15 and section 5.3.3; the survey's line of the probability itself."""
    under, over = (study.removed(name, "Platt") for name in ("under", "over"))
    page.claim(
        "Fig. 15, Platt improves f_under", "well", holds=under > WELL, value=under,
        reason="share of the true calibration error removed",
    )  # fmt: skip
    page.claim(
        "Fig. 15, Platt fails with f_over", "does not do much", holds=over < LITTLE, value=over,
        reason="share of the true calibration error removed; on log odds instead of probabilities "
        f"Platt scaling removes {study.removed('over', 'Platt, log odds'):.2f}",
    )  # fmt: skip
    maps = np.array([fit["Platt"]["map"] for fit in study.fits["over", 10_000]]).mean(axis=0)
    slope = float((maps[52] - maps[47]) / 0.05)
    outwards = maps[0] <= 0.005 and maps[-1] >= 0.995 and slope >= 1
    why = (
        f"it can, and does: the fitted map has slope {slope:.2f} in the middle and sends 0.005 and "
        f"0.995 to {maps[0]:.2f} and {maps[-1]:.2f}. It fails because the map needed is flat in "
        "the middle and steep at both ends, and a sigmoid of the probability bends the other way"
    )
    page.claim(
        "Fig. 15, why Platt fails with f_over",
        "a sigmoid cannot push probabilities towards the middle",
        holds=outwards, value=slope, reason="" if outwards else why,
    )  # fmt: skip
    worse = sum(
        study.gaps("MLP", "Platt", *part).mean() > study.gaps("MLP", NONE, *part).mean()
        for part in TENTHS
    )
    page.claim(
        "Fig. 15, Platt on the network", "makes calibration worse around several regions",
        holds=worse >= 2, value=float(worse),
        reason="tenths of the scores in which the map is farther from the true one than the "
        f"diagonal; in all, the true error goes from {study.values('MLP', NONE).mean():.4f} to "
        f"{study.values('MLP', 'Platt').mean():.4f}",
    )  # fmt: skip


def judge_beta(page: Page, study: Study) -> None:
    """Figure 16 and section 5.3.4."""
    under = study.removed("under", "beta")
    page.claim(
        "Fig. 16, beta improves f_under", "fairly well", holds=under > WELL, value=under,
        reason="share of the true calibration error removed",
    )  # fmt: skip
    left, right = (study.gap_removed("over", "beta", *half) for half in ((0, 0.5), (0.5, 1)))
    platt = study.gap_removed("over", "Platt", 0, 0.5)
    page.claim(
        "Fig. 16, beta on f_over below 0.5", "corrects more than Platt scaling",
        holds=left > platt, value=left,
        reason=f"share of the distance from the true map removed; Platt scaling: {platt:.2f}",
    )  # fmt: skip
    page.claim(
        "Fig. 16, beta on f_over above 0.5", "does not help much",
        holds=right < LITTLE, value=right,
        reason=f"share of the distance from the true map removed; below 0.5 it is {left:.2f}. Task "
        "and model are nearly symmetric, and so is the map",
    )  # fmt: skip
    high = study.gap_removed("MLP", "beta", 0.6, 1)
    single = study.gaps("MLP", NONE, 0.6, 1) - study.gaps("MLP", "beta", 0.6, 1)
    helped = float((single > 0).mean())
    page.claim(
        "Fig. 16, beta on the network above 0.6", "improves it",
        holds=high > 0, value=high,
        reason=f"share of the distance from the true map removed; it helped in {helped:.0%} of "
        f"{len(single)} repetitions, over {len(study.truths['MLP'])} network(s)",
    )  # fmt: skip
    apart = float(np.mean([pair["beta"] for pair in study.twins]))
    error = float(study.values("over", "beta").mean())
    page.claim(
        "Fig. 16, beta on both sigmoids", "almost identical after calibration",
        holds=apart < 0.2 * error, value=apart,
        reason=f"mean distance between both calibrated models, fitted to the same rows; their "
        f"true error is {error:.4f}. Platt scaling of log odds: "
        f"{np.mean([pair['Platt, log odds'] for pair in study.twins]):.5f}",
    )  # fmt: skip
    beta, platt_after = (float(study.values("posterior", n).mean()) for n in ("beta", "Platt"))
    page.claim(
        "Section 5.3.4, beta holds the identity", "and so leaves calibrated probabilities alone",
        holds=beta < 0.02 and platt_after > 2 * beta, value=beta,
        reason="true calibration error it gives to the posterior itself; Platt scaling gives it "
        f"{platt_after:.4f}",
    )  # fmt: skip
    worst = max(study.values(n, "isotonic").mean() / study.values(n, "beta").mean()
                for n in ("under", "over"))  # fmt: skip
    page.claim(
        "Section 5.3.4, complicated maps", "non-parametric methods are preferable then",
        holds=bool(worst < 1), value=float(worst),
        reason="true error of isotonic regression divided by that of beta calibration, the larger "
        "of both sigmoids, on 10,000 rows",
    )  # fmt: skip
