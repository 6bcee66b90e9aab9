"""The statements of the survey's section 5.4 on single calibrators, each judged by a number."""

from __future__ import annotations

import numpy as np

from veridical.experiments._frame.page import Page
from veridical.experiments._frame.survey_tasks import Network
from veridical.experiments.survey_multiclass.cells import FEW_ROWS, NONE, SURVEYED, Study, removed
from veridical.simulation import GaussianMixtureTask, survey_three_class_task

SEEN, UNSEEN = range(1, 4), (0, *range(4, 10))  # tenths of scores: 0.1 to 0.4, and elsewhere
NO_SEED = "the survey shows one network and gives no seed"


def judge_task(page: Page, study: Study) -> None:
    """The cap of class 3, which says how to read its second parameter."""
    x = np.linspace(-60, 60, 4801)
    task = survey_three_class_task()
    page.number("Section 5.4, best possible accuracy", task.bayes_figures().accuracy)
    page.number(
        "Fig. 20, cap of the posterior of class 3", float(task.posterior(x)[:, 2].max()),
        printed=0.8, tolerance=0.05, reason="printed: around 0.8; with standard deviation 8",
    )  # fmt: skip
    means, variances = [-4, 64, 4, -72, 0], [960, 1280, 980, 1024, 8]
    narrow = GaussianMixtureTask(means, variances, [0, 0, 1, 1, 2])
    page.number(
        "Fig. 20, cap if the second parameter were a variance",
        float(narrow.posterior(x)[:, 2].max()),
        reason="Gaussian(0, 8) must name a standard deviation, unlike all others, which are "
        "variances",
    )
    caps = [float(Network(**n)(x[:, None])[:, 2].max()) for n in study.networks]
    page.number(
        "Fig. 20, cap of the network's class 3", float(np.mean(caps)), printed=0.8, tolerance=0.1,
        reason=f"mean of {len(caps)}, from {min(caps):.2f} to {max(caps):.2f}; {NO_SEED}",
    )  # fmt: skip


def judge_temperature(page: Page, study: Study) -> None:
    """Figure 17 and section 5.4.1."""
    unlike = float(study.compared("temperature, classes treated alike").max())
    page.claim(
        "Fig. 17, one map for all classes", "the same for all three", holds=unlike < 1e-9,
        value=unlike, reason="largest change of the map when classes trade places",
    )  # fmt: skip
    before, after = (study.gap(name, (1, 2), SEEN) for name in (NONE, "temperature"))
    page.claim(
        "Fig. 17, temperature in 0.1 to 0.4", "improves classes 1 and 2", holds=after < before,
        value=removed(before, after),
        reason=f"share of the gap removed there; {before:.4f} before, {after:.4f} after",
    )  # fmt: skip
    parts = {
        "classes 1 and 2 elsewhere": [study.gap(n, (1, 2), UNSEEN) for n in (NONE, "temperature")],
        "class 3": [study.class_error(n, 3) for n in (NONE, "temperature")],
    }
    told = ", ".join(f"{part} {a:.4f} to {b:.4f}" for part, (a, b) in parts.items())
    page.claim(
        "Fig. 17, temperature elsewhere", "makes things worse",
        holds=all(b > a for a, b in parts.values()),
        value=min(b / a for a, b in parts.values()),
        reason=f"smaller ratio of gaps after and before: {told}, means over "
        f"{len(study.networks)} network(s); {NO_SEED}",
    )  # fmt: skip
    few = {n: study.mean(n, "divergence", FEW_ROWS) for n in ("temperature", "matrix", "Dirichlet")}
    page.claim(
        "Section 5.4.1, one parameter", "can prevent overfitting on few rows",
        holds=few["temperature"] < min(few["matrix"], few["Dirichlet"]), value=few["temperature"],
        reason=f"log loss above the best possible on {FEW_ROWS} rows, in nats; "
        f"matrix {few['matrix']:.4f}, Dirichlet {few['Dirichlet']:.4f}, "
        f"uncalibrated {study.mean(NONE, 'divergence', FEW_ROWS):.4f}",
    )  # fmt: skip
    many = {n: study.mean(n, "divergence") for n in ("temperature", "matrix")}
    page.claim(
        "Section 5.4.1, wrong family", "sub-optimal where the map needed is none of its own",
        holds=many["temperature"] > 1.2 * many["matrix"],
        value=many["temperature"] / many["matrix"],
        reason="log loss above the best possible on 10,000 rows, divided by that of matrix scaling",
    )  # fmt: skip
    inside = study.mean("temperature", model="over")
    page.number(
        "Temperature scaling within its family, true classwise error",
        inside,
        reason="of the squared posterior, which a temperature of 2 puts right; uncalibrated "
        f"{study.mean(NONE, model='over'):.4f}",
    )


def judge_vector(page: Page, study: Study) -> None:
    """Figure 18 and section 5.4.2."""
    unlike = float(study.compared("vector, classes treated alike").min())
    page.claim(
        "Fig. 18, a map for each class", "different for each", holds=unlike > 1e-3, value=unlike,
        reason="smallest change of the map when classes trade places",
    )  # fmt: skip
    _judge_closeness(page, study, "Fig. 18, vector against temperature", "temperature", "vector")
    errors = {name: study.class_error(name, 3) for name in (NONE, "temperature", "vector")}
    page.claim(
        "Fig. 18, vector on class 3", "not quite as bad as temperature scaling",
        holds=errors["vector"] < errors["temperature"], value=errors["vector"],
        reason=f"true calibration error; temperature {errors['temperature']:.4f}, uncalibrated "
        f"{errors[NONE]:.4f}",
    )  # fmt: skip
    few, many = (
        [study.mean(name, "divergence", n) for name in ("temperature", "vector", "matrix")]
        for n in (FEW_ROWS, study.plan.sizes[-1])
    )
    page.claim(
        "Section 5.4.2, vector is a middle way",
        "between temperature and matrix scaling in overfitting and richness",
        holds=few == sorted(few) and many == sorted(many, reverse=True), value=many[1],
        reason="log loss above the best possible of temperature, vector and matrix: "
        + _listed(few) + f" on {FEW_ROWS} rows, " + _listed(many) + " on 10,000",
    )  # fmt: skip


def _judge_closeness(page: Page, study: Study, fact: str, one: str, other: str) -> None:
    apart = study.diagrams_apart(one, other)
    models = float(study.compared(f"{one} to {other}").mean())
    page.claim(
        fact, "class-wise reliability diagrams are close", holds=apart < 0.5, value=apart,
        reason="difference of their gaps in tenths of the scores, relative to the gaps after "
        f"{one} scaling; true errors are {study.mean(one):.4f} and {study.mean(other):.4f}, both "
        f"calibrated models {models:.4f} apart; {NO_SEED}",
    )  # fmt: skip


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.4f}" for value in values)


def judge_matrix(page: Page, study: Study) -> None:
    """Figure 19 and section 5.4.3."""
    gains = {
        part: removed(study.class_error(NONE, *classes), study.class_error("matrix", *classes))
        for part, classes in (("1 and 2", (1, 2)), ("3", (3,)))
    }
    page.claim(
        "Fig. 19, matrix on classes 1 and 2", "minor improvements", holds=gains["1 and 2"] > 0,
        value=gains["1 and 2"],
        reason="share of the true calibration error removed: an improvement, be it minor or not",
    )  # fmt: skip
    page.claim(
        "Fig. 19, matrix on class 3", "a significant improvement",
        holds=gains["3"] > max(0.4, gains["1 and 2"]), value=gains["3"],
        reason=f"share of the true calibration error removed, against {gains['1 and 2']:.2f} for "
        f"classes 1 and 2; from {study.class_error(NONE, 3):.4f} to "
        f"{study.class_error('matrix', 3):.4f}, where temperature scaling has "
        f"{study.class_error('temperature', 3):.4f}. {NO_SEED.capitalize()}",
    )  # fmt: skip
    harm = study.mean("matrix", "divergence", FEW_ROWS)
    before = study.mean(NONE, "divergence", FEW_ROWS)
    page.claim(
        "Section 5.4.3, matrix overfits", "vulnerable", holds=harm > before, value=harm / before,
        reason=f"log loss above the best possible on {FEW_ROWS} rows, divided by that of the "
        "uncalibrated network",
    )  # fmt: skip


def judge_dirichlet(page: Page, study: Study) -> None:
    """Figure 20 and section 5.4.4."""
    _judge_closeness(page, study, "Fig. 20, Dirichlet against matrix", "matrix", "Dirichlet")
    change = {
        name: float(np.abs(study.compared(f"{name}, change near certainty")).mean())
        for name in SURVEYED
    }
    page.claim(
        "Fig. 20, Dirichlet near certainty of class 3", "changes less there than matrix scaling",
        holds=change["Dirichlet"] < change["matrix"], value=change["Dirichlet"],
        reason="mean change of a probability of 0.95, which no row gets; matrix scaling "
        f"{change['matrix']:.4f}. The rows say nothing of that place; {NO_SEED}",
    )  # fmt: skip
    left = study.mean("Dirichlet", model="posterior")
    page.claim(
        "Section 5.4.4, Dirichlet holds the identity", "does not over-adjust calibrated results",
        holds=left < 0.02, value=left,
        reason="true classwise error it gives to the posterior itself on 10,000 rows",
    )  # fmt: skip
    plain, odir = (
        study.mean(name, "divergence", FEW_ROWS) for name in ("Dirichlet", "Dirichlet, ODIR")
    )
    page.claim(
        "Section 5.4.4, Dirichlet overfits", "on small datasets",
        holds=plain > study.mean(NONE, "divergence", FEW_ROWS), value=plain,
        reason=f"log loss above the best possible on {FEW_ROWS} rows; uncalibrated "
        f"{study.mean(NONE, 'divergence', FEW_ROWS):.4f}",
    )  # fmt: skip
    page.claim(
        "Section 5.4.4, ODIR", "addresses it", holds=odir < plain, value=odir,
        reason="the same with off-diagonal and intercept regularisation",
    )  # fmt: skip
