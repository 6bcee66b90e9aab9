"""Repetitions of classifiers and sizes, done in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veridical.experiments._laboratory import Cell, Laboratory, Work

Key = tuple[str, int]  # classifier, and rows a map is fitted to
SURVEY_ROWS = 10_000  # on which the survey trains its networks and fits its maps


def classifier_cells(name: str, networks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what names a classifier in a cell: once, or for every network."""
    if name == "MLP":
        return [{"classifier": name, **network} for network in networks]
    return [{"classifier": name}]


def repeat(
    lab: Laboratory,
    what: str,
    work: Work,
    keys: Sequence[Key],
    networks: Sequence[Mapping[str, Any]],
    n_repetitions: int,
    asked: Cell,
) -> dict[Key, list[dict[str, Any]]]:
    """Return all repetitions of every classifier and size; networks take turns."""
    cells = [
        {**models[i % len(models)], **asked, "n_rows": n, "repetition": i}
        for models, n in ((classifier_cells(name, networks), n) for name, n in keys)
        for i in range(n_repetitions)
    ]
    done = lab.map(what, work, cells)
    return {key: done[i * n_repetitions : (i + 1) * n_repetitions] for i, key in enumerate(keys)}
