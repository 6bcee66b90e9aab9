"""Calibrators as files of the command line, and what they take from a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.files import write_whole
from veridical._core.labels import find_label
from veridical._core.typing import FloatArray
from veridical.exceptions import InvalidInputError, invalid

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

_COLUMN_OF = "column_of"  # beside what `Calibrator.to_dict` writes, which ignores it


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
        data = self.calibrator.to_dict()
        if self.column_of is not None:
            data[_COLUMN_OF] = self.column_of
        write_whole(path, json.dumps(data, allow_nan=False, ensure_ascii=False) + "\n")


def read_calibrator(path: str, *, caller: str) -> SavedCalibrator:
    """Read what `SavedCalibrator.write`, or `Calibrator.to_dict` as JSON, has written."""
    import veridical.selection  # noqa: F401 - makes AutoCalibrator known to from_dict
    from veridical.calibrators import Calibrator

    try:
        data = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        calibrator = Calibrator.from_dict(data)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error), caller) from error
    except InvalidInputError as error:
        msg = f"{error}\nFile: {path!r}."
        raise InvalidInputError(msg) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}", caller) from error
    if not hasattr(calibrator, "classes_"):
        raise _unreadable(path, "the calibrator in it is not fitted", caller)
    names = getattr(calibrator, "feature_names_in_", None)
    saved = SavedCalibrator(
        calibrator, None if names is None else tuple(names.tolist()), data.get(_COLUMN_OF)
    )
    if saved.column_of is not None:
        find_label(saved.column_of, saved.classes, caller=caller, param=_COLUMN_OF)
    return saved


def as_fitted(values: FloatArray, *, of_smaller: bool, input: str) -> FloatArray:
    """One column about the smaller of two labels as calibrators take it; others as they are."""
    if values.ndim == 2 or not of_smaller:
        return values
    return np.column_stack([values, 1 - values]) if input == "probability" else -values


def _unreadable(path: str, why: str, caller: str) -> InvalidInputError:
    hint = "write one with `veridical calibrate FILE -o calibrator.json`."
    got = f"{path!r} ({' '.join(why.split())[:200]})"
    return invalid(caller, "CALIBRATOR", "a file with a saved calibrator", got, hint=hint)
