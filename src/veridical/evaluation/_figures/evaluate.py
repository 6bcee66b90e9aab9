"""The one call most users need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from veridical._core.data.randomness import check_resamples, check_seed
from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.data.validation import check_level, check_option
from veridical._core.typing import ArrayLike, WeightType
from veridical.evaluation._data.read import DataRequest, searched
from veridical.evaluation._data.sums import notes_on_origin
from veridical.evaluation._figures.measure import evaluate_with_groups
from veridical.evaluation._figures.segments import segments_of
from veridical.evaluation._verdict.judge import reversal
from veridical.exceptions import invalid, warn_of
from veridical.frames.inputs import Inputs
from veridical.lenses.reading import RawData
from veridical.results import Evaluation
from veridical.results.library import answers_in_kind


@answers_in_kind
def evaluate(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: str | list[str] | tuple[str, ...] | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: Any = 15,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    by: Any = None,
    by_bins: int = 4,
    groups: Any = None,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    calibrator: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> Evaluation:
    """Measure discrimination and calibration of probabilistic predictions.

    Parameters
    ----------
    y_true : array-like, frame, path or GridSummary
        Labels; or a pandas, polars or pyarrow frame, a query of polars, DuckDB, Spark, Dask or
        Ibis, or a CSV, JSON Lines, Parquet or Arrow file (globs too), with the columns named by
        `y` and `prob`; or what :func:`grid_summary` made of any of them.
    y_prob : array-like of shape (n,), (n, 1) or (n, K), optional
        Probability of the positive class, or of every class. Leave out for a frame or file.
    y, prob : str; str or list of str, optional
        Columns of a frame: the outcome, and the probability (a glob such as ``"p_*"``, or one
        column per class in class order; columns that end in the labels are matched to them).
        Guessed when unambiguous.
    lens : lens, name or callable, optional
        Default the binary lens for two classes, confidence for more.
    labels : array-like, optional
        Classes in column order. Default: the order that an ordered categorical or Enum declares,
        else that of columns named after the classes, else sorted, or 0..K-1 if all are such
        integers. Columns of a frame are matched to classes by name, whatever their order.
    pos_label : object, optional
        The positive class of a binary problem; default the last of ordered labels, else the one
        that a single column is named after (``p_bad``), else the larger.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins.
    sample_weight : array-like or column name, optional
        Non-negative weights.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters: in intervals, null levels, p-values and
        debiased errors. "frequency" reads rows into memory.
    by : array-like, column name or list of column names, optional
        Subgroups, each evaluated by itself in `Evaluation.groups`; beyond twenty of them the
        figures of a table of all (`Evaluation.group_frame`) are made in one pass, and a group is
        evaluated in full when it is looked at. "auto", of a frame or file: every other column is
        a feature, and all segments of them are searched (:func:`audit_segments`);
        `Evaluation.segments` is what was found.
    groups : array-like of shape (n,), column name or list of column names, optional
        What rows belong to that depend on each other (patients, prompts, days). Nulls draw outcomes
        of a group together, intervals count groups, and a note says what that leaves of the rows.
        Reads rows into memory.
    scale : {"probability", "percent", "logit", "logprob"}, default "probability"
        What predictions are. Percentages are divided by 100; logits become probabilities, by the
        sigmoid of one column and the softmax of several.
    missing : {"error", "drop"}, default "error"
        Whether a row without a label, a prediction or a weight is an error, or is dropped and
        counted in `notes` by column. A missing key of `by` is a group of its own, "(missing)".
    normalize : bool, default False
        Divide rows of several probabilities by their sums. Without it, rows of at most four
        decimals may miss 1 by what their rounding explains, others by 1e-6.
    by_bins : int, default 4
        A `by` of more than twelve different fractions is cut into so many parts of equal size;
        integers and text are groups as they are.
    calibrator : Calibrator, optional
        A fitted calibrator: its output for these predictions is evaluated, and a warning says if
        it was fitted on the same rows.
    confidence_level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Draws for the null levels of the errors, of those without fixed bins 200 at most; 0 leaves
        them out.
    rng : int, Generator or None
        Seed of those draws. None is a fixed seed here: the same data give the same evaluation.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        Where rows are summed up. "pushdown" lets the engine that holds them do it, in one scan,
        and evaluates the table of sums it leaves; "memory" reads them. "auto" pushes down queries
        and files of a million rows or more, where the lens allows, and reads anything else.

    Returns
    -------
    Evaluation
        `print` it, or use `to_frame`, `to_dict`, `to_json`. Figures come with a confidence interval
        of their population value, ``interval("AUC")``, that holds with few events, weights and
        clusters (see `docs/evidence/intervals.csv`). Errors of a binary problem also come with
        their null level: what a perfectly calibrated model with these same predictions would have
        scored. For smECE,
        KS and sweep bins the null level is that of outcomes drawn in fine cells of scores, where
        the p-value compares like with like.

    Notes
    -----
    From sums, counts, scores and whatever the equal-width bins decide are those of the rows; what
    bins do not decide (AUC, smECE, KS, equal-mass and sweep bins, isotonic parts, recalibration
    line) is that of rows moved within cells no wider than 1/2048, and `notes` say how far that can
    be off. Whole vectors (the canonical lens) have no such sums.

    Examples
    --------
    >>> result = evaluate([0, 0, 1, 1] * 25, [0.1, 0.3, 0.7, 0.9] * 25, n_bins=2)
    >>> result.auc, round(result.error("ECE").value, 10)
    (1.0, 0.2)
    """
    caller = "evaluate"
    level = check_level(caller, confidence_level)
    if n_resamples != 0:
        check_resamples(n_resamples, caller=caller)
    fitted = None if calibrator is None else _Calibrated(calibrator, pos_label)
    if fitted is not None and pos_label is None:
        pos_label = fitted.positive
    reading = Reading(scale, missing, normalize, by_bins).checked(caller=caller)
    data = RawData(
        y_true,
        y_prob,
        y=y,
        prob=prob,
        labels=labels,
        pos_label=pos_label,
        by=by,
        groups=groups,
        reading=reading if fitted is None else fitted.reading(reading),
    )
    check_option(caller, "weight_type", weight_type, ("importance", "frequency"))
    data = data.weighted(sample_weight, weight_type)
    data = searched(data, caller=caller)
    request = DataRequest(data, lens=lens, n_bins=n_bins, caller=caller)
    needs_rows = None if fitted is None else "a calibrator"
    if weight_type == "frequency" and sample_weight is not None:
        needs_rows = "frequencies"
    source = request.read(engine, needs_rows=needs_rows, adapt=fitted)
    result = evaluate_with_groups(
        source,
        n_bins=n_bins,
        confidence_level=level,
        n_resamples=n_resamples,
        rng=0 if rng is None else rng,
    )
    segments = segments_of(
        source,
        confidence_level=level,
        n_resamples=n_resamples,
        seed=check_seed(rng, caller=caller),
        caller=caller,
    )
    doubts = result.notes if fitted is None else (*fitted.doubts, *result.notes)
    warn_of([*reversal(result.verdict), *doubts], caller=caller)
    about = notes_on_origin(source, n_bins)
    return replace(result, notes=(*about, *doubts), segments=segments)


class _Calibrated:
    """Puts calibrated predictions in the place of those given."""

    def __init__(self, calibrator: Any, pos_label: Any) -> None:
        self._calibrator, self._asked = calibrator, pos_label
        self.doubts: list[str] = []

    def reading(self, asked: Reading) -> Reading:
        """How predictions are read before they are calibrated: as the map takes them."""
        takes = getattr(self._calibrator, "input", "probability")
        if takes == "probability" or asked.scale == "probability":
            return asked
        if asked.scale != takes:
            hint = f"the calibrator was fitted to `input={takes!r}`: leave `scale` out."
            raise invalid("evaluate", "scale", f"unset, or {takes!r}", repr(asked.scale), hint=hint)
        return replace(asked, scale="probability")

    @property
    def positive(self) -> Any:
        """The class of two that the calibrator reads a single column as the probability of."""
        fitted = hasattr(self._calibrator, "classes_")
        return getattr(self._calibrator, "positive_label", None) if fitted else None

    def __call__(self, inputs: Inputs) -> Inputs:
        """Return the inputs with calibrated predictions; a doubt if the rows were fitted on."""
        from veridical.calibrators import Calibrator
        from veridical.calibrators.core import overlap_note

        calibrator = self._calibrator
        if not isinstance(calibrator, Calibrator):
            hint = (
                "pass a fitted calibrator of this library, or calibrate the predictions yourself."
            )
            got = type(calibrator).__name__
            raise invalid("evaluate", "calibrator", "a fitted calibrator", got, hint=hint)
        calibrated = calibrator.predict_proba(inputs.y_prob)
        if self._asked not in (None, self.positive) and np.ndim(inputs.y_prob) == 1:
            hint = "leave it out, or pass a calibrator fitted with this `pos_label`."
            expected = f"{self.positive!r}, the class the calibrator reads a single column as"
            raise invalid("evaluate", "pos_label", expected, repr(self._asked), hint=hint)
        overlap = overlap_note(calibrator, inputs.y_prob, inputs.y_true)
        self.doubts += [] if overlap is None else [overlap]
        return replace(inputs, y_prob=calibrated, labels=calibrator.classes_.tolist())
