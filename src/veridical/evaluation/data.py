"""What an evaluation is made from: rows or sums, read once."""

from veridical.evaluation._data.inputs import Inputs, gather_inputs
from veridical.evaluation._data.source import NullDraws, NullSource, auc_by_class, default_error
from veridical.evaluation._data.sums import problem_of
from veridical.evaluation._figures.pushed import (
    Pushed,
    Request,
    about_sums,
    evaluate_pushed,
    notes_on_sums,
)

__all__ = [
    "Inputs",
    "NullDraws",
    "NullSource",
    "Pushed",
    "Request",
    "about_sums",
    "auc_by_class",
    "default_error",
    "evaluate_pushed",
    "gather_inputs",
    "notes_on_sums",
    "problem_of",
]
