"""Calibrators as files of the command line, and what they take from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.labels import find_label
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator


@dataclass(frozen=True)
class SavedCalibrator:
    """A fitted calibrator, and how to feed it from a table.

    Attributes
    ----------
    calibrator : fitted
    columns : names of the columns it was fitted to, if known
    column_of : if it was fitted to one column: the label whose probability that is; None if the
        file does not say, which means the larger label, as everywhere
    """

    calibrator: Calibrator
    columns: tuple[str, ...] | None
    column_of: Any = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels in the order of predictions."""
        return tuple(np.asarray(self.calibrator.classes_).tolist())

    @property
    def one_class(self) -> int:
        """Of two classes, the one a single column is about: its place among `classes`."""
        if self.column_of is not None:
            return self.classes.index(self.column_of)
        return int(self.classes[1] > self.classes[0])

    def write(self, path: str) -> None:
        """Write JSON, whole or not at all."""
        from veridical.export._files import COLUMN_OF, write_file

        known = self.column_of is not None
        write_file(self.calibrator, path, {COLUMN_OF: self.column_of} if known else None)


def read_calibrator(path: str, *, caller: str) -> SavedCalibrator:
    """Read what `SavedCalibrator.write` or `veridical.export.save` has written."""
    from veridical.export._files import COLUMN_OF, read_file

    try:
        calibrator, data = read_file(path, caller=caller, param="CALIBRATOR")
    except OSError as error:
        hint = "write one with `veridical calibrate FILE -o calibrator.json`."
        got = f"{path!r} ({error.strerror or error})"
        expected = "a file with a saved calibrator"
        raise invalid(caller, "CALIBRATOR", expected, got, hint=hint) from error
    names = getattr(calibrator, "feature_names_in_", None)
    saved = SavedCalibrator(
        calibrator, None if names is None else tuple(names.tolist()), data.get(COLUMN_OF)
    )
    if saved.column_of is not None:
        find_label(saved.column_of, saved.classes, caller=caller, param=COLUMN_OF)
    return saved


def as_fitted(values: FloatArray, *, of_smaller: bool, input: str) -> FloatArray:
    """One column about the smaller of two labels as calibrators take it; others as they are."""
    if values.ndim == 2 or not of_smaller:
        return values
    return np.column_stack([values, 1 - values]) if input == "probability" else -values
