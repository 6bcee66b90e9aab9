"""The result of `evaluate`, with its forms for the terminal and the notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from veridical._core.data.labels import shortened
from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical.frames.tables import small_table
from veridical.results._forms.groups import (
    EvaluatedGroups,
    columns_of_groups,
    group_rows_of,
    table_of_groups,
)
from veridical.results._forms.names import find_name
from veridical.results._forms.text import note_lines, number_or_blank
from veridical.results.base import Result, format_pvalue, say_pvalue
from veridical.results.curves import ReliabilityCurve, ReliabilityDisplay
from veridical.results.figures import Coefficient, Decomposition, MeasuredError
from veridical.results.segments import SegmentAudit
from veridical.results.verdict import Verdict

_UNTESTED = Verdict()
_MOST_CLASSES = 6  # base rates beyond these are summarised
_LONGEST = 60  # letters of a label
_PARTS = ("miscalibration", "discrimination", "uncertainty")
_SCORE_HEADER = ("score", "value", "interval")
_ERROR_HEADER = ("calibration error", "value", "interval", "null", "95 % up to", "p", "definition")
_WORDS = ("calibration error", "definition")
_WIDE = 110  # from here on there is room for definitions beside the errors


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{low:.4f} to {high:.4f}"


def _pvalue(m: MeasuredError) -> str:
    return "" if m.pvalue is None else format_pvalue(m.pvalue, m.n_resamples)


def _coefficient(value: Coefficient) -> str:
    estimate = "unknown" if value.estimate is None else f"{value.estimate:.4f}"
    return f"{estimate} ({_range(value.low, value.high)})"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Evaluation(Result):
    """Everything `evaluate` measured.

    Attributes
    ----------
    n_samples : rows (of positive weight)
    sum_weight : sum of weights, n_samples without weights
    classes : labels in column order; the last of two is the positive one
    lens : name of the lens of `errors`
    base_rate : share of each class
    accuracy : share of rows whose most probable class occurred
    auc : area under the ROC curve; mean of one-vs-rest areas for K > 2; None if undefined
    auc_by_class : one-vs-rest areas, None where a class or its complement is absent
    mean_predicted, mean_observed : means of the binary problem of `curve`
    calibration_in_the_large : mean_observed - mean_predicted
    observed_expected : mean_observed / mean_predicted, None if nothing was expected
    scores : mean score by rule, of the whole prediction
    decompositions : parts of the Brier and log score
    errors : calibration errors that fit the lens, each with its definition
    curve : reliability curve
    slope, intercept : of the recalibration line of the problem of `curve`: Cox's slope (below 1:
        too extreme) and the intercept with slope 1 (below 0: predictions too high); None if unknown
    default_error : name of the error that speaks for the lens
    verdict : what may be said about calibration; `str` gives the words
    confidence_level : of all intervals
    limits : confidence limits (low, high) of figures by their name in `figures`, see `interval`;
        errors and coefficients hold their own
    notes : statistical doubts in words
    groups : (key, Evaluation) of each subgroup, in order, if `by` was given; more than 20 are each
        evaluated in full when looked at, and `group_frame` has the figures of all
    display : the reliability diagram, with bins and axes that fit these rows; None in older files
    segments : what a search over all segments found, if `by="auto"` was given
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group",)
    _number_columns: ClassVar[tuple[str, ...]] = (
        "value",
        "null_mean",
        "null_q95",
        "low",
        "high",
        "pvalue",
    )

    n_samples: int
    sum_weight: float
    classes: tuple[Any, ...]
    lens: str
    base_rate: tuple[float, ...]
    accuracy: float
    auc: float | None
    auc_by_class: tuple[float | None, ...]
    mean_predicted: float
    mean_observed: float
    calibration_in_the_large: float
    observed_expected: float | None
    scores: dict[str, float]
    decompositions: tuple[Decomposition, ...]
    errors: tuple[MeasuredError, ...]
    curve: ReliabilityCurve
    confidence_level: float = 0.95
    slope: Coefficient | None = None
    intercept: Coefficient | None = None
    default_error: str = "ECE"
    verdict: Verdict = _UNTESTED
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    groups: Sequence[tuple[Any, Evaluation]] = ()
    display: ReliabilityDisplay | None = None
    segments: SegmentAudit | None = None

    def error(self, name: str) -> MeasuredError:
        """Return the calibration error of that name; KeyError lists what was measured."""
        known = {measured.name: measured for measured in self.errors}
        return known[find_name(name, known, caller="error")]

    def __getitem__(self, name: str) -> float | None:
        """Value of the figure of that name: "ECE", "AUC", "brier", "slope", as `figures` has it."""
        known = {figure: value for figure, *_, value in self.figures()}
        for line in ("slope", "intercept"):
            if (coefficient := getattr(self, line)) is not None:
                known[line] = coefficient.estimate
        return known[find_name(name, known, caller="Evaluation")]

    def interval(self, name: str) -> tuple[float, float]:
        """Return (low, high) of the figure of that name; KeyError lists the figures with limits.

        Names are those of `figures`, such as "AUC", "accuracy", "brier", "calibration in the
        large", "observed/expected", "brier miscalibration" or "ECE"; and "slope", "intercept".
        """
        known = dict(self.limits)
        for m in self.errors:
            if m.low is not None and m.high is not None:
                known[m.name] = (m.low, m.high)
        for line in ("slope", "intercept"):
            if (coefficient := getattr(self, line)) is not None:
                known[line] = (coefficient.low, coefficient.high)
        return known[find_name(name, known, caller="interval")]

    @property
    def default(self) -> MeasuredError:
        """The error that speaks for the lens."""
        return self.error(self.default_error)

    def group(self, key: Any) -> Evaluation:
        """Return the evaluation of one subgroup; KeyError lists the groups."""
        keys = [row.key for row in group_rows_of(self.groups)]
        for index, exact in enumerate(keys):
            if exact == key:
                return self.groups[index][1]
        known = {str(each): index for index, each in enumerate(keys)}
        return self.groups[known[find_name(key, known, caller="group")]][1]

    def group_frame(self, *, backend: str | None = None) -> Any:
        """One row a subgroup: means, scores, AUC, and the error that speaks for the lens.

        That error has limits, its null level, a p-value of the group by itself and one `adjusted`
        for all groups, that of the verdict. `backend` as in `to_frame`, which has every figure in
        a row of its own and evaluates every group in full for that.
        """
        rows = group_rows_of(self.groups)
        return small_table(
            columns_of_groups(rows, self.default_error, self._adjusted()),
            backend=self._library if backend is None else backend,
            text=("group", "error"),
            numbers=("auc", "low", "high", "null_mean", "null_q95", "pvalue", "adjusted"),
            caller="group_frame",
        )

    def _text(self) -> str:
        """Headline, verdict, the figures that matter most, and groups or else the curve."""
        overview = self._overview()[1 if len(self.classes) == 2 else 0 :]  # observed says it, too
        lines = self._head_lines(WIDTH, [*overview, *self._main_figures()])
        table = self._group_lines(WIDTH) if self.groups else self._curve_lines(WIDTH)
        if self.segments is not None:
            lines += ["", *self._segment_lines(WIDTH)]
        rest = "to_text() has every score, calibration error and definition"
        rest += " and the curve" if self.groups else ""
        lines += ["", *table, *note_lines(self.notes, width=WIDTH), "", f"  {rest}"]
        return "\n".join(lines)

    def to_text(self, *, width: int = WIDTH) -> str:
        """Headline and verdict, then the figures; definitions beside them if there is room."""
        lines = self._head_lines(width, self._overview())
        lines += ["", *self._score_lines(width), "", *self._error_lines(width), ""]
        lines += self._curve_lines(width)
        if self.groups:
            lines += ["", *self._group_lines(width)]
        if self.segments is not None:
            lines += ["", *("  " + x for x in self.segments.to_text(width=width - 2).splitlines())]
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    def _segment_lines(self, width: int) -> list[str]:
        """What a search over segments found, in a few lines."""
        assert self.segments is not None
        lines = wrapped(self.segments.sentence, width)
        for each in self.segments.found[:3]:
            lines += wrapped(each.in_words(self.segments.n_resamples), width, indent=4, hanging=2)
        return lines

    def _head_lines(self, width: int, figures: list[tuple[str, str]]) -> list[str]:
        lines = [*wrapped(self._headline(), width, indent=0, hanging=2), ""]
        if self.verdict.text:
            lines += [*wrapped(self.verdict.text, width), ""]
        for name, value in figures:
            first, *rest = wrapped(value, width, indent=28)
            lines += [f"  {name:<26}{first.strip()}", *rest]
        return lines

    def _curve_lines(self, width: int) -> list[str]:
        table = ["  " + line for line in self.curve.table()]
        return [*wrapped(self._curve_heading(), width), *table]

    def _main_figures(self) -> list[tuple[str, str]]:
        """Scores of the whole prediction, and the error that speaks for the lens."""
        rows = [
            (f"{rule} score", f"{self.scores[rule]:.4f}{self._beside(rule)}")
            for rule in ("brier", "log")
            if rule in self.scores
        ]
        m = self.default
        error = f"{m.value:.4f}" + ("" if m.low is None else f" ({_range(m.low, m.high)})")
        if m.null_mean is not None:
            error += f", null {m.null_mean:.4f}"
            error += "" if m.pvalue is None else f", {say_pvalue(m.pvalue, m.n_resamples)}"
        return [*rows, (m.name, error)]

    def _summary(self) -> str:
        found = self.verdict.in_short
        return f"{self._headline()}: {found}" if found else self._headline()

    def _headline(self) -> str:
        """Return one line: what was evaluated."""
        weighted = (
            "" if self.sum_weight == self.n_samples else f", sum of weights {self.sum_weight:.6g}"
        )
        if len(self.classes) == 2:
            what = f"positive class {self.classes[1]!r}"
        else:
            what = f"{len(self.classes)} classes"
        what = self.verdict.about or what
        return f"Evaluation of {self.n_samples:,} rows: {what}, {self.lens} lens{weighted}"

    def _curve_heading(self) -> str:
        return f"reliability: {self.curve.says} ({self.curve.lens}: {self.curve.definition})"

    def _overview(self) -> list[tuple[str, str]]:
        if len(self.classes) == 2:
            rates = f"{self.base_rate[1]:.4f} of {shortened(repr(self.classes[1]), _LONGEST)}"
        else:
            pairs = zip(self.classes[:_MOST_CLASSES], self.base_rate[:_MOST_CLASSES], strict=True)
            rates = ", ".join(
                f"{shortened(str(label), _LONGEST)}:\xa0{rate:.3f}" for label, rate in pairs
            )
            more = len(self.classes) - _MOST_CLASSES
            rates += f", and {more} more" if more > 0 else ""
        auc = "undefined (a class did not occur)"
        if self.auc is not None:
            auc = f"{self.auc:.4f}{self._beside('AUC')}"
            auc += "" if len(self.classes) == 2 else ", mean of one-vs-rest"
        large = f"{self.calibration_in_the_large:+.4f}{self._beside('calibration in the large')}"
        ratio = f"{self.mean_observed:.4f} / {self.mean_predicted:.4f}"
        if self.observed_expected is not None:
            ratio += f" = {self.observed_expected:.4f}{self._beside('observed/expected')}"
        lines = [
            (f"recalibration {name}", _coefficient(value))
            for name, value in (("slope", self.slope), ("intercept", self.intercept))
            if value is not None
        ]
        return [
            ("base rate", rates),
            ("accuracy", f"{self.accuracy:.4f}{self._beside('accuracy')}"),
            ("AUC", auc),
            ("calibration in the large", large),
            ("observed / expected", ratio),
            *lines,
        ]

    def _beside(self, name: str) -> str:
        """The interval of a figure in brackets, if it has one."""
        return f" ({_range(*self.limits[name])})" if name in self.limits else ""

    def _score_lines(self, width: int) -> list[str]:
        """Scores, and the parts of those that have some, with what they mean below."""
        rows = self._score_rows("\xa0\xa0{part}")
        lines = table_lines(_SCORE_HEADER, rows, width=width, words=("score",))
        if not self.decompositions:
            return lines
        first = self.decompositions[0]
        meaning = f"score = miscalibration - discrimination + uncertainty ({first.definition})"
        return [*lines, *wrapped(meaning, width)]

    def _score_rows(self, name_of_part: str) -> list[tuple[str, ...]]:
        """Rows of the table of scores, each followed by its parts.

        Where only a lens of the whole prediction is split, its own score is a row before them.
        """
        parts = {d.rule: d for d in self.decompositions}
        rows: list[tuple[str, ...]] = []
        for rule, score in self.scores.items():
            rows.append((rule, f"{score:.4f}", _range(*self.limits.get(rule, (None, None)))))
            if (d := parts.get(rule)) is None:
                continue
            if len(self.classes) > 2 or d.lens != "binary":
                rows.append((f"{rule} of the {d.lens} lens", f"{d.score:.4f}", ""))
            for part in _PARTS:
                limits = self.limits.get(f"{rule} {part}", (None, None))
                name = name_of_part.format(rule=rule, part=part)
                rows.append((name, f"{getattr(d, part):z.4f}", _range(*limits)))
        return rows

    def _score_table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return _SCORE_HEADER, self._score_rows("{rule} {part}")

    def _error_table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return _ERROR_HEADER, self._error_rows()

    def _error_lines(self, width: int) -> list[str]:
        """Calibration errors; where definitions find no room beside them, they are below."""
        rows = self._error_rows()
        drop = () if width >= _WIDE else _WORDS[1:]
        lines = table_lines(_ERROR_HEADER, rows, width=width, words=_WORDS, drop=drop)
        if lines[0].endswith(_ERROR_HEADER[-1]):
            return lines
        named: dict[str, list[str]] = {}
        for m in self.errors:
            lens = "" if m.lens == self.default.lens else f"{m.lens} lens, "
            named.setdefault(lens + m.definition, []).append(m.name)
        usual = max(named, key=lambda each: len(named[each]))
        others = [f"{', '.join(names)}: {what}" for what, names in named.items() if what != usual]
        return [*lines, *wrapped("; ".join([usual, *others]), width)]

    def _error_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for m in self.errors:
            numbers = (number_or_blank(m.null_mean), number_or_blank(m.null_q95), _pvalue(m))
            own = (m.name, f"{m.value:.4f}", _range(m.low, m.high))
            rows.append((*own, *numbers, f"{m.lens}: {m.definition}"))
        return rows

    def _group_lines(self, width: int) -> list[str]:
        header, rows = self._group_table()
        drop = ("in the large", "brier", "log", "observed", "95 % up to")
        return table_lines(header, rows, width=width, words=("group",), drop=drop)

    def _group_table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Header and rows of the table of subgroups, those that stand out most first."""
        rows = group_rows_of(self.groups)
        name = self.default_error
        if not isinstance(self.groups, EvaluatedGroups):
            name = self.groups[0][1].default.name
        return table_of_groups(rows, name, self._adjusted())

    def _adjusted(self) -> dict[str, float]:
        """P-values of subgroups, all of them considered, from the joint test of the verdict."""
        joint = getattr(self.verdict, "joint", None)
        parts = () if joint is None else joint.parts
        found: dict[str, float] = {}
        for part in parts:
            if part.name == "group":
                key = str(part.label)
                found[key] = min(part.adjusted, found.get(key, 1.0))
        return found

    def _columns(self) -> dict[str, list[Any]]:
        """One row a figure; `group` is None for the whole sample, null levels are of errors."""
        rows = self._rows(None)
        for key, evaluation in self.groups:
            rows += evaluation._rows(str(key))
        figure = ("quantity", "definition", "lens", "n_samples", "value")
        names = ("group", *figure, "null_mean", "null_q95", "low", "high", "pvalue")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def _rows(self, group: str | None) -> list[tuple[Any, ...]]:
        beside: dict[str, tuple[Any, ...]] = {
            name: (None, None, low, high, None) for name, (low, high) in self.limits.items()
        }
        for m in self.errors:
            beside[m.name] = (m.null_mean, m.null_q95, m.low, m.high, m.pvalue)
        nothing = (None,) * 5
        return [(group, *row, *beside.get(row[0], nothing)) for row in self.figures()]

    def figures(self) -> list[tuple[str, str, str, int, float | None]]:
        """Every figure as (quantity, definition, lens, n_samples, value)."""
        whole, n = "whole prediction", self.n_samples
        several = len(self.classes) > 2
        rows: list[tuple[str, str, str, int, float | None]] = [
            (f"base rate {label!r}", "share of rows", whole, n, rate)
            for label, rate in zip(self.classes, self.base_rate, strict=True)
        ]
        large, ratio = self.calibration_in_the_large, self.observed_expected
        drawn = self.curve.lens
        rows += [
            ("accuracy", "most probable class, ties to the first", whole, n, self.accuracy),
            ("AUC", "mean of one-vs-rest" if several else "positive class", whole, n, self.auc),
            ("mean predicted", "mean", drawn, n, self.mean_predicted),
            ("mean observed", "mean", drawn, n, self.mean_observed),
            ("calibration in the large", "mean observed - mean predicted", drawn, n, large),
            ("observed/expected", "mean observed / mean predicted", drawn, n, ratio),
        ]
        rows += [(name, "mean score", whole, n, value) for name, value in self.scores.items()]
        for d in self.decompositions:
            for part in ("miscalibration", "discrimination", "uncertainty"):
                rows.append((f"{d.rule} {part}", d.definition, d.lens, n, getattr(d, part)))
        return rows + [(m.name, m.definition, m.lens, n, m.value) for m in self.errors]
