"""What section 5.2 says of the two-class task and of its uncalibrated classifiers."""

from __future__ import annotations

import numpy as np

from veridical import simulation
from veridical.simulation import survey_binary_task, true_calibration_error
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.noise import share
from veridical_lab._frame.page import Page
from veridical_lab._frame.survey_tasks import N_SCORES, SCORES
from veridical_lab.survey_binary.cells import BinaryStudy, the_line

MODELS = {"f_under": simulation.survey_f_under, "f_over": simulation.survey_f_over}
# Where the survey sees its network: (from, to, whether it is under-confident).
PATTERN = ((0.0, 0.1, True), (0.1, 0.5, False), (0.5, 0.65, False), (0.65, 1.0, True))


def judge_task(page: Page) -> None:
    """The posterior, and how to read the parameters printed."""
    task = survey_binary_task()
    best = task.bayes_figures().accuracy
    page.check(f"Section 5.2, best possible accuracy | {best}")
    halves = task.interval_mass([-np.inf, 0, np.inf])
    lost = best - float(halves[0, 0] + halves[1, 1])
    page.check(f"""Section 5.2, boundary at 0 | nearly Bayes-optimal | {lost} as nearly | accuracy
        lost""")
    wide = simulation.GaussianMixtureTask(
        [4, -72, -4, 64], np.square([980, 1024, 960, 1280]), [0, 0, 1, 1]
    )
    excess = true_calibration_error(wide, simulation.survey_f_under, lens="confidence")
    page.check(f"""Section 5.2, best accuracy if the parameters were standard deviations |
        {wide.bayes_figures().accuracy} | the second parameters printed (960, 1280, 980, 1024) must
        be variances: as standard deviations they leave little to predict, and f_under, which is to
        be under-confident, would be too confident by {excess:.2f}""")


def judge_models(page: Page, study: BinaryStudy, lab: Laboratory) -> None:
    """Figure 12."""
    task, line = survey_binary_task(), the_line()
    for name, model in MODELS.items():
        for lens in ("binary", "confidence"):
            error = true_calibration_error(task, model, lens=lens)
            page.check(f"Fig. 12, {name}, true calibration error, {lens} lens | {error}")
    strength = np.abs(line.posterior[:, 1] - 0.5)
    closer = line.mass @ (np.abs(simulation.survey_f_under(line.x)[:, 1] - 0.5) < strength)
    farther = line.mass @ (np.abs(simulation.survey_f_over(line.x)[:, 1] - 0.5) > strength)
    for name, where, part in (
        ("f_under", "closer to 0.5", closer),
        ("f_over", "closer to 0 and 1", farther),
    ):
        page.check(f"""Fig. 12, {name} against the posterior | {where} than the posterior | {part}
            as most | for this share of rows""")
    outside = line.mass @ (np.abs(simulation.survey_f_under(line.x)[:, 1] - 0.5) > 0.4)
    page.check(f"""Fig. 12, range of f_under | barely leaves 0.1 to 0.9 | {outside} as barely |
        share of rows outside""")
    _judge_slopes(page)
    _judge_network(page, study)
    _judge_sampling(page, lab)


def _judge_slopes(page: Page) -> None:
    under, over = (_slope(name, 0.25, 0.75) for name in MODELS)
    centre = _slope("f_under", 0.45, 0.55)
    page.check(f"""
        - Fig. 12, slope of f_under | steeper than the diagonal | {under} > 1 | from 0.25 to 0.75;
          not so from 0.45 to 0.55, where it is {centre:.2f}, because both classes have a mode near
          0
        - Fig. 12, slope of f_over | shallower than the diagonal around the middle | {over} < 1 |
          from 0.25 to 0.75
    """)
    ends = min(_slope("f_over", 0.001, 0.05), _slope("f_over", 0.95, 0.999))
    page.check(f"""Fig. 12, ends of f_over | sharp transitions towards 0 and 1 | {ends} as sharp |
        smaller slope of 0.001 to 0.05 and 0.95 to 0.999""")


def _slope(name: str, low: float, high: float) -> float:
    ends = simulation.true_reliability(survey_binary_task(), MODELS[name], [low, high])
    return float(ends[1] - ends[0]) / (high - low)


def _judge_network(page: Page, study: BinaryStudy) -> None:
    """Under-confident: below 0.5 the frequency is lower than the score, above it is higher."""
    lean = np.array(
        [
            [truth.tilt(low, high) * (1 if low >= 0.5 else -1) > 0 for low, high, _ in PATTERN]
            for truth in study.truths["MLP"]
        ]
    )
    both = share(lean.any(axis=1) & ~lean.all(axis=1))
    n = f"{len(lean)} network" + "s" * (len(lean) > 1)
    page.check(f"""Fig. 12, network | over-confident in places and under-confident in others |
        {both} as most | share of {n}""")
    same = share((lean == [under for _, _, under in PATTERN]).all(axis=1))
    page.check(f"""Fig. 12, where the network is under-confident | in 0 to 0.1 and 0.65 to 1 only |
        {same} as most | share of {n}, trained on other rows, with that pattern; the survey shows
        one of them and gives no seed""")


def _judge_sampling(page: Page, lab: Laboratory) -> None:
    """The survey's way to a smooth curve against quadrature, in units of the binomial noise."""
    task, n = survey_binary_task(), 200_000 if lab.quick else 1_000_000
    worst = 0.0
    for name, model in MODELS.items():
        rows = task.sample(n, rng=lab.rng("Figure 12", name))
        score = model(rows.x)[:, 1]
        cell = np.minimum((score * N_SCORES).astype(np.int64), N_SCORES - 1)
        count, hits = np.bincount(cell, minlength=N_SCORES), np.bincount(cell, rows.y, N_SCORES)
        full = count >= n / 1000
        rate = hits[full] / count[full]
        truth = simulation.true_reliability(task, model, SCORES[full], n_nodes=1 << 14)
        worst = max(worst, float(np.abs(rate - truth).max()))
    page.check(f"""Fig. 12, curves from draws | many rows in small bins approximate the true diagram
        | {worst} as approximately | largest distance from quadrature over {N_SCORES} bins with a
        thousandth or more of {n:,} rows""")
