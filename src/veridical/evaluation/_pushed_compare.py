"""What is to be compared: arrays, columns to be read, or columns left to their engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veridical._core.typing import ArrayLike, WeightType
from veridical._core.validation import check_option
from veridical.binning import UniformBins
from veridical.evaluation._inputs import gather_inputs, name_columns
from veridical.evaluation._pushed import ENGINES, Pushed, Request
from veridical.evaluation._pushed_pairs import Pairs
from veridical.exceptions import invalid
from veridical.frames import column_names, expand_columns, is_frame

_CALLER = "compare"


@dataclass(frozen=True)
class PairedArrays:
    """Everything as arrays, and what was guessed."""

    predictions: Mapping[str, Any]
    y_true: Any
    sample_weight: Any
    groups: Any
    labels: ArrayLike | None
    said: list[str]


@dataclass(frozen=True, kw_only=True)
class ComparisonRequest:
    """Models and data as the user gave them."""

    predictions: Mapping[str, Any]
    y_true: Any
    y: str | None
    lens: Any
    labels: ArrayLike | None
    pos_label: Any
    n_bins: Any
    sample_weight: Any
    weight_type: WeightType
    groups: Any

    @property
    def _by_name(self) -> bool:
        """Whether predictions are columns of a frame or file."""
        if isinstance(self.y_true, (str, os.PathLike)) or is_frame(self.y_true):
            return True
        if self.y is None:
            return False
        got = f"a column and a {type(self.y_true).__name__}"
        hint = "pass the frame of the columns as second argument."
        raise invalid(_CALLER, "y_true", "a frame or a file if `y` is given", got, hint=hint)

    def arrays(self) -> PairedArrays:
        """Read every model's predictions."""
        if not self._by_name:
            models, weight = self.predictions, self.sample_weight
            return PairedArrays(models, self.y_true, weight, self.groups, self.labels, [])
        groups = self.groups
        inputs = {
            name: gather_inputs(
                self.y_true,
                None,
                y=self.y,
                prob=_columns(prob, name),
                sample_weight=self.sample_weight,
                by=groups if isinstance(groups, str) else None,
                labels=self.labels,
                caller=_CALLER,
            )
            for name, prob in self.predictions.items()
        }
        first = next(iter(inputs.values()))
        if isinstance(groups, str) and first.by is not None:
            groups = first.by.codes
        return PairedArrays(
            {name: each.y_prob for name, each in inputs.items()},
            first.y_true,
            first.sample_weight,
            groups,
            first.labels,
            [] if first.said is None else [first.said],
        )

    def pushed(self, engine: str, level: float) -> Pairs | None:
        """Return sums if they are what is to be used, None if rows are to be read."""
        check_option(_CALLER, "engine", engine, ENGINES)
        if engine == "memory" or not self._by_name:
            return None
        requests = {
            name: self._request(_columns(prob, name)) for name, prob in self.predictions.items()
        }
        why = self._needs_rows()
        if why is None:
            pushed = {name: request.pushed(engine) for name, request in requests.items()}
            made = {name: each for name, each in pushed.items() if each is not None}
            return self._pairs(made, level) if len(made) == len(pushed) else None
        if engine == "pushdown":
            hint = 'use engine="memory".'
            raise invalid(_CALLER, "engine", '"auto" or "memory" here', why, hint=hint)
        return None

    def _needs_rows(self) -> str | None:
        """What sums cannot serve, if anything."""
        if self.groups is not None:
            return "clusters"
        if self.weight_type != "importance":
            return "frequencies"
        if self.sample_weight is not None and not isinstance(self.sample_weight, str):
            return "weights beside the frame"
        lens = "binary" if self.lens is None else getattr(self.lens, "name", self.lens)
        if lens != "binary":
            return f"the {lens} lens"
        names = column_names(self.y_true, caller=_CALLER, param="y_true")
        for model, prob in self.predictions.items():
            wanted = _columns(prob, model)
            listed = [wanted] if isinstance(wanted, str) else list(wanted)
            if len(expand_columns(listed, names, caller=_CALLER, param="predictions")) > 2:
                return "more than two classes"
        return None

    def _request(self, prob: str | list[str]) -> Request:
        return Request(
            y_true=self.y_true,
            y_prob=None,
            y=self.y,
            prob=prob,
            lens=self.lens,
            labels=self.labels,
            pos_label=self.pos_label,
            n_bins=self.n_bins,
            sample_weight=self.sample_weight,
            by=None,
            caller=_CALLER,
        )

    def _pairs(self, pushed: dict[str, Pushed], level: float) -> Pairs:
        columns = {}
        for name, prob in self.predictions.items():
            names = name_columns(
                self.y_true,
                y=self.y,
                prob=_columns(prob, name),
                sample_weight=self.sample_weight,
                by=None,
                caller=_CALLER,
            )
            positive = pushed[name].grid.table.positive
            columns[name] = names.prob[positive if len(names.prob) == 2 else 0]
        cells = next(iter(pushed.values())).grid.cells("binary")
        rule: Any = "sqrt" if self.n_bins == "cv" else self.n_bins  # as in memory
        bins = UniformBins(rule).fit(cells.sample).n_cells
        return Pairs(self.y_true, names.y, columns, names.sample_weight, pushed, bins, level)


def _columns(prob: Any, model: str) -> str | list[str]:
    listed = isinstance(prob, (list, tuple)) and all(isinstance(one, str) for one in prob)
    if isinstance(prob, str):
        return prob
    if listed:
        return list(prob)
    hint = "with a frame, name the columns of each model."
    got = f"a {type(prob).__name__} for {model!r}"
    raise invalid(_CALLER, "predictions", "names of columns", got, hint=hint)
