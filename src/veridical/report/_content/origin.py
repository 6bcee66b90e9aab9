"""The forms of input of a report: arrays, models by name, a frame or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical._core.typing import ArrayLike
from veridical.evaluation.data import Source, read, read_models
from veridical.exceptions import invalid
from veridical.lenses.reading import RawData


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


def read_report(
    y_true: Any,
    y_prob: Any,
    *,
    y: str | None,
    prob: Any,
    lens: Any,
    labels: ArrayLike | None,
    pos_label: Any,
    n_bins: Any,
    sample_weight: Any,
    by: Any,
    engine: str,
    caller: str,
) -> dict[str, Source]:
    """Read whichever form was given: the data of every model, of a single one by the name ""."""
    options: dict[str, Any] = {"lens": lens, "n_bins": n_bins, "caller": caller}
    beside: dict[str, Any] = {"labels": labels, "pos_label": pos_label, "by": by}
    beside["sample_weight"] = sample_weight
    if isinstance(y_true, Mapping):
        _check_names(y_true, caller, "y_true")
        if y_prob is None:
            hint = f'pass `{caller}({{"a": p_a, "b": p_b}}, y_true)`.'
            raise invalid(caller, "y_prob", "the labels, after the models", "None", hint=hint)
        if y is not None or prob is not None:
            hint = f"pass `{caller}(y_true, y_prob)` or `{caller}(frame, y=..., prob=...)`."
            got = "both arrays and column names"
            raise invalid(caller, "y", "unset when arrays are given", got, hint=hint)
        return dict(
            read_models(y_true, RawData(y_prob, **beside), param="y_true", **options).sources
        )
    if isinstance(prob, Mapping):
        _check_names(prob, caller, "prob")
        if y_prob is not None:
            hint = f'pass `{caller}({{"a": p_a, "b": p_b}}, y_true)`, or columns of a frame.'
            raise invalid(caller, "prob", "unset when arrays are given", "a mapping", hint=hint)
        return dict(
            read_models(prob, RawData(y_true, y=y, **beside), param="prob", **options).sources
        )
    data = RawData(y_true, y_prob, y=y, prob=prob, **beside)
    return {"": read(data, engine=engine, **options)}


def guesses(sources: Mapping[str, Source]) -> str:
    """What was guessed about columns, each guess once."""
    return "; ".join(dict.fromkeys(s.guessed for s in sources.values() if s.guessed))


def _check_names(models: Mapping[Any, Any], caller: str, param: str) -> None:
    if not models or not all(isinstance(name, str) for name in models):
        hint = 'for instance {"forest": p_forest, "boosting": p_boosting}.'
        got = "an empty mapping" if not models else "other keys"
        raise invalid(caller, param, "models named by strings", got, hint=hint)


def _is_columns(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) and len(value) < 10
    return isinstance(value, str) or (listed and all(isinstance(each, str) for each in value))
