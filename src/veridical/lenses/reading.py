"""The one way in: from what the user gave to a checked sample and the problem of a lens.

Public functions read here, once, and hand what they read to a core, which checks nothing again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

from veridical._core.data.groups import Groups, cluster_codes
from veridical._core.data.labels import shortened
from veridical._core.data.reading import AS_IT_IS, Reading, read_rows
from veridical._core.data.validation import check_sample, kept_rows
from veridical._core.resampling.rows import MOST_REPEATED
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import Array, ArrayLike, BoolArray, ColumnNames, WeightType
from veridical.exceptions import invalid, unknown_option
from veridical.frames.inputs import UNNAMED, Inputs, Named, gather_inputs
from veridical.frames.tables import GridTable
from veridical.lenses._kinds.base import CustomLens, Lens, Problem, as_multiclass
from veridical.lenses._kinds.one import Binary, ClassSpecific, Confidence, Pooled
from veridical.lenses._kinds.several import Canonical, Classwise

__all__ = [
    "CheckedData",
    "Induced",
    "RawData",
    "as_multiclass",
    "default_lens",
    "event_of",
    "named_lens",
    "resolve_lens",
]


_BY_NAME: dict[str, Callable[[], Lens]] = {
    "binary": Binary,
    "confidence": Confidence,
    "classwise": Classwise,
    "canonical": Canonical,
    "pooled": Pooled,
}


def default_lens(sample: Sample) -> Lens:
    """Return `Binary` for two classes and `Confidence` for more, so a model has one answer."""
    return Binary() if isinstance(sample, BinarySample) else Confidence()


def resolve_lens(lens: Any, sample: Sample, *, caller: str, whole: bool = False) -> Lens:
    """Return the lens meant by a name, an object, a callable ``(y, p) -> (z, q)`` or None.

    With `whole` the default lens of several classes is the whole vector, not the confidence.
    """
    if lens is None and whole and isinstance(sample, MulticlassSample):
        return Canonical()
    return default_lens(sample) if lens is None else named_lens(lens, caller=caller)


def named_lens(lens: Any, *, caller: str) -> Lens:
    """Return the lens meant by a name, an object or a callable, before any data are known."""
    if isinstance(lens, Lens):
        return lens
    if isinstance(lens, str) and lens in _BY_NAME:
        return _BY_NAME[lens]()
    if callable(lens) and not isinstance(lens, type):
        return CustomLens(lens)
    raise unknown_option(caller, "lens", lens, _BY_NAME)


_LONGEST = 40  # letters of a label in words


def event_of(lens: Lens, classes: tuple[Any, ...], y: str | None = None) -> str:
    """What a probability seen through a lens is the probability of, in words.

    Lenses of several problems are drawn through the confidence.

    Examples
    --------
    >>> event_of(Binary(), ("bad", "good"), "Status")
    "Status = 'good'"
    >>> event_of(Confidence(), (0, 1, 2))
    'the most probable class is right'
    """
    if isinstance(lens, Binary):
        return _equals(y, classes[-1])
    if isinstance(lens, ClassSpecific):
        return _equals(y, lens.label)
    if isinstance(lens, (Confidence, Classwise, Canonical)):
        return "the most probable class is right"
    return "a class occurs" if isinstance(lens, Pooled) else f"{lens.name} occurs"


def _equals(y: str | None, label: Any) -> str:
    name = "".join(c if c.isprintable() else "?" for c in y or "y")
    return f"{shortened(name, _LONGEST)} = {shortened(repr(label), _LONGEST)}"


class Induced(NamedTuple):
    """Checked data, the lens they are seen through, and the problem it induces.

    `notes` say what was guessed about the columns of a table, and what was done to values; `named`
    what its columns are called.
    """

    sample: Sample
    lens: Lens
    problem: Problem
    notes: tuple[str, ...] = ()
    named: Named = UNNAMED


@dataclass(frozen=True)
class CheckedData:
    """A checked sample, and what was given beside it.

    Attributes
    ----------
    sample : the rows of positive weight
    sample_weight : weights of the rows that were not dropped
    by : groups of all rows, if there are any
    guessed : what was guessed about the columns of a table, or None
    said : what was done to values, or accepted of them
    left : rows that were not dropped for a missing value; None if all
    named : what outcome and prediction are called
    features : columns of features of all rows, by name; None if none were asked for
    """

    sample: Sample
    sample_weight: ArrayLike | None = None
    by: Groups | None = None
    guessed: str | None = None
    said: tuple[str, ...] = ()
    left: BoolArray | None = None
    named: Named = UNNAMED
    features: dict[str, Array] | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """All there is to say of how the data were read."""
        return self.said if self.guessed is None else (self.guessed, *self.said)

    @property
    def kept(self) -> BoolArray:
        """Which of the rows given are in the sample."""
        weighty = kept_rows(self.sample_weight, self.sample)
        if self.left is None:
            return weighty
        kept = self.left.copy()
        kept[self.left] = weighty
        return kept

    def kept_features(self, *, caller: str) -> dict[str, Array]:
        """Columns of features of the rows of the sample."""
        kept, columns = self.kept, self.features or {}
        for name, column in columns.items():
            if len(column) != len(kept):
                hint = "pass one value per row."
                got = f"{len(column)} values in {name!r} for {len(kept)} rows"
                raise invalid(caller, "features", "as long as `y_true`", got, hint=hint)
        return {name: column[kept] for name, column in columns.items()}

    def with_strata(self) -> CheckedData:
        """The same, whose rows know their subgroup where weights may depend on it."""
        if self.by is None or self.sample.weight is None:
            return self
        kept = self.kept
        if len(self.by.codes) != len(kept):  # which is said where subgroups are looked at
            return self
        return replace(self, sample=replace(self.sample, strata=self.by.codes[kept]))

    def parts(self, *, caller: str) -> list[tuple[Any, Sample]] | None:
        """The sample of each group, None without groups."""
        return None if self.by is None else list(self.by.of(self.sample, self.kept, caller))

    def through(self, lens: Any, *, caller: str, whole: bool = False) -> Induced:
        """Look through a lens, or through the default one (see `resolve_lens`)."""
        chosen = resolve_lens(lens, self.sample, caller=caller, whole=whole)
        return Induced(self.sample, chosen, chosen.induce(self.sample), self.notes, self.named)


@dataclass(frozen=True)
class RawData:
    """Data as a user gave them: arrays, or a frame or file and the names of its columns.

    Attributes
    ----------
    y_true, y_prob : labels and probabilities; or the frame or file, and None
    y, prob : columns of the labels and of the probabilities
    labels, pos_label : the classes in the order of the columns, and the positive one of two
    by : keys of groups of rows, or the columns that hold them
    sample_weight, weight_type : weights of the rows, or their column, and what they mean
    groups : what rows belong to that depend on each other, or the columns that hold it
    features : columns by name or glob, or a table, of what segments are made of
    reading : how values are read, of functions that have parameters for it
    """

    y_true: Any
    y_prob: ArrayLike | None = None
    _: KW_ONLY
    y: str | None = None
    prob: ColumnNames | None = None
    labels: ArrayLike | None = None
    pos_label: Any = None
    by: Any = None
    sample_weight: Any = None
    weight_type: WeightType = "importance"
    groups: Any = None
    features: Any = None
    reading: Reading | None = None

    def weighted(self, sample_weight: Any, weight_type: WeightType = "importance") -> RawData:
        """The same rows with weights."""
        return replace(self, sample_weight=sample_weight, weight_type=weight_type)

    def check(self, *, caller: str, adapt: Callable[[Inputs], Inputs] | None = None) -> CheckedData:
        """Read and check the data on behalf of `caller`.

        `adapt` changes what was read before it is checked.
        """
        if self.y_prob is None and isinstance(getattr(self.y_true, "table", None), GridTable):
            hint = (
                "pass the rows; `evaluate`, `calibration_tests`, `measure_summary` and"
                " `summary_curve` take summaries."
            )
            expected = "rows (arrays, a frame or a file), each of which counts here"
            raise invalid(caller, "y_true", expected, "sums of them, a GridSummary", hint=hint)
        inputs = gather_inputs(
            self.y_true,
            self.y_prob,
            y=self.y,
            prob=self.prob,
            sample_weight=self.sample_weight,
            by=self.by,
            groups=self.groups,
            features=self.features,
            how=self.how.checked(caller=caller),
            labels=self.labels,
            caller=caller,
        )
        return self._checked(inputs, caller, adapt)

    @property
    def how(self) -> Reading:
        """How values are read."""
        return self.reading or AS_IT_IS

    def check_arrays(self, *, caller: str) -> CheckedData:
        """Check the data of a function that takes arrays and no tables."""
        inputs = Inputs(
            self.y_true, self.y_prob, self.sample_weight, None, self.labels, groups=self.groups
        )
        return self._checked(inputs, caller)

    def _checked(
        self, inputs: Inputs, caller: str, adapt: Callable[[Inputs], Inputs] | None = None
    ) -> CheckedData:
        rows = read_rows(
            inputs.y_true, inputs.y_prob, inputs.sample_weight, self.how, caller=caller
        )
        inputs = replace(
            inputs, y_true=rows.y_true, y_prob=rows.y_prob, sample_weight=rows.sample_weight
        )
        inputs = inputs if adapt is None else adapt(inputs)
        sample = check_sample(
            inputs.y_true,
            inputs.y_prob,
            caller=caller,
            labels=inputs.labels,
            pos_label=self.pos_label,
            sample_weight=inputs.sample_weight,
            weight_type=self.weight_type,
            option=None if self.reading is None else "scale",
        )
        named = inputs.named._replace(
            pos_label=self.pos_label is not None, pair=getattr(sample, "pair", None) is not None
        )
        data = CheckedData(
            sample,
            inputs.sample_weight,
            inputs.by,
            inputs.said,
            (*rows.notes, *sample.notes),
            rows.left,
            named,
            inputs.features,
        )
        data = data.with_strata()
        sample = data.sample
        if inputs.groups is None:
            return data
        clusters = cluster_codes(inputs.groups, data.kept, caller=caller)
        counted = sample.weight is not None and sample.weight_type == "frequency"
        if counted and sample.size > MOST_REPEATED:
            hint = "divide them, or leave `groups` out."
            expected = f"frequencies of at most {MOST_REPEATED:,} rows with `groups`"
            raise invalid(caller, "sample_weight", expected, f"{sample.size:,.0f}", hint=hint)
        if clusters.max() + 1 == sample.n and not counted:  # each row is alone; copies would not be
            return data
        return replace(data, sample=replace(sample, clusters=clusters))

    def through(self, lens: Any, *, caller: str, whole: bool = False) -> Induced:
        """Check the data on behalf of `caller` and look through a lens."""
        return self.check(caller=caller).through(lens, caller=caller, whole=whole)
