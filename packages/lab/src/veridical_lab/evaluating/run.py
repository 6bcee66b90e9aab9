"""Vaicenavicius et al. (2019): what a calibration error measures, and when it means something."""

from __future__ import annotations

from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.evaluating.convergence import convergence_section, limit_section
from veridical_lab.evaluating.diagrams import diagram_section, normals_section
from veridical_lab.evaluating.examples import example_section, level_section
from veridical_lab.evaluating.networks import read_networks
from veridical_lab.evaluating.printed import printed_section
from veridical_lab.evaluating.tables import table_section
from veridical_lab.evaluating.training import training_section


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
