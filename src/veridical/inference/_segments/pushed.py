"""A search over segments of rows that stay where they are."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.reading import AS_IT_IS
from veridical._core.data.segments import cross
from veridical.exceptions import invalid
from veridical.frames.files import is_large_file
from veridical.frames.grid import SegmentSums, segment_sums
from veridical.frames.inputs import name_columns
from veridical.frames.tables import is_lazy
from veridical.inference._segments.cells import question_of_sums
from veridical.inference._segments.core import SearchOptions, Table, audit_core, telling_features
from veridical.lenses import Binary
from veridical.lenses.reading import RawData, event_of, named_lens
from veridical.results import SegmentAudit


def pushed_audit(
    raw: RawData, lens: Any, options: SearchOptions, n_bins: int, engine: str, *, caller: str
) -> SegmentAudit | None:
    """Search sums that the engine of the rows makes; None if the rows are to be read.

    Sums answer for two classes with one column of predictions, without weights and groups.
    """
    if engine == "memory" or raw.y_prob is not None:
        return None
    stays = is_lazy(raw.y_true) or (
        isinstance(raw.y_true, (str, os.PathLike)) and is_large_file(raw.y_true)
    )
    if engine == "auto" and not stays:
        return None
    found = _sums(raw, lens, n_bins, caller)
    if found is None:
        if engine == "auto":
            return None
        hint = 'use engine="memory".'
        expected = "two classes of one column, plain features, no weights and no groups"
        raise invalid(caller, "engine", f'"memory", or {expected}', repr(engine), hint=hint)
    sums, said, y = found
    features, codes, notes = telling_features(
        sums.features, sums.codes, sums.count, options.min_rows
    )
    sums = replace(sums, features=features, codes=codes, notes=(*sums.notes, *notes))
    audit = audit_core(table_of_sums(sums, event_of(Binary(), sums.classes, y)), options)
    guessed = () if said is None else (said,)
    return replace(audit, notes=(*guessed, *sums.notes, *audit.notes))


def _sums(
    raw: RawData, lens: Any, n_bins: int, caller: str
) -> tuple[SegmentSums, str | None, str] | None:
    plain = raw.sample_weight is None and raw.groups is None and raw.how == AS_IT_IS
    binary = lens is None or isinstance(named_lens(lens, caller=caller), Binary)
    if not (plain and binary):
        return None
    names = name_columns(
        raw.y_true,
        y=raw.y,
        prob=raw.prob,
        sample_weight=None,
        by=None,
        features=raw.features,
        caller=caller,
    )
    if len(names.prob) != 1 or not names.features:
        return None
    sums = segment_sums(
        raw.y_true,
        y=names.y,
        prob=names.prob[0],
        features=names.features,
        labels=raw.labels,
        pos_label=raw.pos_label,
        n_bins=n_bins,
        caller=caller,
    )
    return None if sums is None else (sums, names.said, names.y)


def table_of_sums(sums: SegmentSums, event: str) -> Table:
    """The table of a search from sums by cross and cell of scores."""
    cells = cross(sums.codes, sums.features.n_codes, sums.count)
    order = np.lexsort((cells.place, sums.cell))
    mean = np.clip(sums.said / sums.count, 0.0, 1.0)
    question = question_of_sums(
        cells.place[order],
        sums.cell[order],
        sums.count[order],
        mean[order],
        sums.happened[order],
        sums.ends,
    )
    rows = round(float(sums.count.sum()))
    return Table(sums.features, cells.codes, cells.rows, [question], None, "binary", event, rows)
