"""Vaicenavicius et al. (2019): what a calibration error measures, and when it means something."""

from __future__ import annotations

from veridical.experiments._evaluating_convergence import convergence_section
from veridical.experiments._evaluating_diagrams import diagram_section
from veridical.experiments._evaluating_examples import example_section
from veridical.experiments._evaluating_level import level_section
from veridical.experiments._evaluating_limits import limit_section
from veridical.experiments._evaluating_networks import read_networks
from veridical.experiments._evaluating_normals import normals_section
from veridical.experiments._evaluating_printed import printed_section
from veridical.experiments._evaluating_tables import table_section
from veridical.experiments._evaluating_training import training_section
from veridical.experiments._laboratory import Laboratory
from veridical.experiments._page import Page


def run(lab: Laboratory, page: Page) -> None:
    """Write the page."""
    networks = read_networks(lab)
    example_section(page)
    limit_section(page)
    convergence_section(lab, page)
    normals_section(lab, page)
    printed_section(page)
    table_section(lab, page, networks)
    diagram_section(page, networks)
    level_section(lab, page)
    training_section(lab, page)
    page.conclude(
        """The warnings of the paper hold. A binned error depends on the lens and on the bins as
        much as on the model: judge it against its null level, never by itself. The distances called
        squared in its Tables 3 to 5 appear to be unsquared, and its p-value with bootstrapped
        predictions rejects calibrated models too often when bins are sparse; with predictions
        fixed, the default here, it does not."""
    )
