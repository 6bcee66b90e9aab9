"""The statements of the survey's section 5.4 on single calibrators, each judged by a number."""

from __future__ import annotations

import numpy as np

from veridical.experiments._frame.page import Page
from veridical.experiments._frame.survey_study import NONE, removed
from veridical.experiments._frame.survey_tasks import Network
from veridical.experiments.survey_multiclass.cells import FEW_ROWS, SURVEYED, ThreeClassStudy
from veridical.simulation import GaussianMixtureTask, survey_three_class_task

SEEN, UNSEEN = range(1, 4), (0, *range(4, 10))  # tenths of scores: 0.1 to 0.4, and elsewhere
NO_SEED = "the survey shows one network and gives no seed"


def judge_task(page: Page, study: ThreeClassStudy) -> None:
    """The cap of class 3, which says how to read its second parameter."""
    x = np.linspace(-60, 60, 4801)
    task = survey_three_class_task()
    page.check(f"""
        - Section 5.4, best possible accuracy | {task.bayes_figures().accuracy}
        - Fig. 20, cap of the posterior of class 3 | {task.posterior(x)[:, 2].max()} = 0.8 ± 0.05 |
          printed: around 0.8; with standard deviation 8
    """)
    means, variances = [-4, 64, 4, -72, 0], [960, 1280, 980, 1024, 8]
    narrow = GaussianMixtureTask(means, variances, [0, 0, 1, 1, 2])
    page.check(f"""Fig. 20, cap if the second parameter were a variance |
        {narrow.posterior(x)[:, 2].max()} | Gaussian(0, 8) must name a standard deviation, unlike
        all others, which are variances""")
    caps = [float(Network(**n)(x[:, None])[:, 2].max()) for n in study.networks]
    page.check(f"""Fig. 20, cap of the network's class 3 | {np.mean(caps)} = 0.8 ± 0.1 | mean of
        {len(caps)}, from {min(caps):.2f} to {max(caps):.2f}; {NO_SEED}""")


def judge_temperature(page: Page, study: ThreeClassStudy) -> None:
    """Figure 17 and section 5.4.1."""
    unlike = float(study.compared("temperature, classes treated alike").max())
    page.check(f"""Fig. 17, one map for all classes | the same for all three | {unlike} < 1e-9 |
        largest change of the map when classes trade places""")
    before, after = (study.gap(name, (1, 2), SEEN) for name in (NONE, "temperature"))
    page.check(f"""Fig. 17, temperature in 0.1 to 0.4 | improves classes 1 and 2 |
        {removed(before, after)} is {after < before} | share of the gap removed there; {before:.4f}
        before, {after:.4f} after""")
    parts = {
        "classes 1 and 2 elsewhere": [study.gap(n, (1, 2), UNSEEN) for n in (NONE, "temperature")],
        "class 3": [study.class_error(n, 3) for n in (NONE, "temperature")],
    }
    told = ", ".join(f"{part} {a:.4f} to {b:.4f}" for part, (a, b) in parts.items())
    page.check(f"""Fig. 17, temperature elsewhere | makes things worse |
        {min(b / a for a, b in parts.values())} is {all(b > a for a, b in parts.values())} |
        smaller ratio of gaps after and before: {told}, means over {len(study.networks)} network(s);
        {NO_SEED}""")
    few = {
        n: study.mean("MLP", n, "divergence", FEW_ROWS)
        for n in ("temperature", "matrix", "Dirichlet")
    }
    page.check(f"""Section 5.4.1, one parameter | can prevent overfitting on few rows |
        {few["temperature"]} < {min(few["matrix"], few["Dirichlet"])} | log loss above the best
        possible on {FEW_ROWS} rows, in nats; matrix {few["matrix"]:.4f}, Dirichlet
        {few["Dirichlet"]:.4f}, uncalibrated
        {study.mean("MLP", NONE, "divergence", FEW_ROWS):.4f}""")
    many = {n: study.mean("MLP", n, "divergence") for n in ("temperature", "matrix")}
    page.check(f"""Section 5.4.1, wrong family | sub-optimal where the map needed is none of its own
        | {many["temperature"] / many["matrix"]} is {many["temperature"] > 1.2 * many["matrix"]} |
        log loss above the best possible on 10,000 rows, divided by that of matrix scaling""")
    inside = study.mean("over", "temperature")
    page.check(f"""Temperature scaling within its family, true classwise error | {inside} | of the
        squared posterior, which a temperature of 2 puts right; uncalibrated
        {study.mean("over", NONE):.4f}""")


def judge_vector(page: Page, study: ThreeClassStudy) -> None:
    """Figure 18 and section 5.4.2."""
    unlike = float(study.compared("vector, classes treated alike").min())
    page.check(f"""Fig. 18, a map for each class | different for each | {unlike} > 0.001 | smallest
        change of the map when classes trade places""")
    _judge_closeness(page, study, "Fig. 18, vector against temperature", "temperature", "vector")
    errors = {name: study.class_error(name, 3) for name in (NONE, "temperature", "vector")}
    page.check(f"""Fig. 18, vector on class 3 | not quite as bad as temperature scaling |
        {errors["vector"]} < {errors["temperature"]} | true calibration error; temperature
        {errors["temperature"]:.4f}, uncalibrated {errors[NONE]:.4f}""")
    few, many = (
        [study.mean("MLP", name, "divergence", n) for name in ("temperature", "vector", "matrix")]
        for n in (FEW_ROWS, study.plan.sizes[-1])
    )
    page.check(f"""Section 5.4.2, vector is a middle way | between temperature and matrix scaling in
        overfitting and richness | {many[1]} is
        {few == sorted(few) and many == sorted(many, reverse=True)} | log loss above the best
        possible of temperature, vector and matrix: {_listed(few)} on {FEW_ROWS} rows,
        {_listed(many)} on 10,000""")


def _judge_closeness(page: Page, study: ThreeClassStudy, fact: str, one: str, other: str) -> None:
    apart = study.diagrams_apart(one, other)
    models = float(study.compared(f"{one} to {other}").mean())
    page.check(f"""{fact} | class-wise reliability diagrams are close | {apart} < 0.5 | difference
        of their gaps in tenths of the scores, relative to the gaps after {one} scaling; true errors
        are {study.mean("MLP", one):.4f} and {study.mean("MLP", other):.4f}, both calibrated models
        {models:.4f} apart; {NO_SEED}""")


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.4f}" for value in values)


def judge_matrix(page: Page, study: ThreeClassStudy) -> None:
    """Figure 19 and section 5.4.3."""
    gains = {
        part: removed(study.class_error(NONE, *classes), study.class_error("matrix", *classes))
        for part, classes in (("1 and 2", (1, 2)), ("3", (3,)))
    }
    page.check(f"""
        - Fig. 19, matrix on classes 1 and 2 | minor improvements | {gains["1 and 2"]} > 0 | share
          of the true calibration error removed: an improvement, be it minor or not
        - Fig. 19, matrix on class 3 | a significant improvement | {gains["3"]} >
          {max(0.4, gains["1 and 2"])} | share of the true calibration error removed, against
          {gains["1 and 2"]:.2f} for classes 1 and 2; from {study.class_error(NONE, 3):.4f} to
          {study.class_error("matrix", 3):.4f}, where temperature scaling has
          {study.class_error("temperature", 3):.4f}. {NO_SEED.capitalize()}
    """)
    harm = study.mean("MLP", "matrix", "divergence", FEW_ROWS)
    before = study.mean("MLP", NONE, "divergence", FEW_ROWS)
    page.check(f"""Section 5.4.3, matrix overfits | vulnerable | {harm / before} is {harm > before}
        | log loss above the best possible on {FEW_ROWS} rows, divided by that of the uncalibrated
        network""")


def judge_dirichlet(page: Page, study: ThreeClassStudy) -> None:
    """Figure 20 and section 5.4.4."""
    _judge_closeness(page, study, "Fig. 20, Dirichlet against matrix", "matrix", "Dirichlet")
    change = {
        name: float(np.abs(study.compared(f"{name}, change near certainty")).mean())
        for name in SURVEYED
    }
    page.check(f"""Fig. 20, Dirichlet near certainty of class 3 | changes less there than matrix
        scaling | {change["Dirichlet"]} < {change["matrix"]} | mean change of a probability of 0.95,
        which no row gets; matrix scaling {change["matrix"]:.4f}. The rows say nothing of that
        place; {NO_SEED}""")
    left = study.mean("posterior", "Dirichlet")
    page.check(f"""Section 5.4.4, Dirichlet holds the identity | does not over-adjust calibrated
        results | {left} < 0.02 | true classwise error it gives to the posterior itself on 10,000
        rows""")
    plain, odir = (
        study.mean("MLP", name, "divergence", FEW_ROWS) for name in ("Dirichlet", "Dirichlet, ODIR")
    )
    page.check(f"""
        - Section 5.4.4, Dirichlet overfits | on small datasets | {plain} >
          {study.mean("MLP", NONE, "divergence", FEW_ROWS)} | log loss above the best possible on
          {FEW_ROWS} rows; uncalibrated {study.mean("MLP", NONE, "divergence", FEW_ROWS):.4f}
        - Section 5.4.4, ODIR | addresses it | {odir} < {plain} | the same with off-diagonal and
          intercept regularisation
    """)
