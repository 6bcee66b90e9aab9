"""A digest by which the data of a report are known again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

import numpy as np

from veridical.evaluation.data import SampleSource, Source
from veridical.frames.files import find_files
from veridical.report._content.request import CALLER

_LARGEST = 4 << 30  # bytes of files that are read once more for it


def fingerprint_of(data: object, sources: Iterable[Source]) -> str:
    """SHA-256 of the file, as `sha256sum` prints it, or of the rows of arrays and frames.

    Of rows it is that of class indices (int64) and probabilities (float64, row after row), then
    weights if there are any, little-endian, of every model in order. Queries and very large files
    have none: their rows are not read a second time.
    """
    if isinstance(data, (str, os.PathLike)):
        return _of_files(os.fspath(data))
    digest = hashlib.sha256()
    for source in sources:
        if not isinstance(source, SampleSource):
            return ""
        sample = source.sample
        digest.update(np.asarray(sample.y, dtype="<i8").tobytes())
        digest.update(np.ascontiguousarray(sample.p, dtype="<f8").tobytes())
        if sample.weight is not None:
            digest.update(np.asarray(sample.weight, dtype="<f8").tobytes())
    return f"SHA-256 of the rows: {digest.hexdigest()}"


def _of_files(name: str) -> str:
    paths, _ = find_files(name, caller=CALLER, param="y_true")
    if sum(path.stat().st_size for path in paths) > _LARGEST:
        return ""
    digests = []
    for path in paths:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    if len(digests) == 1:
        return f"SHA-256 of the file: {digests[0]}"
    joined = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return f"SHA-256 of the digests of {len(digests)} files: {joined}"
