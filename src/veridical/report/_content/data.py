"""What is unusual about the data, in words."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray
from veridical.evaluation.data import SampleSource, Source, notes_on_origin
from veridical.report._content.content import DataNote, short
from veridical.report._content.request import Options
from veridical.results import Evaluation, TestReport

_FEW_A_BIN, _FEW_EVENTS, _HEAVY_TIE = 20, 10, 0.05
_MOST_LOOKED_AT = 100_000  # rows whose whole vectors are compared


_Finding = tuple[str, str]  # how much it matters, and what was found


def data_notes(
    source: Source, e: Evaluation, tests: TestReport | None, guessed: str, o: Options
) -> tuple[DataNote, ...]:
    """Notes on the data, problems first; on sums last."""
    if isinstance(source, SampleSource):
        notes = _notes_on_rows(source, o.seed)
        if guessed:
            notes.append(_note("columns", ("note", guessed)))
        return _by_gravity([*notes, *_notes_on_figures(e, tests, known=[guessed])])
    known = notes_on_origin(source, o.n_bins)
    about = [_note("sums", ("note", text)) for text in known]
    return (*_by_gravity(_notes_on_figures(e, tests, known=known)), *about)


def _note(topic: str, found: _Finding) -> DataNote:
    return DataNote(topic=topic, finding=found[1], matters=found[0])


def _notes_on_rows(source: SampleSource, seed: int) -> list[DataNote]:
    sample = source.sample
    p = sample.p if isinstance(sample, BinarySample) else sample.top_label[0]
    weights = [] if sample.weight is None else [_note("weights", _weights(sample))]
    notes = [
        *weights,
        _note("ties", _ties(p)),
        _note("rounding", _rounding(p)),
        _note("saturation", _saturation(sample)),
    ]
    if isinstance(sample, MulticlassSample):
        notes += [_note("sums", _sums(sample)), _note("repeats", _repeats(source, seed))]
    return notes


def _notes_on_figures(
    e: Evaluation, tests: TestReport | None, *, known: list[str]
) -> list[DataNote]:
    """Notes that figures tell without the rows; `known` are said elsewhere."""
    doubts = dict.fromkeys([*e.notes, *(() if tests is None else tests.notes)])
    notes = [_note("classes", _classes(e)), _note("rows a bin", _bins(e))]
    if e.auc is not None and math.isclose(e.auc, 1.0):
        finding = "classes are told apart perfectly: was the model trained on these rows?"
        notes.append(_note("ranking", ("problem", finding)))
    return [*notes, *(_note("doubt", ("note", text)) for text in doubts if text not in known)]


def _by_gravity(notes: list[DataNote]) -> tuple[DataNote, ...]:
    """Sort problems first."""
    order = {"problem": 0, "note": 1, "fine": 2}
    return tuple(sorted(notes, key=lambda note: order[note.matters]))


def _weights(sample: Sample) -> _Finding:
    size = f"{sample.size:,.0f}"
    return "note", f"{sample.n:,} weighted rows count as {size} ({sample.weight_type} weights)"


def _classes(e: Evaluation) -> _Finding:
    counts = [
        (short(label), rate * e.n_samples)
        for label, rate in zip(e.classes, e.base_rate, strict=True)
    ]
    absent = [name for name, count in counts if count == 0]
    rare = [name for name, count in counts if 0 < count < _FEW_EVENTS]
    n = f"{len(counts):,}"
    if len(absent) == len(counts) - 1:
        only = next(name for name, count in counts if count > 0)
        limited = "ranking cannot be judged, and calibration only in part"
        return "problem", f"only {only} occurred: {limited}"
    if absent:
        return "problem", f"{len(absent):,} of {n} classes did not occur: {_listed(absent)}"
    if rare:
        few = f"fewer than {_FEW_EVENTS} rows of {_listed(rare)}"
        return "note", f"{few}: figures of these are rough"
    return "fine", f"every one of {n} classes occurs {_FEW_EVENTS} times or more"


def _ties(p: FloatArray) -> _Finding:
    values, counts = np.unique(p, return_counts=True)
    largest, n = int(counts.max()), len(p)
    if len(values) == 1:
        return "problem", f"every prediction is {values[0]:.6g}: nothing is told apart"
    finding = f"{len(values):,} distinct predictions in {n:,} rows"
    if largest / n < _HEAVY_TIE:
        return "fine", finding
    tied = f"; the commonest, {values[counts.argmax()]:.6g}, has {largest:,} ({largest / n:.0%})"
    return "note", finding + tied.replace("%", " %") + ", so equal-mass bins are uneven"


def _rounding(p: FloatArray) -> _Finding:
    values = p.astype(np.float64)
    for decimals in (1, 2, 3):
        if np.allclose(values, values.round(decimals), rtol=0, atol=1e-9):
            finding = f"predictions are rounded to {decimals} decimal{'s' * (decimals > 1)}"
            return "problem" if decimals == 1 else "note", finding
    return "fine", "no rounding to three decimals or fewer"


def _saturation(sample: Sample) -> _Finding:
    p = sample.p
    certain = ((p == 0) | (p == 1)).mean()
    if certain == 0:
        return "fine", f"no prediction is exactly 0 or 1 (from {p.min():.3g} to {p.max():.3g})"
    if isinstance(sample, BinarySample):
        of_outcome = np.where(sample.y == 1, sample.p, 1 - sample.p)
    else:
        of_outcome = sample.p[np.arange(sample.n), sample.y]
    refuted = int((of_outcome == 0).sum())
    finding = f"{100 * certain:.1f} % of probabilities are exactly 0 or 1"
    if not refuted:
        return "note", finding
    infinite = "outcomes happened that were given probability 0, so the log loss is infinite"
    return "problem", f"{finding}; {refuted:,} {infinite}"


def _bins(e: Evaluation) -> _Finding:
    few, n = int((e.curve.count < _FEW_A_BIN).sum()), len(e.curve)
    if not few:
        return "fine", f"each of {n} occupied bins of the ECE has {_FEW_A_BIN} rows or more"
    finding = f"{few} of {n} occupied bins of the ECE have fewer than {_FEW_A_BIN} rows"
    return "problem" if few == n else "note", finding


def _sums(sample: MulticlassSample) -> _Finding:
    off = float(np.abs(sample.p.sum(axis=1, dtype=np.float64) - 1).max())
    finding = f"rows of probabilities sum to 1 within {off:.1g}; they were used as given"
    return "fine" if off < 1e-6 else "note", finding


def _repeats(source: SampleSource, seed: int) -> _Finding:
    part, _ = source.some_rows(_MOST_LOOKED_AT, seed)
    p = np.ascontiguousarray(part.sample.p)
    vectors = p.view(np.dtype((np.void, p.dtype.itemsize * p.shape[1]))).reshape(-1)
    share = 1 - len(np.unique(vectors)) / part.n
    finding = f"{100 * share:.1f} % of rows repeat the probabilities of another row exactly"
    return "note" if share > 0.05 else "fine", finding


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
