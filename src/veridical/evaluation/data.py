"""What an evaluation is made from: rows or sums, read once."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.evaluation._comparison.models import RowModels, read_models
    from veridical.evaluation._data.null_levels import NullDraws
    from veridical.evaluation._data.read import DataRequest, searched
    from veridical.evaluation._data.source import (
        SampleSource,
        Source,
        default_error,
        default_error_name,
    )
    from veridical.evaluation._data.sums import SumsSource, notes_on_origin, notes_on_sums

__all__ = [
    "DataRequest",
    "NullDraws",
    "RowModels",
    "SampleSource",
    "Source",
    "SumsSource",
    "default_error",
    "default_error_name",
    "notes_on_origin",
    "notes_on_sums",
    "read_models",
    "searched",
]

__getattr__, __dir__ = late_names(__name__)
