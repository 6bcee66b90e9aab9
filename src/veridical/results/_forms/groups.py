"""Subgroups of an evaluation: the figures of all of them, and each in full when looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veridical.results._forms.text import number_or_blank
from veridical.results.base import format_pvalue

if TYPE_CHECKING:
    from veridical.results.evaluation import Evaluation


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """The figures of one subgroup that a table of all shows.

    Attributes
    ----------
    key : of the group
    n_samples, mean_predicted, mean_observed, accuracy, auc, brier, log : as in `Evaluation`
    error, low, high, null_mean, null_q95, pvalue : of the error that speaks for the lens
    n_resamples : draws of its null level
    """

    key: Any
    n_samples: int
    mean_predicted: float
    mean_observed: float
    accuracy: float
    auc: float | None
    brier: float
    log: float
    error: float
    low: float | None = None
    high: float | None = None
    null_mean: float | None = None
    null_q95: float | None = None
    pvalue: float | None = None
    n_resamples: int | None = None

    @property
    def calibration_in_the_large(self) -> float:
        """Observed minus predicted mean."""
        return self.mean_observed - self.mean_predicted

    @classmethod
    def of(cls, key: Any, e: Evaluation) -> GroupRow:
        """The figures of an evaluation."""
        m = e.default
        return cls(
            key=key,
            n_samples=e.n_samples,
            mean_predicted=e.mean_predicted,
            mean_observed=e.mean_observed,
            accuracy=e.accuracy,
            auc=e.auc,
            brier=e.scores["brier"],
            log=e.scores["log"],
            error=m.value,
            low=m.low,
            high=m.high,
            null_mean=m.null_mean,
            null_q95=m.null_q95,
            pvalue=m.pvalue,
            n_resamples=m.n_resamples,
        )


class EvaluatedGroups(Sequence[tuple[Any, "Evaluation"]]):
    """Pairs (key, evaluation) of many subgroups, each evaluated in full when it is looked at.

    Parameters
    ----------
    table : the figures of all of them, in order
    make : evaluates the group of an index
    """

    def __init__(self, table: Sequence[GroupRow], make: Callable[[int], Evaluation]) -> None:
        self.table = tuple(table)
        self._make = make
        self._made: dict[int, Evaluation] = {}
        self._library: str | None = None

    def answer_in(self, library: str) -> None:
        """Let the tables of all of them be of this library by default."""
        self._library = library
        for evaluation in self._made.values():
            object.__setattr__(evaluation, "_library", library)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place not in self._made:
            evaluation = self._make(place)
            if self._library is not None:
                object.__setattr__(evaluation, "_library", self._library)
            self._made[place] = evaluation
        return self.table[place].key, self._made[place]

    def __iter__(self) -> Iterator[tuple[Any, Evaluation]]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self):,} groups, evaluated when looked at>"


def group_rows_of(groups: Sequence[tuple[Any, Evaluation]]) -> tuple[GroupRow, ...]:
    """The figures of all groups, of which none is evaluated for it."""
    if isinstance(groups, EvaluatedGroups):
        return groups.table
    return tuple(GroupRow.of(key, evaluation) for key, evaluation in groups)


def table_of_groups(
    rows: Sequence[GroupRow], error: str, adjusted: dict[str, float]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of a table of groups, those that stand out most first."""
    tested = (error, "interval", "null", "95 % up to", "adjusted p" if adjusted else "p")
    header = ("group", "rows", "observed", "brier", "log", "in the large", *tested)
    found = []
    for g in rows:
        pvalue = adjusted.get(str(g.key), g.pvalue)
        cells = (
            str(g.key),
            f"{g.n_samples:,}",
            *(f"{value:.4f}" for value in (g.mean_observed, g.brier, g.log)),
            f"{g.calibration_in_the_large:+.4f}",
            f"{g.error:.4f}",
            "" if g.low is None else f"{g.low:.4f} to {g.high:.4f}",
            number_or_blank(g.null_mean),
            number_or_blank(g.null_q95),
            "" if pvalue is None else format_pvalue(pvalue, g.n_resamples),
        )
        found.append((1.0 if pvalue is None else pvalue, -g.error, cells))
    found.sort(key=lambda row: row[:2])
    return header, [cells for *_, cells in found]


def columns_of_groups(
    rows: Sequence[GroupRow], error: str, adjusted: dict[str, float]
) -> dict[str, list[Any]]:
    """One row a group, in order."""
    plain = (
        "n_samples",
        "mean_predicted",
        "mean_observed",
        "calibration_in_the_large",
        "accuracy",
        "auc",
        "brier",
        "log",
    )
    columns: dict[str, list[Any]] = {"group": [str(g.key) for g in rows]}
    columns |= {name: [getattr(g, name) for g in rows] for name in plain}
    columns["error"] = [error] * len(rows)
    columns["value"] = [g.error for g in rows]
    beside = ("low", "high", "null_mean", "null_q95", "pvalue")
    columns |= {name: [getattr(g, name) for g in rows] for name in beside}
    columns["adjusted"] = [adjusted.get(str(g.key)) for g in rows]
    return columns
