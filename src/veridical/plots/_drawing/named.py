"""One result, several by name, or the data to make one from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from veridical.exceptions import invalid

R = TypeVar("R")


def named_results(
    rows: tuple[Any, Any],
    kind: type[R],
    several: str,
    compute: Callable[..., R],
    *,
    caller: str,
    **options: Any,
) -> dict[str, R]:
    """Return results by name, "" for a single one; `rows` are these, or data to make one from.

    `several` is their plural, and `compute` makes one with the `options`.
    """
    y_true, y_prob = rows
    if isinstance(y_true, kind):
        return {"": y_true}
    if isinstance(y_true, Mapping):
        if y_true and all(isinstance(each, kind) for each in y_true.values()):
            return {str(name): each for name, each in y_true.items()}
        hint = f'pass `{{"model": {compute.__name__}(y_true, y_prob), ...}}`.'
        raise invalid(caller, "y_true", f"a mapping of {several}", "others", hint=hint)
    need_predictions(y_prob, several, caller=caller)
    return {"": compute(y_true, y_prob, **options)}


def need_predictions(y_prob: Any, instead: str, *, caller: str) -> None:
    """Raise if there are outcomes without predictions, and no result `instead` of both."""
    if y_prob is None:
        hint = f"pass `y_true` and `y_prob`, or {instead}."
        raise invalid(caller, "y_prob", "given beside `y_true`", "None", hint=hint)
