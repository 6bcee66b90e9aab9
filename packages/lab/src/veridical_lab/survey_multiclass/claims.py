"""The statements of the survey's section 5.4 on single calibrators, each judged by a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.simulation import GaussianMixtureTask, survey_three_class_task
from veridical_lab._frame.noise import drawn
from veridical_lab._frame.page import Page
from veridical_lab._frame.survey_study import NONE, removed
from veridical_lab._frame.survey_tasks import Network
from veridical_lab.survey_multiclass.cells import FEW_ROWS, ThreeClassStudy

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
    caps = np.array([Network(**n)(x[:, None])[:, 2].max() for n in study.networks])
    page.check(f"""Fig. 20, cap of the network's class 3 | {drawn(caps)} = 0.8 ± 0.1 | mean of
        {len(caps)}, from {min(caps):.2f} to {max(caps):.2f}; {NO_SEED}""")


def judge_temperature(page: Page, study: ThreeClassStudy) -> None:
    """Figure 17 and section 5.4.1."""
    unlike = float(study.compared("temperature, classes treated alike").max())
    page.check(f"""Fig. 17, one map for all classes | the same for all three | {unlike} < 1e-9 |
        largest change of the map when classes trade places""")
    page.check(f"""Fig. 17, temperature in 0.1 to 0.4 | improves classes 1 and 2 |
        {_gaps_removed(study, "temperature", (1, 2), SEEN)} as improves | share of the gap removed
        there""")
    elsewhere = _gaps_removed(study, "temperature", (1, 2), UNSEEN)
    page.check(f"""Fig. 17, temperature elsewhere | makes things worse | {elsewhere} < 0 and
        {_error_removed(study, "temperature", 3)} < 0 | share of the gap removed of classes 1 and 2
        elsewhere, and of the true error of class 3, over {len(study.networks)} networks;
        {NO_SEED}""")
    more = [_harm(study, name, "temperature") for name in ("matrix", "Dirichlet")]
    page.check(f"""Section 5.4.1, one parameter | can prevent overfitting on few rows | {more[0]} >
        0 and {more[1]} > 0 | log loss of matrix scaling and of Dirichlet calibration above that of
        temperature scaling on {FEW_ROWS} rows, in nats""")
    page.check(f"""Section 5.4.1, wrong family | sub-optimal where the map needed is none of its own
        | {study.excess("MLP", "temperature", "matrix", "divergence")} > 0 | log loss above that of
        matrix scaling on 10,000 rows""")
    inside = study.mean("over", "temperature")
    page.check(f"""Temperature scaling within its family, true classwise error | {inside} | of the
        squared posterior, which a temperature of 2 puts right; uncalibrated
        {study.mean("over", NONE):.4f}""")


def _gaps_removed(
    study: ThreeClassStudy, name: str, classes: Sequence[int], tenths: Sequence[int]
) -> str:
    """Share of the mean gap in tenths of the scores that a calibrator takes away."""
    pair = [study.gap_sums(one, classes, tenths) for one in (NONE, name)]
    return study.told(lambda b, a: removed(b[0] / b[1], a[0] / a[1]), "MLP", *pair)


def _error_removed(study: ThreeClassStudy, name: str, *classes: int) -> str:
    """Share of the true error of some classes that a calibrator takes away."""
    pair = [study.class_errors(one, *classes) for one in (NONE, name)]
    return study.told(removed, "MLP", *pair)


def _harm(study: ThreeClassStudy, one: str, other: str) -> str:
    """Log loss on few rows after one calibrator, above that after another."""
    return study.excess("MLP", one, other, "divergence", FEW_ROWS)


def judge_vector(page: Page, study: ThreeClassStudy) -> None:
    """Figure 18 and section 5.4.2."""
    unlike = float(study.compared("vector, classes treated alike").min())
    page.check(f"""Fig. 18, a map for each class | different for each | {unlike} > 0.001 | smallest
        change of the map when classes trade places""")
    _judge_closeness(page, study, "Fig. 18, vector against temperature", "temperature", "vector")
    errors = {name: study.class_errors(name, 3) for name in ("temperature", "vector")}
    better = study.told(lambda d: d, "MLP", errors["vector"] - errors["temperature"])
    page.check(f"""Fig. 18, vector on class 3 | not quite as bad as temperature scaling | {better} <
        0 | true calibration error less that of temperature scaling,
        {errors["temperature"].mean():.4f}; uncalibrated
        {study.class_errors(NONE, 3).mean():.4f}""")
    steps = (("vector", "temperature"), ("matrix", "vector"))
    few = [_harm(study, *pair) for pair in steps]
    many = [study.excess("MLP", *pair, "divergence") for pair in steps]
    page.check(f"""Section 5.4.2, vector is a middle way | between temperature and matrix scaling in
        overfitting and richness | {few[0]} > 0 and {few[1]} > 0 and {many[0]} < 0 and {many[1]} < 0
        | log loss of vector above temperature and of matrix above vector scaling, on {FEW_ROWS}
        rows, then on 10,000""")


def _judge_closeness(page: Page, study: ThreeClassStudy, fact: str, one: str, other: str) -> None:
    apart = float(study.compared(f"{one} to {other}").mean())
    page.check(f"""{fact} | class-wise reliability diagrams are close |
        {study.diagrams_apart(one, other)} as much alike | difference of their gaps in tenths of the
        scores, relative to the gaps after {one} scaling; true errors are
        {study.mean("MLP", one):.4f} and {study.mean("MLP", other):.4f}, both calibrated models
        {apart:.4f} apart; {NO_SEED}""")


def judge_matrix(page: Page, study: ThreeClassStudy) -> None:
    """Figure 19 and section 5.4.3."""
    first, third = (_error_removed(study, "matrix", *classes) for classes in ((1, 2), (3,)))
    page.check(f"""
        - Fig. 19, matrix on classes 1 and 2 | minor improvements | {first} as improves and {first}
          as minor | share of the true calibration error removed, of every network and fit on
          average; {NO_SEED}
        - Fig. 19, matrix on class 3 | significantly improved | {third} as significantly | share of
          the true calibration error removed: from {study.class_errors(NONE, 3).mean():.4f} to
          {study.class_errors("matrix", 3).mean():.4f}, where temperature scaling has
          {study.class_errors("temperature", 3).mean():.4f}; {NO_SEED}
    """)
    page.check(f"""Section 5.4.3, matrix overfits | vulnerable | {_harm(study, "matrix", NONE)} > 0
        | log loss on {FEW_ROWS} rows above that of the uncalibrated network, in nats""")


def judge_dirichlet(page: Page, study: ThreeClassStudy) -> None:
    """Figure 20 and section 5.4.4."""
    _judge_closeness(page, study, "Fig. 20, Dirichlet against matrix", "matrix", "Dirichlet")
    change = {
        name: np.abs(study.compared(f"{name}, change near certainty"))
        for name in ("matrix", "Dirichlet")
    }
    less = study.told(lambda d: d, "MLP", change["Dirichlet"] - change["matrix"])
    page.check(f"""Fig. 20, Dirichlet near certainty of class 3 | changes less there than matrix
        scaling | {less} < 0 | mean change of a probability of 0.95, which no row gets, less the
        {change["matrix"].mean():.4f} of matrix scaling. The rows say nothing of that place;
        {NO_SEED}""")
    page.check(f"""Section 5.4.4, Dirichlet holds the identity | does not over-adjust calibrated
        results | {drawn(study.values("posterior", "Dirichlet"))} as leaves alone | true classwise
        error it gives to the posterior itself on 10,000 rows""")
    page.check(f"""
        - Section 5.4.4, Dirichlet overfits | on small datasets | {_harm(study, "Dirichlet", NONE)}
          > 0 | log loss on {FEW_ROWS} rows above that of the uncalibrated network
        - Section 5.4.4, ODIR | addresses it | {_harm(study, "Dirichlet, ODIR", "Dirichlet")} < 0 |
          log loss with off-diagonal and intercept regularisation less that without
    """)
