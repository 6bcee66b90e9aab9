"""Shares of classes from scores and a few labels, and which rows to label next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.results._forms.html import html_headline, html_table
from veridical.results._forms.text import note_lines, text_row
from veridical.results.base import ArrayResult, Result, columns_of, field_names

_HEADER = ("class", "rate", "low", "high", "labels alone", "low", "high", "mean score")


@dataclass(frozen=True, kw_only=True, repr=False)
class ClassRate(Result):
    """Share of one class.

    Attributes
    ----------
    label : the class
    estimate, low, high : its share, and limits at the confidence level
    labels_estimate, labels_low, labels_high : the same from the labels alone
    mean_score : mean of the scores as they were given, over the rows without a label; None if
        there are none
    tuning : how far scores are trusted, from 0 (labels alone) to 1; None for "rogan-gladen"
    worth : labels alone that would have limits this narrow; None for "normal" and "rogan-gladen"
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("mean_score", "tuning", "worth")

    label: Any
    estimate: float
    low: float
    high: float
    labels_estimate: float
    labels_low: float
    labels_high: float
    mean_score: float | None
    tuning: float | None
    worth: float | None


@dataclass(frozen=True, kw_only=True, repr=False)
class RateEstimate(Result):
    """Shares of classes, of which few rows have a label and many a score.

    Attributes
    ----------
    rates : one record a class; of two classes that of the positive one only
    confidence_level : how often such limits hold the true share, class by class
    method : "prediction-powered", "normal", "labels" or "rogan-gladen"
    map : what scores went through before they were used, in words
    target : the rows whose share is estimated, in words
    design : how rows came to have a label, in words
    n_labelled, n_unlabelled : rows with and without a label
    transport : whether scores are wrong by the same amount in every stratum: "shown", "differs" or
        "not shown"; None without strata
    notes : statistical doubts in words

    Examples
    --------
    >>> one = ClassRate(label=1, estimate=0.25, low=0.125, high=0.375, labels_estimate=0.2,
    ...     labels_low=0.05, labels_high=0.4, mean_score=0.5, tuning=0.5, worth=40.0)
    >>> found = RateEstimate(rates=(one,), confidence_level=0.95, method="prediction-powered",
    ...     map="none", target="all rows", design="at random", n_labelled=20, n_unlabelled=400)
    >>> found.estimate, found.low, found.high
    (0.25, 0.125, 0.375)
    """

    rates: tuple[ClassRate, ...]
    confidence_level: float
    method: str
    map: str
    target: str
    design: str
    n_labelled: int
    n_unlabelled: int
    transport: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels of the classes."""
        return tuple(rate.label for rate in self.rates)

    @property
    def estimate(self) -> float | FloatArray:
        """Share of the positive class of two; shares in class order for more."""
        return self._each("estimate")

    @property
    def low(self) -> float | FloatArray:
        """Lower limit, or limits in class order."""
        return self._each("low")

    @property
    def high(self) -> float | FloatArray:
        """Upper limit, or limits in class order."""
        return self._each("high")

    def _each(self, name: str) -> float | FloatArray:
        values = [float(getattr(rate, name)) for rate in self.rates]
        return values[0] if len(values) == 1 else np.array(values)

    def _text(self) -> str:
        lines = [self._headline(), *self._table()]
        lines += [f"  target: {self.target}", f"  labels: {self.design}"]
        if self.map != "none":
            lines.append(f"  map: {self.map}")
        if self.transport is not None:
            lines.append(f"  same error in every stratum: {self.transport}")
        return "\n".join([*lines, *note_lines(self.notes)])

    def _headline(self) -> str:
        rows = f"{self.n_labelled:,} rows with a label, {self.n_unlabelled:,} without"
        level = f"{100 * self.confidence_level:g} %"
        if len(self.rates) > 1:
            how = f"{level} limits each ({self.method}; {rows})"
            return f"Shares of {len(self.rates)} classes, {how}"
        one = self.rates[0]
        return (
            f"Rate of {one.label!r}: {one.estimate:.4f}, {level} interval {one.low:.4f} to"
            f" {one.high:.4f} ({self.method}; {rows})"
        )

    def _table(self) -> list[str]:
        if len(self.rates) > 1:
            width = max(8, *(len(str(label)) + 2 for label in self.classes))
            table = (_HEADER, *self._rows())
            return [f"  {label:<{width}}{text_row(cells, 13)}" for label, *cells in table]
        one = self.rates[0]
        limits = f"{one.labels_low:.4f} to {one.labels_high:.4f}"
        lines = [f"  labels alone  {one.labels_estimate:.4f}, {limits}"]
        if one.mean_score is not None:
            lines.append(f"  mean score    {one.mean_score:.4f}")
        if one.worth is not None and one.tuning:
            lines.append(f"  worth         {one.worth:,.0f} labels without scores")
        return lines

    def _rows(self) -> list[tuple[str, ...]]:
        names = ("estimate", "low", "high", "labels_estimate", "labels_low", "labels_high")
        return [
            (
                str(rate.label),
                *(f"{getattr(rate, name):.4f}" for name in names),
                "" if rate.mean_score is None else f"{rate.mean_score:.4f}",
            )
            for rate in self.rates
        ]

    def _repr_html_(self) -> str:
        said = (f"target: {self.target}", f"labels: {self.design}", *self.notes)
        return html_headline(self._headline(), html_table(_HEADER, self._rows()), notes=said)

    def _columns(self) -> dict[str, list[Any]]:
        """One row a class."""
        table = columns_of(self.rates, field_names(ClassRate))
        table["label"] = [str(label) for label in table["label"]]
        return table


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LabelPlan(ArrayResult):
    """How many rows to label so that limits of a rate are narrow, and which.

    Attributes
    ----------
    n_labels : new labels
    rows : numbers of the rows to label, increasing
    label_prob : chance of each row to have a label; what `estimate_rate` takes
    half_width : half of the distance between limits that is expected
    rate : the rate it is expected at
    n_random : labels of rows drawn at random that would do as well without scores
    confidence_level : of the limits
    notes : statistical doubts in words

    Examples
    --------
    >>> print(LabelPlan(n_labels=2, rows=np.array([1, 3]), label_prob=np.full(4, 0.5),
    ...     half_width=0.3, rate=0.5, n_random=3, confidence_level=0.95))
    Label 2 of 4 rows: 95 % limits of a rate near 0.5 about 0.3 to either side (3 labels without
     scores)
    """

    n_labels: int
    rows: IntArray
    label_prob: FloatArray
    half_width: float
    rate: float
    n_random: int
    confidence_level: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Numbers of rows, also after a journey through JSON.
        object.__setattr__(self, "rows", np.asarray(self.rows).astype(np.intp))
        super().__post_init__()

    def _text(self) -> str:
        headline = (
            f"Label {self.n_labels:,} of {len(self.label_prob):,} rows:"
            f" {100 * self.confidence_level:g} % limits of a rate near {self.rate:.3g} about"
            f" {self.half_width:.3g} to either side ({self.n_random:,} labels without scores)"
        )
        return "\n".join([headline, *note_lines(self.notes)])

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each row to label."""
        rows = self.rows.tolist()
        return {"row": rows, "label_prob": self.label_prob[self.rows].tolist()}
