"""Segments of the rows that nobody named: what a search over all of them found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical.results._forms.text import note_lines
from veridical.results.base import Result, columns_of, field_names, format_pvalue, say_pvalue

_HEADER = ("segment", "rows", "says", "happens", "low", "high", "T", "z", "p")
_LISTED = 10  # segments of a text


@dataclass(frozen=True, kw_only=True, repr=False)
class Segment(Result):
    """Rows that have some feature values in common, and what predictions are worth there.

    Attributes
    ----------
    name : in words, such as "gender = female, region = South"; "all rows"
    values : the same, a text for each feature
    features : names of these features
    n_samples : rows
    says, happens : mean prediction, and share of the rows where the event happened
    low, high : limits of what happens, which hold for all segments searched at once
    range : largest minus smallest sum of w (y - p) along the scores, over the sum of weights
    statistic : the same in standard errors
    z : the gap at the end of the scores (the level) in standard errors
    pvalue : of the segment, adjusted for the search (step-down)
    label : class that it is about; None if there is one event only
    from_score, to_score : predictions between which the sum moves by its range; None where that
        was not looked at
    part_says, part_happens : mean prediction and share of events of the rows between these
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name",)
    _number_columns: ClassVar[tuple[str, ...]] = (
        "from_score",
        "to_score",
        "part_says",
        "part_happens",
    )

    name: str
    values: tuple[str, ...]
    features: tuple[str, ...]
    n_samples: int
    says: float
    happens: float
    low: float
    high: float
    range: float
    statistic: float
    z: float
    pvalue: float
    label: Any = None
    from_score: float | None = None
    to_score: float | None = None
    part_says: float | None = None
    part_happens: float | None = None

    @property
    def gap(self) -> float:
        """What happens minus what is said."""
        return self.happens - self.says

    def in_words(self, n_resamples: int | None = None) -> str:
        """One sentence: who, how many, what is said and what happens, and how sure that is.

        Examples
        --------
        >>> women = Segment(name="gender = female", values=("gender = female",),
        ...     features=("gender",), n_samples=2806, says=0.5, happens=0.38, low=0.35, high=0.41,
        ...     range=0.12, statistic=13.6, z=-12.7, pvalue=0.001)
        >>> women.in_words(999)
        'gender = female (2,806 rows): says 0.50, happens 0.38 (0.35 to 0.41), adjusted p < 0.0011'
        """
        about = "" if self.label is None else f", class {self.label!r}"
        limits = f"({two(self.low)} to {two(self.high)})"
        words = (
            f"{self.name} ({self.n_samples:,} rows{about}): says {two(self.says)}, happens"
            f" {two(self.happens)} {limits}"
        )
        if self.hidden and self.part_says is not None and self.part_happens is not None:
            stretch = f"{two(self.from_score or 0.0)} to {two(self.to_score or 0.0)}"
            words += (
                f"; of predictions from {stretch}: says {two(self.part_says)}, happens"
                f" {two(self.part_happens)}"
            )
        return f"{words}, {say_pvalue(self.pvalue, n_resamples, name='adjusted p')}"

    @property
    def hidden(self) -> bool:
        """Whether the level alone does not show it: predictions are off in opposite ways."""
        return abs(self.z) < 0.7 * self.statistic and self.from_score is not None


def _natural(words: str) -> tuple[int, float, int, str]:
    """Numbers in their order, then words, then what is other or missing."""
    last = words.rsplit(" ", 1)[-1]
    if last in ("other", "missing"):
        return 2, 0.0, 0, words
    found = re.search(r" (?:= |up to |above )?(-?[\d.]+(?:e[-+]?\d+)?)(?= |$)", words)
    if found is None:
        return 1, 0.0, 0, words
    above = " above " in words or words.endswith(" or more")
    below = " up to " in words or words.endswith(" or less")
    return 0, float(found[1]), above - below, words


def two(value: float) -> str:
    """A probability with two decimals, more where it is close to 0 or 1."""
    near = min(abs(value), abs(1 - value))
    if near >= 0.095 or near == 0:
        return f"{value:.2f}"
    return f"{value:.3f}" if near >= 0.0095 else f"{value:.2g}" if value < 0.5 else f"{value:.4f}"


@dataclass(frozen=True, kw_only=True, repr=False)
class WorstGap(Result):
    """The largest gap, up or down, between what is said and what happens in any segment.

    Attributes
    ----------
    estimate : largest absolute gap that was read; too large, as the largest of many is
    low, high : limits of the largest absolute gap of all segments searched
    low_segment, high_segment : whose limits these are
    """

    estimate: float
    low: float
    high: float
    low_segment: str
    high_segment: str


@dataclass(frozen=True, kw_only=True, repr=False)
class SegmentAudit(Result):
    """What a search for miscalibration over all segments found.

    Attributes
    ----------
    pvalue : of calibration in every segment at once, whatever their number
    statistic : largest standardised range of any segment
    critical : what it stays below with the chance `confidence_level` if predictions are right
    found : the shortest descriptions that carry the deviation, strongest first; of what is left
        without the rows of those before. Empty if nothing was found
    segments : the segments of the largest statistics, at most 500, largest first
    worst : the largest gap of any segment, with limits that hold for the search
    n_segments : segments searched
    n_samples : rows
    features : names of the features
    depth, min_rows : most features of a segment, and fewest rows
    event : what a prediction is the probability of, in words
    lens, n_resamples, confidence_level : as used
    null : how outcomes were drawn, in words
    notes : statistical doubts in words
    """

    pvalue: float
    statistic: float
    critical: float
    found: tuple[Segment, ...]
    segments: tuple[Segment, ...]
    worst: WorstGap
    n_segments: int
    n_samples: int
    features: tuple[str, ...]
    depth: int
    min_rows: int
    event: str
    lens: str
    n_resamples: int
    confidence_level: float
    null: str
    notes: tuple[str, ...] = ()

    @property
    def rejected(self) -> bool:
        """Whether calibration in all segments is rejected at 1 - `confidence_level`."""
        return self.pvalue <= (1 - self.confidence_level) * (1 + 1e-9)

    @property
    def sentence(self) -> str:
        """What was found, in one or two sentences."""
        searched = f"{self.n_segments:,} segments of at least {self.min_rows:,} rows searched"
        p = say_pvalue(self.pvalue, self.n_resamples)
        if self.rejected:
            first = self.found[0].name if self.found else self.segments[0].name
            return f"At least one segment is miscalibrated ({p}; {searched}): first {first}."
        least = f"gaps of up to {two(self.worst.high)} ({self.worst.high_segment}) are possible"
        return f"Miscalibration of a segment is not shown ({p}; {searched}); {least}."

    def _headline(self) -> str:
        return self.sentence

    def _text(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """The sentence, the descriptions, and a table of the segments that deviate most."""
        lines = wrapped(self.sentence, width, indent=0, hanging=2)
        lines += wrapped(self.how, width)
        if self.found:
            lines.append("")
            for number, each in enumerate(self.found, start=1):
                words = f"{number}. {each.in_words(self.n_resamples)}"
                lines += wrapped(words, width, hanging=5)
        lines += ["", *wrapped(self.worst_words, width), ""]
        rows = self.rows(self.segments[:_LISTED])
        lines += table_lines(self.header, rows, width=width, words=("segment", "class"))
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    @property
    def how(self) -> str:
        """What was searched and how, in words."""
        conjunctions = f"conjunctions of up to {self.depth} of" if self.depth > 1 else "values of"
        listed = ", ".join(self.features[:8]) + (", ..." if len(self.features) > 8 else "")
        return (
            f"{self.n_samples:,} rows; {conjunctions} {listed}; predictions of {self.event}"
            f" ({self.lens} lens); {self.null}, {self.n_resamples:,} times for all segments at once"
        )

    @property
    def worst_words(self) -> str:
        """Limits of the largest gap, in a sentence."""
        worst, level = self.worst, f"{100 * self.confidence_level:g} %"
        return (
            f"Largest gap of any segment: at least {two(worst.low)}"
            + (f" ({worst.low_segment})" if worst.low > 0 else "")
            + f", at most {two(worst.high)} ({worst.high_segment}), {level} limits for all at once."
        )

    def shown(self, most: int = 12) -> tuple[Segment, ...]:
        """Those found first, then those of the largest statistics."""
        names = {(each.name, each.label) for each in self.found}
        rest = [each for each in self.segments if (each.name, each.label) not in names]
        return (*self.found, *rest)[:most]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of features that segments are made of, the strongest first."""
        both = [each.features for each in self.shown(len(self.segments))]
        known = dict.fromkeys(names for names in both if len(names) == 2)
        return tuple((first, second) for first, second in known)

    def pair(
        self, first: str, second: str
    ) -> tuple[tuple[str, ...], tuple[str, ...], dict[tuple[int, int], Segment]]:
        """Segments of two features as a table: values of each, and the segments by their places.

        Of values that no listed segment has there is nothing.
        """
        inside = [each for each in self.segments if each.features == (first, second)]
        ends = [tuple(sorted({each.values[k] for each in inside}, key=_natural)) for k in (0, 1)]
        places = {
            (ends[0].index(each.values[0]), ends[1].index(each.values[1])): each for each in inside
        }
        return ends[0], ends[1], places

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of `rows`."""
        several = any(each.label is not None for each in self.segments)
        return (_HEADER[0], "class", *_HEADER[1:]) if several else _HEADER

    def rows(self, segments: tuple[Segment, ...]) -> list[tuple[str, ...]]:
        """Cells of a table of segments."""
        several = any(each.label is not None for each in self.segments)
        return [
            (
                each.name,
                *((str(each.label),) if several else ()),
                f"{each.n_samples:,}",
                *(f"{v:.3f}" for v in (each.says, each.happens, each.low, each.high)),
                f"{each.statistic:.2f}",
                f"{each.z:.2f}",
                format_pvalue(each.pvalue, self.n_resamples),
            )
            for each in segments
        ]

    def _columns(self) -> dict[str, list[Any]]:
        """One row a segment."""
        names = [name for name in field_names(Segment) if name not in ("values", "features")]
        return columns_of(self.segments, [*names[:4], "gap", *names[4:]])

    _text_columns: ClassVar[tuple[str, ...]] = ("name",)
    _number_columns: ClassVar[tuple[str, ...]] = Segment._number_columns
