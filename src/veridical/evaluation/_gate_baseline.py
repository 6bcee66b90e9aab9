"""Baselines: an object, or a JSON file of figures or of an evaluation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from veridical.evaluation._gate_figures import baseline_of, figures_of
from veridical.exceptions import InvalidInputError, invalid
from veridical.results import Evaluation
from veridical.results._gate import GateBaseline, GateFigure

_HINT = "write one with `veridical check ... --save-baseline PATH`, or `evaluate --format json`."


def read_baseline(source: Any, *, caller: str) -> GateBaseline:
    """Return the figures of a baseline, of an evaluation, or of a JSON file of either."""
    if isinstance(source, GateBaseline):
        return source
    if isinstance(source, Evaluation):
        return figures_of_evaluation(source)
    if not isinstance(source, (str, os.PathLike)):
        got = f"an object of type {type(source).__name__}"
        raise invalid(caller, "against", "a baseline, an evaluation or a path", got, hint=_HINT)
    path = Path(source).expanduser()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error), caller) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, f"no JSON: {error}", caller) from error
    try:
        if "figures" in data:
            return _checked(GateBaseline.from_dict(data))
        return figures_of_evaluation(Evaluation.from_dict(data))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = "neither a baseline nor an evaluation"
        raise _unreadable(path, why, caller) from error


def figures_of_evaluation(evaluation: Evaluation) -> GateBaseline:
    """Figures of an evaluation and of its groups."""
    parts: list[tuple[str | None, dict[str, GateFigure]]] = [(None, figures_of(evaluation))]
    parts += [(str(key), figures_of(part, group=str(key))) for key, part in evaluation.groups]
    return baseline_of(parts, evaluation)


def _checked(baseline: GateBaseline) -> GateBaseline:
    """Raise TypeError where a number of the file is none."""
    for figure in baseline.figures:
        for number in (figure.value, figure.low, figure.high):
            if number is not None and not isinstance(number, float):
                raise TypeError(figure.name)
    return baseline


def _unreadable(path: Path, why: str, caller: str) -> InvalidInputError:
    got = f"{str(path)!r} ({why})"
    return invalid(caller, "against", "a readable JSON file of a baseline", got, hint=_HINT)
