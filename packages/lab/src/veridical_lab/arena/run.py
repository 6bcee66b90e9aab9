"""Tables nobody here wrote: those of CalArena (2026), and what probmetrics gives."""

from __future__ import annotations

from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.arena.program import program_section
from veridical_lab.arena.protocol import protocol_section
from veridical_lab.arena.published import published_section


def run(lab: Laboratory, page: Page) -> None:
    """Write the page."""
    program_section(page)
    published_section(page)
    protocol_section(lab, page)
    page.conclude(
        """The maps of probmetrics and the same maps here give the same losses to the fifth decimal.
        The predictions behind CalArena's tables are not at hand, so none of its experiments was run
        again. Of what its abstract says, maps of whole vectors beat those of single classes, and
        generic models are not competitive for many classes, in its own numbers and on tables at
        hand. Smooth maps beat bins in its numbers; bins that never say 0 or 1, as here, are too
        close to tell in 12 experiments. That generic models are not competitive for two classes is
        shown by neither."""
    )
