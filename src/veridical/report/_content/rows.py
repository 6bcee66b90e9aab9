"""Rows of one model or several, as the functions of the library take them.

The forms of input of a report: arrays, models by name, a frame or a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.data.groups import Groups
from veridical._core.data.labels import check_label_array
from veridical._core.data.validation import check_sample, kept_rows
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import Array, ArrayLike, IntArray, WeightType
from veridical.exceptions import invalid
from veridical.frames import column_names, expand_columns
from veridical.frames.inputs import gather_inputs
from veridical.lenses import Lens, resolve_lens


@dataclass(frozen=True)
class Rows:
    """Data of one model, checked.

    Attributes
    ----------
    name : of the model
    y_true, y_prob, sample_weight : arrays, rows of weight zero gone
    labels, pos_label : which column is which
    weight_type : "frequency" for rows that stand for several, as a compressed sample does
    by : subgroup of each row, or None
    sample : the same, checked
    lens : through which calibration is looked at
    """

    name: str
    y_true: Array
    y_prob: Array
    sample_weight: Array | None
    labels: list[Any]
    pos_label: Any
    weight_type: WeightType
    by: Groups | None
    sample: Sample
    lens: Lens

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.n

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sample.classes)

    @property
    def border(self) -> dict[str, Any]:
        """Arguments that say what the columns and weights are."""
        return {
            "labels": self.labels,
            "pos_label": self.pos_label,
            "sample_weight": self.sample_weight,
        }

    def take(self, rows: IntArray) -> Rows:
        """Keep some rows."""
        by = None if self.by is None else replace(self.by, codes=self.by.codes[rows])
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return replace(
            self,
            y_true=self.y_true[rows],
            y_prob=self.y_prob[rows],
            sample_weight=weight,
            by=by,
            sample=self.sample.take(rows),
        )

    def at_most(self, n: int, seed: int) -> Rows:
        """These rows, or a random choice of `n` of them in their order."""
        if self.n <= n:
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(self.n, n, replace=False)))


def check_rows(
    name: str,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    pos_label: Any,
    weight_type: WeightType = "importance",
    by: Groups | None = None,
    lens: Any,
    caller: str,
) -> Rows:
    """Pass the border once; everything afterwards gets the same rows."""
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    kept = kept_rows(sample_weight, sample)
    if by is not None:
        next(by.of(sample, kept, caller))  # as many keys as rows
        by = replace(by, codes=by.codes[kept])
    outcomes = check_label_array(y_true, caller=caller)[kept]
    binary = isinstance(sample, BinarySample)
    one_column = isinstance(sample, BinarySample) and sample.pair is None
    return Rows(
        name=name,
        y_true=outcomes,
        y_prob=sample.p if one_column else sample.matrix,
        sample_weight=sample.weight,
        labels=list(sample.columns),
        pos_label=sample.classes[1] if binary else None,
        weight_type=weight_type,
        by=by,
        sample=sample,
        lens=resolve_lens(lens, sample, caller=caller),
    )


def check_models(
    models: Mapping[str, ArrayLike], y_true: ArrayLike, *, caller: str, **options: Any
) -> list[Rows]:
    """Rows of every model, all of the same outcomes."""
    return [check_rows(name, y_true, p, caller=caller, **options) for name, p in models.items()]


@dataclass(frozen=True)
class Origin:
    """Where data came from.

    Attributes
    ----------
    source : file, or what was given, in words
    arguments : Python of the arguments that name the data, for the call that repeats the report
    is_file : whether they came from a file
    """

    source: str
    arguments: dict[str, str]
    is_file: bool = False

    @property
    def title(self) -> str:
        """Heading of the page, where none was given."""
        name = Path(self.source).name if self.is_file else ""
        return f"Calibration report: {name}" if name else "Calibration report"


@dataclass(frozen=True)
class ModelInputs:
    """Arrays of every model.

    Attributes
    ----------
    models : predictions by name; a single one is ""
    y_true, sample_weight, by, labels : shared by all
    said : what was guessed, or ""
    """

    models: dict[str, ArrayLike]
    y_true: ArrayLike
    sample_weight: ArrayLike | None
    by: Groups | None
    labels: ArrayLike | None
    said: str = ""


def origin_of(
    y_true: Any, y_prob: Any, *, y: Any, prob: Any, sample_weight: Any, by: Any
) -> Origin:
    """Describe the data; arrays are names only, since they are not in the page."""
    is_file = isinstance(y_true, (str, os.PathLike))
    if is_file:
        source = os.fspath(y_true)
        data = repr(source)
    elif isinstance(y_true, Mapping):
        source, data = "arrays", "{" + ", ".join(f"{n!r}: ..." for n in y_true) + "}, y_true"
    elif y_prob is not None:
        source, data = "arrays", "y_true, y_prob"
    else:
        source, data = f"{type(y_true).__name__} in memory", "frame"
    found = {"data": data}
    for name, value in {"y": y, "prob": prob}.items():
        if value is not None:
            found[name] = repr(dict(value) if isinstance(value, Mapping) else value)
    for name, value in {"sample_weight": sample_weight, "by": by}.items():
        if value is not None:
            found[name] = repr(value) if _is_columns(value) else name
    return Origin(source, found, is_file)


def gather_models(
    y_true: Any,
    y_prob: Any,
    *,
    y: str | None,
    prob: Any,
    sample_weight: Any,
    by: Any,
    labels: ArrayLike | None,
    caller: str,
) -> ModelInputs:
    """Read whichever form was given."""
    options: dict[str, Any] = {"sample_weight": sample_weight, "by": by, "labels": labels}
    if isinstance(y_true, Mapping):
        return _named_arrays(y_true, y_prob, y, prob, options, caller)
    if isinstance(prob, Mapping):
        return _named_columns(y_true, y_prob, y, prob, options, caller)
    inputs = gather_inputs(y_true, y_prob, y=y, prob=prob, caller=caller, **options)
    return ModelInputs(
        models={"": inputs.y_prob},
        y_true=inputs.y_true,
        sample_weight=inputs.sample_weight,
        by=inputs.by,
        labels=inputs.labels,
        said=inputs.said or "",
    )


def _named_arrays(
    models: Mapping[Any, Any], y_true: Any, y: Any, prob: Any, options: dict[str, Any], caller: str
) -> ModelInputs:
    _check_names(models, caller, "y_true")
    if y_true is None:
        hint = f'pass `{caller}({{"a": p_a, "b": p_b}}, y_true)`.'
        raise invalid(caller, "y_prob", "the labels, after the models", "None", hint=hint)
    found = {}
    for name, y_prob in models.items():
        inputs = gather_inputs(y_true, y_prob, y=y, prob=prob, caller=caller, **options)
        found[name] = inputs.y_prob
    return ModelInputs(
        models=found,
        y_true=inputs.y_true,
        sample_weight=inputs.sample_weight,
        by=inputs.by,
        labels=inputs.labels,
    )


def _named_columns(
    source: Any, y_prob: Any, y: Any, prob: Mapping[Any, Any], options: dict[str, Any], caller: str
) -> ModelInputs:
    _check_names(prob, caller, "prob")
    if y_prob is not None:
        hint = f'pass `{caller}({{"a": p_a, "b": p_b}}, y_true)`, or columns of a frame.'
        raise invalid(caller, "prob", "unset when arrays are given", "a mapping", hint=hint)
    found, said = {}, []
    available = column_names(source, caller=caller, param="y_true")
    for name, columns in prob.items():
        wanted = [columns] if isinstance(columns, str) else list(columns)
        own = expand_columns(wanted, available, caller=caller, param="prob")
        inputs = gather_inputs(source, None, y=y, prob=own, caller=caller, **options)
        found[name] = inputs.y_prob
        said.append(inputs.said or "")
    return ModelInputs(
        models=found,
        y_true=inputs.y_true,
        sample_weight=inputs.sample_weight,
        by=inputs.by,
        labels=inputs.labels,
        said="; ".join(dict.fromkeys(filter(None, said))),
    )


def _check_names(models: Mapping[Any, Any], caller: str, param: str) -> None:
    if not models or not all(isinstance(name, str) for name in models):
        hint = 'for instance {"forest": p_forest, "boosting": p_boosting}.'
        got = "an empty mapping" if not models else "other keys"
        raise invalid(caller, param, "models named by strings", got, hint=hint)


def _is_columns(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) and len(value) < 10
    return isinstance(value, str) or (listed and all(isinstance(each, str) for each in value))
