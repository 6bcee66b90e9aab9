"""Classifiers made to measure: the review of Panchenko (2021), judged by its own device."""

from __future__ import annotations

from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.fake.benchmark import judge_recalibration, run_benchmark, show_benchmark
from veridical_lab.fake.convergence import show_convergence
from veridical_lab.fake.lemma import show_lemma
from veridical_lab.fake.network import show_networks
from veridical_lab.fake.resampling import show_resampling, show_rounding
from veridical_lab.fake.small_network import show_small_network
from veridical_lab.fake.truth import show_truth

# What to take away, each said only if its fact was found so.
_LESSONS = {
    ("Lemma 1 i", "reproduced"): "Lemma 1 is right and tight, and needs its 'always'.",
    ("Section 6, power 3, K = 2, accuracy by kyle's exact module", "differs"): (
        "The package of the same authors evaluates fake classifiers in the reverse of the order in "
        "which it draws them."
    ),
    ("Section 5.1, temperature and classes", "reproduced"): (
        "Temperature repairs confidence and not classes; Dirichlet calibration repairs classes."
    ),
    ("Section 5.2, over-fitting", "reproduced"): "It needs many rows for its parameters, or harms.",
    ("Section 1.3, training loss and the ECE", "differs"): (
        "A falling training loss does not mean a falling ECE."
    ),
}


def run(lab: Laboratory, page: Page) -> None:
    """Figures 1 to 3, convergence of metrics, a benchmark of calibrators, and Lemma 1."""
    show_small_network(lab, page)
    show_networks(lab, page)
    show_truth(lab, page)
    show_convergence(lab, page)
    show_resampling(lab, page)
    bench = run_benchmark(lab)
    show_benchmark(page, bench)
    judge_recalibration(lab, page, bench)
    show_rounding(lab, page)
    show_lemma(lab, page)
    verdicts = {(fact.name, fact.verdict) for fact in page.facts}
    page.conclude(" ".join(lesson for fact, lesson in _LESSONS.items() if fact in verdicts))
