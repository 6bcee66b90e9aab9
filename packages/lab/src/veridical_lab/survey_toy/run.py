"""Tables 1 to 8 and Fig. 1 to 10 and 21 of the survey, from their data.

Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach (2023), doi
10.1007/s10994-023-06336-7.
"""

from __future__ import annotations

from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.survey_toy.bins import diagrams, toy_errors
from veridical_lab.survey_toy.forecasts import common_shapes, rain_forecasts, thresholds
from veridical_lab.survey_toy.hypotheses import hosmer_lemeshow, resampling
from veridical_lab.survey_toy.isotonic_steps import isotonic_steps
from veridical_lab.survey_toy.scores import equations, proper_scores, statements
from veridical_lab.survey_toy.tables import Cell, list_cells


def run(lab: Laboratory, page: Page) -> None:
    """Check every number of Tables 1 to 8 and of the text around them."""
    draws, simulations = (20_000, 300) if lab.quick else (1_000_000, 5_000)
    tables: dict[str, list[Cell]] = {
        "Table 1": rain_forecasts(page, n_resamples=10_000, rng=lab.rng("rain"))
    }
    thresholds(page)
    common_shapes(page)
    tables["Table 2"] = proper_scores(page)
    diagrams(page, rng=lab.rng("diagrams"))
    tables |= toy_errors(page, rng=lab.rng("figures"))
    statements(page)
    isotonic_steps(page)
    equations(page)
    tables["Table 8"] = hosmer_lemeshow(page, n_simulations=simulations, rng=lab.rng("fitted"))
    resampling(page, n_resamples=draws, rng=lab.rng("resampling"))
    page.section("All cells")
    list_cells(page, "cells", tables)
    wrong = sum(not cell.right for cells in tables.values() for cell in cells)
    total = sum(len(cells) for cells in tables.values())
    page.conclude(
        f"Of {total} printed cells {wrong} are not the exact value rounded, by a hundredth at most "
        "except one misprint in Table 1; ECEs in the text are averages of rounded gaps, right to "
        "two decimals. What a reader must not copy: Eq. 21 counts every term twice, Eq. 9 to 19 "
        "have misplaced signs, Eq. 6 names a value that is not defined, and the ECE of a random "
        "classifier is not pi_1. What the survey concludes from its example stands; the p-value of "
        "the Hosmer-Lemeshow test is too small, as its law does not hold for 30 rows."
    )
