"""What a report holds: results of the library, and the few figures that are the report's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from veridical._core.data.labels import shortened
from veridical._core.typing import FloatArray
from veridical.results import (
    DecisionCurve,
    EquivalenceTest,
    Evaluation,
    Evidence,
    ReliabilityCurve,
    ReliabilityDisplay,
    Result,
    TestReport,
)
from veridical.results.base import ArrayResult


@dataclass(frozen=True, kw_only=True)
class BeforeAfter(Result):
    """A figure of held-out rows, before and after recalibration.

    Attributes
    ----------
    name : of the figure
    before, after : its values; None if undefined
    low, high : limits of the change, None if there are none
    """

    name: str
    before: float | None
    after: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class MapLine(ArrayResult):
    """A map of two classes, drawn where the predictions are.

    Attributes
    ----------
    at : probabilities of the model
    to : what the map makes of them
    """

    at: FloatArray
    to: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Recalibration(Result):
    """What recalibration does to rows the calibrator was not fitted to.

    Attributes
    ----------
    calibrator : its name
    text : one sentence
    figure : "log loss" or "Brier score", the score that is compared
    before, after : mean score; after of the calibrator fitted to all rows, on new ones
    cut, low, high : share of `before` that is saved, and its limits; None where nothing was
        compared
    n_samples, n_folds : rows used and parts they were held out in
    claimed : whether there are rows enough to say anything about the saving
    left_alone : whether the calibrator leaves predictions as they are
    figures : figures of held-out rows before and after
    before_display, after_display : reliability diagrams of held-out rows on the same axes; None
        where nothing was tried
    map : what becomes of a probability; None for three classes or more
    evidence : candidates of the automatic choice, their times set to zero; None without a choice
    note : why there is nothing, or which rows were used; "" if there is nothing to say
    """

    calibrator: str
    text: str
    figure: str = "log loss"
    before: float | None = None
    after: float | None = None
    cut: float | None = None
    low: float | None = None
    high: float | None = None
    n_samples: int = 0
    n_folds: int = 0
    claimed: bool = False
    left_alone: bool = False
    figures: tuple[BeforeAfter, ...] = ()
    before_display: ReliabilityDisplay | None = None
    after_display: ReliabilityDisplay | None = None
    map: MapLine | None = None
    evidence: Evidence | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Variant(Result):
    """One reliability curve of those a reader can switch between.

    Attributes
    ----------
    lens, label : what is asked, and of which class
    method, bins : how the curve is drawn, and with which bins if it has any
    curve : the curve
    """

    lens: str
    label: str
    method: str
    bins: str
    curve: ReliabilityCurve


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassFigures(Result):
    """One class against the rest.

    Attributes
    ----------
    label : the class, as text
    observed, predicted : share of rows, and mean probability
    auc : area under the ROC curve, None if undefined
    error : binned calibration error
    pvalue, adjusted : as a member of the joint test, by itself and with all others considered;
        None if not tested
    display : its reliability diagram; None beyond a hundred classes, and for sums
    """

    label: str
    observed: float
    predicted: float
    auc: float | None
    error: float
    pvalue: float | None = None
    adjusted: float | None = None
    display: ReliabilityDisplay | None = None


@dataclass(frozen=True, kw_only=True)
class GroupFigures(Result):
    """One subgroup.

    Attributes
    ----------
    label : its key, as text
    n_samples : rows
    observed, predicted : means of the problem of the lens
    auc, brier : of the group
    error, low, high : calibration error and its interval
    null_mean, null_q95 : what a calibrated model would show there
    pvalue, adjusted : as a member of the joint test, by itself and with all others considered
    """

    label: str
    n_samples: int
    observed: float
    predicted: float
    auc: float | None
    brier: float
    error: float
    low: float | None
    high: float | None
    null_mean: float | None
    null_q95: float | None
    pvalue: float | None
    adjusted: float | None


@dataclass(frozen=True, kw_only=True)
class DataNote(Result):
    """Something about the data that a reader should know.

    Attributes
    ----------
    topic : a word or two
    finding : what was found
    matters : "fine", "note" or "problem"
    """

    topic: str
    finding: str
    matters: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelFindings(Result):
    """Everything about one model.

    Attributes
    ----------
    name : of the model, "" if there is one only
    evaluation : verdict, scores, errors, curve
    tests : tests of calibration; None if none could be made
    equivalence : is it calibrated within these margins
    recalibration : what a calibrator does to held-out rows
    variants : reliability curves to switch between
    classes : classes against the rest, worst first
    groups, group_note : subgroups, worst first, and what to know about them
    decision_class : class that decisions are about, as text
    decisions : net benefit by threshold, those of a slider of costs
    costs : the same at the thresholds of usual costs
    simplex : sums by cell of the triangle of three classes, as `VectorSummary.to_dict` has them
    data : notes on the data
    """

    name: str
    evaluation: Evaluation
    tests: TestReport | None
    equivalence: tuple[EquivalenceTest, ...]
    recalibration: Recalibration
    variants: tuple[Variant, ...]
    classes: tuple[ClassFigures, ...] = ()
    groups: tuple[GroupFigures, ...] = ()
    group_note: str = ""
    decision_class: str = ""
    decisions: DecisionCurve | None = None
    costs: DecisionCurve | None = None
    simplex: dict[str, Any] | None = None
    data: tuple[DataNote, ...] = ()

    @property
    def headline(self) -> str:
        """The verdict, word for word that of the evaluation, and what recalibration does."""
        return f"{self.evaluation.verdict.text} {self.recalibration.text}"


@dataclass(frozen=True, kw_only=True)
class Settings(Result):
    """Options the figures depend on.

    Attributes
    ----------
    source : file, or "arrays"
    call : Python that makes the same report
    lens, n_bins, confidence_level, n_resamples, seed, margins : as given
    weighted, weight_type : whether rows have weights, and what they mean
    columns : what was read or guessed, or ""
    versions : package and version
    fingerprint : digest of the data, by which they are known again; "" if there is none
    shell, shell_positive, shell_by : the data of each model, the positive class and the subgroups
        as commands name them; nothing for arrays and frames
    """

    source: str
    call: str
    lens: str
    n_bins: Any
    confidence_level: float
    n_resamples: int
    seed: int
    margins: tuple[str, ...]
    weighted: bool
    weight_type: str
    columns: str
    versions: dict[str, str]
    fingerprint: str = ""
    shell: dict[str, str] = field(default_factory=dict)
    shell_positive: str = ""
    shell_by: str = ""


def short(label: Any, width: int = 40) -> str:
    """A label as text, cut where it would not fit."""
    return shortened(str(label), width)
