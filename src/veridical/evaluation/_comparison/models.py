"""Several models on the same rows, read once: in memory, or left to their engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.classes import arranged_names
from veridical._core.data.randomness import Draws
from veridical._core.data.validation import check_option
from veridical.binning import UniformBins
from veridical.evaluation._comparison.pushed import SumModels
from veridical.evaluation._data.read import ENGINES, DataRequest, name_model
from veridical.evaluation._data.source import (
    SampleSource,
    Source,
    default_error,
    noted_difference,
    on_same_rows,
    paired_difference_of,
)
from veridical.evaluation._data.sums import SumsSource
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.inputs import name_columns
from veridical.frames.tables import column_names, expand_columns, is_frame
from veridical.inference.core import KeptScores, consistency_core
from veridical.inference.intervals import IntervalOptions
from veridical.miscalibration import Estimator, FunctionMeasure
from veridical.results import ConsistencyTest, Difference
from veridical.summaries import GridSummary


@dataclass(frozen=True)
class RowModels:
    """Models whose rows are in memory."""

    sources: Mapping[str, SampleSource]

    def tests(self, n_bins: Any, n_resamples: int, seed: int) -> tuple[ConsistencyTest, ...]:
        """Is the calibration error of each more than a calibrated model would show?"""
        return tuple(
            consistency_core(
                default_error(source.problem, n_bins),
                source.induced,
                draws=Draws(n_resamples, np.random.default_rng(seed)),
            )
            for source in self.sources.values()
        )

    def differences(
        self, figures: Sequence[Estimator], pairs: Sequence[tuple[str, str]], level: float
    ) -> list[list[Difference]]:
        """Differences of all figures between the models of every pair.

        Figure by figure, so that scores of rows are made once a model and only those of one score
        are kept.
        """
        found: list[list[Difference]] = [[] for _ in pairs]
        for estimator in figures:
            kept: KeptScores = {}
            for (first, second), differences in zip(pairs, found, strict=True):
                pair = self.sources[first], self.sources[second]
                differences.append(paired_difference_of(estimator, pair, level, kept))
        return found

    def measured(
        self, measures: Sequence[Estimator], first: str, second: str, level: float, draws: Draws
    ) -> tuple[list[Difference], list[str]]:
        """Differences of the user's own measures, and what is in doubt about them."""
        pair = self.sources[first], self.sources[second]
        found, notes = [], []
        for measure in measures:
            by_rows = isinstance(measure, FunctionMeasure)
            options = IntervalOptions("percentile" if by_rows else "analytic", level, *draws)
            difference, doubts = noted_difference(measure, pair, options)
            found.append(difference)
            notes += [f"{first} - {second}, {difference.estimator}: {doubt}" for doubt in doubts]
        return found, notes


def read_models(
    predictions: Mapping[str, Any],
    request: DataRequest,
    *,
    engine: str = "memory",
    param: str = "predictions",
) -> RowModels | SumModels:
    """Read and check every model's predictions of the same rows.

    The data of the request are the rows without any predictions.
    """
    data, caller = request.data, request.caller
    check_option(caller, "engine", engine, ENGINES)
    table = _is_table(data.y_true, data.y, caller)
    columns = {}
    for name, each in predictions.items():
        if isinstance(each, GridSummary) or isinstance(data.y_true, GridSummary):
            hint = "sums of one model do not say how its rows go with those of another: pass rows."
            got = f"a summary for {name!r}"
            raise invalid(caller, param, "rows or names of columns", got, hint=hint)
        if table:
            columns[name] = _columns(each, name, caller, param)
    if not table or engine == "memory":
        engine = "memory"
    else:
        why = _needs_rows(request, columns)
        if why is not None and engine == "pushdown":
            hint = 'use engine="memory".'
            raise invalid(caller, "engine", '"auto" or "memory" here', why, hint=hint)
        engine = engine if why is None else "memory"
    sources: dict[str, Source] = {}
    for name, each in predictions.items():
        try:
            own = replace(data, y_prob=None if table else each, prob=columns.get(name))
            sources[name] = replace(request, data=own).read(engine)
        except InvalidInputError as error:
            if len(predictions) == 1:
                raise
            raise name_model(error, name) from error
    in_memory = {name: s for name, s in sources.items() if isinstance(s, SampleSource)}
    if in_memory:
        return RowModels(dict(zip(in_memory, on_same_rows(*in_memory.values()), strict=True)))
    sums = {name: s for name, s in sources.items() if isinstance(s, SumsSource)}
    return _pushed(request, columns, sums)


def _is_table(y_true: Any, y: str | None, caller: str) -> bool:
    """Whether predictions are columns of a frame or file."""
    if isinstance(y_true, (str, os.PathLike)) or is_frame(y_true):
        return True
    if y is None:
        return False
    got = f"a column and a {type(y_true).__name__}"
    hint = "pass the frame of the columns as second argument."
    raise invalid(caller, "y_true", "a frame or a file if `y` is given", got, hint=hint)


def _columns(prob: Any, model: str, caller: str, param: str) -> str | list[str]:
    listed = isinstance(prob, (list, tuple)) and all(isinstance(one, str) for one in prob)
    if isinstance(prob, str):
        return prob
    if listed:
        return list(prob)
    hint = "with a frame, name the columns of each model."
    got = f"a {type(prob).__name__} for {model!r}"
    raise invalid(caller, param, "names of columns", got, hint=hint)


def _needs_rows(request: DataRequest, columns: Mapping[str, str | list[str]]) -> str | None:
    """What sums cannot serve, if anything."""
    data, lens, caller = request.data, request.lens, request.caller
    if data.groups is not None:
        return "groups"
    if data.how.missing == "drop":
        return "rows to be dropped"
    if data.how.converts:
        return "predictions on another scale"
    if data.weight_type != "importance":
        return "frequencies"
    if data.sample_weight is not None and not isinstance(data.sample_weight, str):
        return "weights beside the frame"
    name = "binary" if lens is None else getattr(lens, "name", lens)
    if name != "binary":
        return f"the {name} lens"
    available = column_names(data.y_true, caller=caller, param="y_true")
    for wanted in columns.values():
        listed = [wanted] if isinstance(wanted, str) else wanted
        if len(expand_columns(listed, available, caller=caller, param="predictions")) > 2:
            return "more than two classes"
    return None


def _pushed(
    request: DataRequest, columns: Mapping[str, str | list[str]], sources: dict[str, SumsSource]
) -> SumModels:
    data, n_bins = request.data, request.n_bins
    positive_columns = {}
    for name, prob in columns.items():
        names = name_columns(
            data.y_true,
            y=data.y,
            prob=prob,
            sample_weight=data.sample_weight,
            by=None,
            scale=data.how.scale,
            caller=request.caller,
        )
        table = sources[name].grid.table
        columns_in_order = arranged_names(names.prob, table.classes, caller=request.caller)
        positive_columns[name] = columns_in_order[table.positive if len(names.prob) == 2 else 0]
    cells = next(iter(sources.values())).grid.cells("binary")
    rule: Any = "sqrt" if n_bins == "cv" else n_bins  # as in memory
    return SumModels(
        sources=sources,
        frame=data.y_true,
        y=names.y,
        columns=positive_columns,
        sample_weight=names.sample_weight,
        n_bins=UniformBins(rule).fit(cells.sample).n_cells,
    )
