"""Predictions of real classifiers: the example that ships with the library, or the user's files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from veridical._core.data.validation import check_sample
from veridical._core.sample import BinarySample
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.inputs import gather_inputs
from veridical_lab.arrays import Array, ArrayLike, FloatArray, IntArray

_SHIPPED = Path(__file__).parents[1] / "data" / "digits.csv"
_ARRAYS = ("predictions", "ground_truth")


@dataclass(frozen=True)
class Predictions:
    """Outcomes and predicted probabilities of one classifier.

    Attributes
    ----------
    name : of the file, without its ending
    y : class of every row, numbered from 0
    p : probabilities in double precision, one column a class
    """

    name: str
    y: IntArray
    p: FloatArray


def digits_predictions() -> Predictions:
    """Return the example: a small, over-trained network on scikit-learn's handwritten digits.

    It was trained on one half of the 1,797 images and predicts the other; the script that made it
    is ``examples/make_digits_network.py``.

    Examples
    --------
    >>> digits = digits_predictions()
    >>> digits.name, digits.p.shape
    ('digits', (899, 10))
    """
    return read_predictions(_SHIPPED, caller="digits_predictions")


def find_predictions(path: str, *, caller: str) -> Predictions:
    """Return what is in a file, or the example if the path is empty."""
    return read_predictions(Path(path), caller=caller) if path else digits_predictions()


def read_predictions(path: Path, *, caller: str) -> Predictions:
    """Read the outcomes and predictions of a file.

    Parameters
    ----------
    path : Path
        ``.npz`` with arrays ``predictions`` (n, K) and ``ground_truth`` (n,), or a CSV, Parquet or
        Arrow file whose columns have usual names (label; p, or p_0, p_1, ...).
    caller : str
        Who asks: it opens the error message, followed by the name of the file.

    Returns
    -------
    Predictions
        Rows of single precision are divided by their sum: they sum to one as far as seven digits
        go, and double precision asks for more. Rows of double precision are used as they are.
    """
    said = f"{caller}, {path.name}"
    if path.suffix.lower() == ".npz":
        y_true, y_prob, labels = *_read_archive(path, caller=said), None
    else:
        read = gather_inputs(
            path, None, y=None, prob=None, sample_weight=None, by=None, labels=None, caller=said
        )
        y_true, y_prob, labels = read.y_true, read.y_prob, read.labels
    y, p = _check(y_true, y_prob, labels, caller=said)
    name = path.stem.removesuffix(".csv").removesuffix(".tsv")  # both may be compressed
    return Predictions(name=name, y=y, p=p)


def _check(
    y_true: ArrayLike, y_prob: ArrayLike, labels: ArrayLike | None, *, caller: str
) -> tuple[IntArray, FloatArray]:
    """Pass the border, and return classes by number and all columns in double precision."""
    sample = check_sample(y_true, y_prob, labels=labels, caller=caller)
    p = sample.p.astype(np.float64)
    if isinstance(sample, BinarySample):
        return sample.y, np.column_stack([1 - p, p])
    if sample.p.dtype == np.float32:
        p /= p.sum(axis=1, keepdims=True)
    return sample.y, p


def _read_archive(path: Path, *, caller: str) -> tuple[Array, Array]:
    """Return outcomes and predictions of a NumPy archive; nothing in it is executed."""
    try:
        with path.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            arrays = dict(loaded) if isinstance(loaded, Mapping) else None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise _no_archive(type(error).__name__, caller=caller) from error
    if arrays is None:
        raise _no_archive("a single array", caller=caller)
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise _lacks(missing, list(arrays), caller=caller)
    return arrays["ground_truth"], arrays["predictions"]


def _no_archive(got: str, *, caller: str) -> InvalidInputError:
    hint = f"write it with np.savez(path, {_ARRAYS[0]}=..., {_ARRAYS[1]}=...)."
    return invalid(caller, "data", "a NumPy archive of plain arrays", got, hint=hint)


def _lacks(missing: list[str], there: list[str], *, caller: str) -> InvalidInputError:
    found = ", ".join(repr(name) for name in there) or "nothing"
    hint = "rename the arrays: predictions are (n, K), ground_truth holds one class a row."
    expected = f"an archive with {' and '.join(repr(name) for name in missing)}"
    return invalid(caller, "data", expected, found, hint=hint)
