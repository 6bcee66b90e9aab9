"""A new map from recent rows, and what it does to rows it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.runtime.progress import track
from veridical.exceptions import invalid
from veridical.monitoring._judge.estimates import change_point
from veridical.monitoring._maps.rows import KeptRows, ModelColumns, happened
from veridical.monitoring._store.buckets import History
from veridical.results import RefitSuggestion

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

_CALLER = "CalibrationMonitor.refit"
_FEWEST = 50  # rows from which a map is fitted at all
_ENOUGH = 200  # rows after a change from which those before it are left out
_N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Rows to fit to.

    Attributes
    ----------
    rows : the rows
    text : which ones, in words
    notes : doubts
    """

    rows: KeptRows
    text: str
    notes: tuple[str, ...] = ()


def choose_rows(
    kept: KeptRows,
    *,
    history: History | None,
    epoch: int,
    window: float,
    not_before: int,
    wanted: float | None,
) -> ChosenRows:
    """Rows since the change if there was an alarm, else the rolling window.

    Parameters
    ----------
    kept : what there is
    history : of all rows of this epoch; None without an alarm
    epoch : number of this epoch
    window : rows of the rolling window
    not_before : first row that the current map was fitted to; what is older was left behind
    wanted : rows that were asked for, whatever happened
    """
    if wanted is not None:
        chosen = kept.last(int(wanted))
        return _checked(ChosenRows(chosen, f"last {len(chosen):,} rows"))
    recent = kept.last(max(0, kept.first + len(kept) - max(not_before, kept.first)))
    rolling = recent.last(int(window))
    usual = ChosenRows(rolling, f"last {len(rolling):,} rows")
    found = None if history is None else change_point(history.factors)
    if history is None or found is None:
        return _checked(usual)
    since = history.ordinal[found.batch]
    n_after = int(((kept.epoch == epoch) & (kept.batch >= since)).sum())
    if n_after >= _ENOUGH:
        began = history.began[found.batch] or f"batch {since}"
        return _checked(
            ChosenRows(kept.last(n_after), f"{n_after:,} rows since the change at {began}")
        )
    note = f"only {n_after:,} rows since the change: older ones are among those it was fitted to"
    few = recent.last(_ENOUGH)
    return _checked(ChosenRows(few, f"last {len(few):,} rows", (note,)))


def _checked(chosen: ChosenRows) -> ChosenRows:
    if len(chosen.rows) < _FEWEST:
        hint = "wait for more outcomes."
        got = f"{len(chosen.rows)}"
        raise invalid(_CALLER, "rows", f"at least {_FEWEST} labelled rows", got, hint=hint)
    return chosen


def unfitted(calibrator: str | Calibrator, columns: ModelColumns) -> Calibrator:
    """A calibrator by name, or a copy of one, for the classes of the monitor."""
    from veridical.calibrators import Calibrator
    from veridical.calibrators.core import fresh
    from veridical.selection.core import calibrator_named, for_classes

    n_classes = len(columns.labels)
    if isinstance(calibrator, Calibrator):
        empty = for_classes(fresh(calibrator), n_classes)
    else:
        empty = calibrator_named(calibrator, n_classes, caller=_CALLER, param="calibrator")
    if empty.input != "probability":
        hint = "a monitor is shown probabilities."
        raise invalid(_CALLER, "calibrator", 'of input="probability"', empty.input, hint=hint)
    positive = columns.classes[1] if n_classes == 2 else None
    empty.labels, empty.pos_label = list(columns.labels), positive
    return empty


def fitted(calibrator: Calibrator, rows: KeptRows, columns: ModelColumns) -> Calibrator:
    """The map fitted to rows under the labels of the monitor."""
    outcomes = np.asarray(columns.classes)[rows.y]
    return calibrator.fit(rows.p, outcomes)


@dataclass(frozen=True)
class HeldOutDifference:
    """Log loss of a new map minus that of the map in use, on rows the new one was not fitted to.

    Attributes
    ----------
    limits : estimate, lower and upper limit; None if nothing could be held out
    reason : why not
    map_notes : what the fits leave in doubt
    """

    limits: tuple[float, float, float] | None
    reason: str = ""
    map_notes: tuple[str, ...] = ()


def held_out_difference(
    calibrator: Calibrator,
    current: Calibrator | None,
    rows: KeptRows,
    columns: ModelColumns,
    confidence_level: float,
) -> HeldOutDifference:
    """Held-out log loss minus that of the current map on the same rows, with its limits.

    `calibrator` is fitted to these rows. Copies of it are fitted to four fifths of them and scored
    on the rest, five times over, which is corrected to all rows; limits are normal, from the
    variance of the differences row by row and the optimism of the fit, and take the rows as
    independent.
    """
    from veridical.calibrators.core import CheckedRows, fresh
    from veridical.inference.intervals import Gains, IntervalOptions, gain_interval
    from veridical.selection.core import cross_fit, make_folds

    n_classes = len(columns.labels)
    checked = CheckedRows(rows.p, rows.y, None, "importance", tuple(range(n_classes)))
    folds = make_folds(checked, (_N_FOLDS,))
    part = fresh(calibrator, labels=None, pos_label=None)  # rows hold class indices
    found = cross_fit(part, folds, iter(track(len(folds), "holding out folds")))
    if isinstance(found, LeftOut):
        return HeldOutDifference(None, reason=str(found))
    y = np.concatenate([fold.held.y for fold in folds])
    held = np.concatenate([fold.held.values for fold in folds])
    before = columns.calibrated(current, held)
    after = found.given[:, 1] if n_classes == 2 else found.given
    now, new, own = (
        np.log(happened(p, y)) for p in (before, after, columns.calibrated(calibrator, held))
    )
    options = IntervalOptions("analytic", confidence_level)
    gain = gain_interval(Gains(new - now, own - now, len(folds), smooth=True), options)
    return HeldOutDifference((-gain.estimate, -gain.high, -gain.low), map_notes=found.notes)


def suggestion(
    version: int,
    calibrator: Calibrator,
    chosen: ChosenRows,
    held_out: HeldOutDifference,
    confidence_level: float,
) -> RefitSuggestion:
    """The new version in words."""
    name = type(calibrator).__name__
    text = f"Version {version}: {name} fitted to {chosen.text}"
    notes = chosen.notes
    difference = low = high = None
    if held_out.limits is None:
        notes += (held_out.reason,)
        text += "; nothing could be held out"
    else:
        difference, low, high = held_out.limits
        change = "not clearly better than"
        if high < 0:
            change = "better than"
        elif low > 0:
            change = "worse than"
        text += (
            f"; on held-out rows {change} the map in use, log loss {difference:+.4f}"
            f" ({low:+.4f} to {high:+.4f})"
        )
    return RefitSuggestion(
        version=version,
        calibrator=name,
        rows=chosen.text,
        n_rows=len(chosen.rows),
        confidence_level=confidence_level,
        verdict=f"{text}. Its trial on new rows begins now.",
        notes=notes,
        difference=difference,
        low=low,
        high=high,
    )
