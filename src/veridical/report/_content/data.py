"""What is unusual about the data, in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray
from veridical.evaluation.data import SampleSource, Source, notes_on_origin
from veridical.report._content.content import DataNote, short
from veridical.results import Evaluation, TestReport

_FEW_A_BIN, _FEW_EVENTS, _HEAVY_TIE = 20, 10, 0.05
_MOST_LOOKED_AT = 100_000  # rows whose whole vectors are compared


def data_notes(
    source: Source,
    e: Evaluation,
    tests: TestReport | None,
    guessed: str,
    *,
    n_bins: Any,
    seed: int,
) -> tuple[DataNote, ...]:
    """Notes on the data, problems first; on sums last."""
    if isinstance(source, SampleSource):
        columns = [DataNote(topic="columns", finding=guessed, matters="note")] if guessed else []
        notes = [*_notes_on_rows(source, seed), *columns]
        return _by_gravity([*notes, *_notes_on_figures(e, tests, known=[guessed])])
    known = notes_on_origin(source, n_bins)
    about = [DataNote(topic="sums", finding=note, matters="note") for note in known]
    return (*_by_gravity(_notes_on_figures(e, tests, known=known)), *about)


def _notes_on_rows(source: SampleSource, seed: int) -> list[DataNote]:
    sample = source.sample
    p = sample.p if isinstance(sample, BinarySample) else sample.top_label[0]
    weights = [] if sample.weight is None else [_weights(sample)]
    notes = [*weights, _ties(p), _rounding(p), _saturation(sample)]
    if isinstance(sample, MulticlassSample):
        notes += [_sums(sample), _repeats(source, seed)]
    return notes


def _notes_on_figures(
    e: Evaluation, tests: TestReport | None, *, known: list[str]
) -> list[DataNote]:
    """Notes that figures tell without the rows; `known` are said elsewhere."""
    doubts = dict.fromkeys([*e.notes, *(() if tests is None else tests.notes)])
    about = [
        DataNote(topic="doubt", finding=note, matters="note")
        for note in doubts
        if note not in known
    ]
    return list(_by_gravity([_classes(e), _bins(e), *_ranking(e), *about]))


def _by_gravity(notes: list[DataNote]) -> tuple[DataNote, ...]:
    """Sort problems first."""
    order = {"problem": 0, "note": 1, "fine": 2}
    return tuple(sorted(notes, key=lambda note: order[note.matters]))


def _weights(sample: Sample) -> DataNote:
    size = f"{sample.size:,.0f}"
    finding = f"{sample.n:,} weighted rows count as {size} ({sample.weight_type} weights)"
    return DataNote(topic="weights", finding=finding, matters="note")


def _classes(e: Evaluation) -> DataNote:
    counts = [
        (short(label), rate * e.n_samples)
        for label, rate in zip(e.classes, e.base_rate, strict=True)
    ]
    absent = [name for name, count in counts if count == 0]
    rare = [name for name, count in counts if 0 < count < _FEW_EVENTS]
    if len(absent) == len(counts) - 1:
        only = next(name for name, count in counts if count > 0)
        return DataNote(
            topic="classes",
            matters="problem",
            finding=f"only {only} occurred: ranking cannot be judged, and calibration only in part",
        )
    if absent:
        finding = f"{len(absent):,} of {len(counts):,} classes did not occur: {_listed(absent)}"
        return DataNote(topic="classes", finding=finding, matters="problem")
    if rare:
        finding = f"fewer than {_FEW_EVENTS} rows of {_listed(rare)}: figures of these are rough"
        return DataNote(topic="classes", finding=finding, matters="note")
    finding = f"every one of {len(counts):,} classes occurs {_FEW_EVENTS} times or more"
    return DataNote(topic="classes", finding=finding, matters="fine")


def _ties(p: FloatArray) -> DataNote:
    values, counts = np.unique(p, return_counts=True)
    largest, n = int(counts.max()), len(p)
    if len(values) == 1:
        finding = f"every prediction is {values[0]:.6g}: nothing is told apart"
        return DataNote(topic="ties", finding=finding, matters="problem")
    finding = f"{len(values):,} distinct predictions in {n:,} rows"
    if largest / n < _HEAVY_TIE:
        return DataNote(topic="ties", finding=finding, matters="fine")
    tied = f"; the commonest, {values[counts.argmax()]:.6g}, has {largest:,} ({largest / n:.0%})"
    finding += tied.replace("%", " %") + ", so equal-mass bins are uneven"
    return DataNote(topic="ties", finding=finding, matters="note")


def _rounding(p: FloatArray) -> DataNote:
    values = p.astype(np.float64)
    for decimals in (1, 2, 3):
        if np.allclose(values, values.round(decimals), rtol=0, atol=1e-9):
            finding = f"predictions are rounded to {decimals} decimal{'s' * (decimals > 1)}"
            worse = "problem" if decimals == 1 else "note"
            return DataNote(topic="rounding", finding=finding, matters=worse)
    finding = "no rounding to three decimals or fewer"
    return DataNote(topic="rounding", finding=finding, matters="fine")


def _saturation(sample: Sample) -> DataNote:
    p = sample.p
    certain = ((p == 0) | (p == 1)).mean()
    if certain == 0:
        finding = f"no prediction is exactly 0 or 1 (from {p.min():.3g} to {p.max():.3g})"
        return DataNote(topic="saturation", finding=finding, matters="fine")
    if isinstance(sample, BinarySample):
        of_outcome = np.where(sample.y == 1, sample.p, 1 - sample.p)
    else:
        of_outcome = sample.p[np.arange(sample.n), sample.y]
    refuted = int((of_outcome == 0).sum())
    finding = f"{100 * certain:.1f} % of probabilities are exactly 0 or 1"
    if not refuted:
        return DataNote(topic="saturation", finding=finding, matters="note")
    finding += f"; {refuted:,} outcomes happened that were given probability 0, so the log loss"
    return DataNote(topic="saturation", finding=finding + " is infinite", matters="problem")


def _bins(e: Evaluation) -> DataNote:
    few = int((e.curve.count < _FEW_A_BIN).sum())
    if not few:
        finding = f"each of {len(e.curve)} occupied bins has {_FEW_A_BIN} rows or more"
        return DataNote(topic="rows a bin", finding=finding, matters="fine")
    finding = f"{few} of {len(e.curve)} occupied bins have fewer than {_FEW_A_BIN} rows"
    worse = "problem" if few == len(e.curve) else "note"
    return DataNote(topic="rows a bin", finding=finding, matters=worse)


def _ranking(e: Evaluation) -> list[DataNote]:
    if e.auc is None or not math.isclose(e.auc, 1.0):
        return []
    finding = "classes are told apart perfectly: was the model trained on these rows?"
    return [DataNote(topic="ranking", finding=finding, matters="problem")]


def _sums(sample: MulticlassSample) -> DataNote:
    off = float(np.abs(sample.p.sum(axis=1, dtype=np.float64) - 1).max())
    finding = f"rows of probabilities sum to 1 within {off:.1g}; they were used as given"
    return DataNote(topic="sums", finding=finding, matters="fine" if off < 1e-6 else "note")


def _repeats(source: SampleSource, seed: int) -> DataNote:
    part, _ = source.some_rows(_MOST_LOOKED_AT, seed)
    p = np.ascontiguousarray(part.sample.p)
    vectors = p.view(np.dtype((np.void, p.dtype.itemsize * p.shape[1]))).reshape(-1)
    share = 1 - len(np.unique(vectors)) / part.n
    finding = f"{100 * share:.1f} % of rows repeat the probabilities of another row exactly"
    return DataNote(topic="repeats", finding=finding, matters="note" if share > 0.05 else "fine")


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
