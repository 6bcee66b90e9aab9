"""Draws and exact figures of fake classifiers and tasks, for planning and the lab."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.simulation._fakes.dirichlet import draw_log_dirichlet
    from veridical.simulation._fakes.dirichlet_means import mean_largest
    from veridical.simulation._fakes.exact import (
        GROUPS,
        GapBins,
        Nodes,
        class_gaps,
        confidence_gap,
        cross_fitted_error,
        top_truth,
    )
    from veridical.simulation._fakes.fake import draw_labels
    from veridical.simulation._fakes.solver import Direction
    from veridical.simulation._tasks.gaussian import Classifier, check_prior, check_rows, predict

__all__ = [
    "GROUPS",
    "Classifier",
    "Direction",
    "GapBins",
    "Nodes",
    "check_prior",
    "check_rows",
    "class_gaps",
    "confidence_gap",
    "cross_fitted_error",
    "draw_labels",
    "draw_log_dirichlet",
    "mean_largest",
    "predict",
    "top_truth",
]

__getattr__, __dir__ = late_names(__name__)
