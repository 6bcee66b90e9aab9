"""The one call most users need."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal

from veridical._core.data.randomness import check_resamples
from veridical._core.data.validation import check_level, check_sample, kept_rows
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike
from veridical.evaluation._figures.measure import evaluate_sample
from veridical.evaluation._figures.pushed import Request, about_sums, evaluate_pushed, notes_on_sums
from veridical.exceptions import VeridicalWarning, invalid
from veridical.frames.inputs import Inputs, gather_inputs
from veridical.lenses import resolve_lens
from veridical.results import Evaluation


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
    by: Any = None,
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
        Ibis, or a CSV, Parquet or Arrow file (globs too), with the columns named by `y` and
        `prob`; or what :func:`grid_summary` made of any of them.
    y_prob : array-like of shape (n,), (n, 1) or (n, K), optional
        Probability of the positive class, or of every class. Leave out for a frame or file.
    y, prob : str; str or list of str, optional
        Columns of a frame: the outcome, and the probability (a glob such as ``"p_*"``, or one
        column per class in class order; columns that end in the labels are matched to them).
        Guessed when unambiguous.
    lens : lens, name or callable, optional
        Default the binary lens for two classes, confidence for more.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : object, optional
        The positive class of a binary problem; default the larger label.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins.
    sample_weight : array-like or column name, optional
        Non-negative weights.
    by : array-like, column name or list of column names, optional
        Subgroups, each evaluated by itself in `Evaluation.groups`.
    calibrator : Calibrator, optional
        A fitted calibrator: its output for these predictions is evaluated, and a warning says if
        it was fitted on the same rows.
    confidence_level : float, default 0.95
        Of the intervals of the reliability curve (Wilson) and of the binned errors.
    n_resamples : int, default 1000
        Draws for the null levels of the binned errors; 0 leaves them out.
    rng : int, Generator or None
        Seed of those draws. None is a fixed seed here: the same data give the same evaluation.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        Where rows are summed up. "pushdown" lets the engine that holds them do it, in one scan,
        and evaluates the table of sums it leaves; "memory" reads them. "auto" pushes down queries
        and files of a million rows or more, where the lens allows, and reads anything else.

    Returns
    -------
    Evaluation
        `print` it, or use `to_frame`, `to_dict`, `to_json`. Errors of a binary problem come with
        their null level: what a perfectly calibrated model with these same predictions would
        have scored; ECE and RMSCE also with a confidence interval of their population value.

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
    seed = 0 if rng is None else rng
    request = Request(
        y_true=y_true,
        y_prob=y_prob,
        y=y,
        prob=prob,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        n_bins=n_bins,
        sample_weight=sample_weight,
        by=by,
        caller=caller,
    )
    options = {"confidence_level": level, "n_resamples": n_resamples, "rng": seed}
    pushed = request.pushed(engine, needs_rows=None if calibrator is None else "a calibrator")
    if pushed is not None:
        result = evaluate_pushed(pushed, n_bins=n_bins, caller=caller, **options)
        said = about_sums(pushed, n_bins=n_bins, caller=caller, of=notes_on_sums)
    else:
        result, said = _in_memory(request, calibrator, options)
    for note in result.notes:
        warnings.warn(f"{caller}: {note}.", VeridicalWarning, stacklevel=2)
    return replace(result, notes=(*said, *result.notes))


def _in_memory(
    request: Request, calibrator: Any, options: dict[str, Any]
) -> tuple[Evaluation, list[str]]:
    """Evaluate rows read into memory; with what was guessed about them."""
    inputs = gather_inputs(
        request.y_true,
        request.y_prob,
        y=request.y,
        prob=request.prob,
        sample_weight=request.sample_weight,
        by=request.by,
        labels=request.labels,
        caller=request.caller,
    )
    seen = None
    if calibrator is not None:
        seen, inputs = _calibrated(calibrator, inputs)
    sample = check_sample(
        inputs.y_true,
        inputs.y_prob,
        caller=request.caller,
        labels=inputs.labels,
        pos_label=request.pos_label,
        sample_weight=inputs.sample_weight,
    )
    chosen = resolve_lens(request.lens, sample, caller=request.caller)

    def measured(part: Sample) -> Evaluation:
        return evaluate_sample(part, chosen, n_bins=request.n_bins, **options)

    result = measured(sample)
    if inputs.by is not None:
        kept = kept_rows(inputs.sample_weight, sample)
        parts = inputs.by.of(sample, kept, request.caller)
        result = replace(result, groups=tuple((key, measured(part)) for key, part in parts))
    if seen is not None:
        result = replace(result, notes=(seen, *result.notes))
    return result, [] if inputs.said is None else [inputs.said]


def _calibrated(calibrator: Any, inputs: Inputs) -> tuple[str | None, Inputs]:
    """A note if the rows were fitted on, and the inputs with calibrated predictions."""
    from veridical.calibrators import Calibrator
    from veridical.calibrators.core import overlap_note

    if not isinstance(calibrator, Calibrator):
        hint = "pass a fitted calibrator of this library, or calibrate the predictions yourself."
        got = type(calibrator).__name__
        raise invalid("evaluate", "calibrator", "a fitted calibrator", got, hint=hint)
    calibrated = calibrator.predict_proba(inputs.y_prob)
    note = overlap_note(calibrator, inputs.y_prob, inputs.y_true)
    labels = calibrator.classes_.tolist()
    return note, replace(inputs, y_prob=calibrated, labels=labels)
