"""Fitted calibrators as files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.data.schema import SEAL, Place, seal
from veridical._core.runtime.files import write_whole
from veridical.calibrators import Calibrator
from veridical.calibrators.formulas import check_exportable, check_saved, decode
from veridical.exceptions import InvalidInputError, invalid

# Beside a calibrator of before there was `pos_label`: which label its one column is about.
COLUMN_OF = "column_of"
_PLAIN = "a file holds plain texts, numbers and booleans: fit it to such labels and groups."
_HINT = "write one with `veridical.save(calibrator, path)` or `veridical calibrate`."


def save(calibrator: Calibrator, path: str | os.PathLike[str]) -> None:
    """Write a fitted calibrator to a JSON file, whole or not at all.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted.
    path : str or path-like
        File to write; replaced if it exists.

    Notes
    -----
    The file is UTF-8 text with one JSON object:

    - ``format``: 1, the version of this layout. Others are refused when read.
    - ``calibrator``: name of the class, of this package only.
    - ``parameters``: what the constructor takes.
    - ``fitted``: what was learnt, by the names of the fitted attributes. An array is an object
      ``{"array": [...], "shape": [...], "dtype": "..."}``, a calibrator within is
      ``{"calibrator": {...}}`` of this same layout, a tuple ``{"tuple": [...]}``, a number that is
      not finite ``{"float": "inf"}``, a dictionary ``{"items": [[key, value], ...]}``.
    - ``veridical``: version of the package that wrote it, for people to read.
    - ``sha256``: hash of all of this, by which `load` knows a damaged file. Files without it, as
      earlier versions wrote them, are read as well.

    Numbers are written with as many digits as bring back every bit. No code is in the file, and
    reading it builds only classes of this package. `veridical apply` reads the same files.

    Examples
    --------
    >>> import tempfile
    >>> from veridical.calibrators import HistogramCalibrator
    >>> map = HistogramCalibrator(n_bins=1).fit([0.2, 0.6], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(map, f"{folder}/map.json")
    ...     load(f"{folder}/map.json").predict_proba([0.4]).tolist()
    [[0.5, 0.5]]
    """
    check_exportable(calibrator, "save")
    write_whole(path, saved_text(calibrator))


def saved_text(calibrator: Calibrator) -> str:
    """What `save` writes."""
    from veridical._core.version import __version__

    check_saved(calibrator, Place("save", hint=_PLAIN))  # what cannot be read is not written
    content = {"veridical": __version__, **calibrator.to_dict()}
    data = {"veridical": __version__, SEAL: seal(content), **content}
    return json.dumps(data, allow_nan=False, ensure_ascii=False) + "\n"


def load(path: str | os.PathLike[str]) -> Calibrator:
    """Read a fitted calibrator that `save` or `veridical calibrate` has written.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Calibrator
        Of the class that was saved; predicts the same to the last bit.

    Raises
    ------
    FileNotFoundError, OSError
        If the file cannot be opened.
    InvalidInputError
        If it is not a saved calibrator, is cut short, or is of an unknown format; or if an earlier
        `veridical calibrate --pos-label` fitted it to one column about the smaller of two labels,
        turned round: only `veridical apply` reads such a file.

    Examples
    --------
    >>> import tempfile
    >>> from veridical.calibrators import HistogramCalibrator
    >>> map = HistogramCalibrator(n_bins=1).fit([0.2, 0.6], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(map, f"{folder}/map.json")
    ...     load(f"{folder}/map.json")
    HistogramCalibrator(n_bins=1)
    """
    calibrator, data = read_file(path, caller="load", param="path")
    _check_larger(calibrator, data.get(COLUMN_OF))
    return calibrator


def _check_larger(calibrator: Calibrator, column_of: Any) -> None:
    """Raise if one column about the smaller of two labels was turned round, as formerly."""
    classes = np.asarray(calibrator.classes_).tolist()
    if column_of is None or len(classes) != 2 or column_of != min(classes):
        return
    got = f"one of {column_of!r}"
    expected = f"a map of the probability of {max(classes)!r}, the larger label"
    hint = f"use `veridical apply`, or fit it again with `pos_label={column_of!r}`."
    raise invalid("load", "path", expected, got, hint=hint)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of a name given twice, readers differ in which value they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def read_file(
    path: str | os.PathLike[str], *, caller: str, param: str
) -> tuple[Calibrator, dict[str, Any]]:
    """Read a calibrator and everything else that stands in its file."""

    def unreadable(why: str) -> InvalidInputError:
        got = f"{os.fspath(path)!r}: {' '.join(why.split())[:200]}"
        return invalid(caller, param, "a file with a saved calibrator", got, hint=_HINT)

    try:
        text = Path(path).expanduser().read_bytes().decode("utf-8")
        data = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        size = Path(path).expanduser().stat().st_size
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        why = f"damaged, or no JSON ({what})" if size else "an empty file"
        raise unreadable(why) from error
    try:
        calibrator = decode(data, caller=caller)
    except InvalidInputError as error:
        named = InvalidInputError(f"{error}\nFile: {os.fspath(path)!r}.")
        vars(named).update(vars(error))  # what the message is made of
        raise named from error
    if not hasattr(calibrator, "classes_"):
        raise unreadable("the calibrator in it is not fitted")
    return calibrator, data
