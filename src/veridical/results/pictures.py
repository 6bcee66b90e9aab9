"""Pictures of results as SVG, for notebooks, reports and the studio.

Each function takes results and ``width=`` in pixels and returns a `Picture`, whose ``to_svg()``
stands alone (a notebook, a file) and whose ``to_svg(styled=False)`` is for a page that has
`picture_style` once. `responsive` gives a page a wide and a narrow one, and it shows what fits.
"""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical._core.drawing.look import picture_style
    from veridical._core.drawing.picture import Picture, responsive
    from veridical.results._pictures.decisions import cost_curve, decision_curve
    from veridical.results._pictures.forest import comparison, error_row, errors, evidence, forest
    from veridical.results._pictures.map import calibration_map
    from veridical.results._pictures.parts import decomposition, histogram
    from veridical.results._pictures.reliability import (
        before_after,
        classwise,
        reliability,
        small_reliability,
    )
    from veridical.results._pictures.segments import segment_map, segments
    from veridical.results._pictures.simplex import simplex
    from veridical.results._pictures.timeline import TimePanel, kept, timeline

__all__ = [
    "Picture",
    "TimePanel",
    "before_after",
    "calibration_map",
    "classwise",
    "comparison",
    "cost_curve",
    "decision_curve",
    "decomposition",
    "error_row",
    "errors",
    "evidence",
    "forest",
    "histogram",
    "kept",
    "picture_style",
    "reliability",
    "responsive",
    "segment_map",
    "segments",
    "simplex",
    "small_reliability",
    "timeline",
]

__getattr__, __dir__ = late_names(__name__)
