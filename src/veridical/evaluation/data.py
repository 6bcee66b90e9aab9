"""What an evaluation is made from: rows or sums, read once."""

from veridical.evaluation._data.source import NullDraws, NullSource, auc_by_class, default_error
from veridical.evaluation._figures.pushed import (
    Pushed,
    Request,
    about_sums,
    evaluate_pushed,
    notes_on_sums,
)
from veridical.summaries.core import problem_of

__all__ = [
    "NullDraws",
    "NullSource",
    "Pushed",
    "Request",
    "about_sums",
    "auc_by_class",
    "default_error",
    "evaluate_pushed",
    "notes_on_sums",
    "problem_of",
]
