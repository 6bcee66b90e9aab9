"""The search for segments in which predictions are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from veridical._core.data.features import fit_features
from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_draws
from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.data.validation import check_level, check_option
from veridical._core.resampling.rows import counts_rows
from veridical._core.sample import Sample
from veridical._core.typing import Array, ArrayLike, ColumnNames, WeightType
from veridical.exceptions import invalid, warn_of
from veridical.frames.inputs import Named
from veridical.inference._segments.core import SearchOptions, audit_core, table_of, telling_features
from veridical.inference._segments.pushed import pushed_audit
from veridical.lenses import Classwise, Lens
from veridical.lenses.reading import RawData, event_of
from veridical.results import SegmentAudit
from veridical.results.library import answers_in_kind

_CALLER = "audit_segments"
DEPTH, BINS, ROWS, DRAWS = 2, 4, 50, 999  # how far a search goes unless it is said


@answers_in_kind
def audit_segments(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    features: Any = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    depth: int = DEPTH,
    n_bins: int = BINS,
    min_rows: int = ROWS,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = DRAWS,
    rng: Any = None,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> SegmentAudit:
    r"""Search all segments of the rows for miscalibration, with one p-value for the search.

    A segment is a conjunction of feature values that enough rows have in common: "women",
    "region = South, age 30 to 45". Nobody has to name it.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight, weight_type
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    features : frame, mapping of names to columns, array, or column names
        What segments are made of, a value a row and feature; of a frame or file names and globs
        ("!id" leaves a column out of "*"), by default every column that is nothing else. Numbers
        (and dates) of more than ten different values are cut at quantiles; of texts the ten
        commonest are kept and the others taken together; a missing value is a value of its own.
    depth : int, default 2
        Most features that a segment is made of.
    n_bins : int, default 4
        Parts of a number that is cut.
    min_rows : int, default 50
        Fewest rows of a segment.
    lens : lens, name or callable, optional
        Default "binary" for two classes and "confidence" for more. "classwise" asks every class
        and takes the largest deviation over classes, too.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.
    scale, missing, normalize
        How values are read, as in :func:`evaluate`. A missing feature is a value, never an error.
    confidence_level : float, default 0.95
        Of the limits, and one minus the level of what counts as found.
    n_resamples : int, default 999
        How many times outcomes are drawn.
    rng : int, Generator or None
        Seed; the same seed gives the same p-values.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        Where rows are summed up. "pushdown" lets the engine that holds them do it, in one scan:
        of two classes with one column of predictions, without weights and groups. "auto" does so
        for queries and files of a million rows or more, and reads anything else.

    Returns
    -------
    SegmentAudit
        `print` it; see `pvalue`, `found`, `segments` and `worst`.

    Notes
    -----
    The statistic of a segment is the range of the cumulated residuals along its scores, in
    standard errors [1]_ [2]_:

    .. math:: T_h = \frac{\max_s D_h(s) - \min_s D_h(s)}{\sqrt{\sum_{i \in h} w_i^2 p_i (1 - p_i)}},
        \quad D_h(s) = \sum_{i \in h,\, p_i \le s} w_i (y_i - p_i), \quad D_h(-\infty) = 0,

    looked at only after equal scores. Up to 1,024 different scores are kept; of more, 256 cells of
    equal mass, for what was observed and what is drawn alike. Outcomes are drawn from the
    predictions once for all segments, so the p-value of the largest :math:`T_h` is right for any
    number of segments, however they overlap; adjusted p-values of single segments step down [3]_.
    Weights and groups change how outcomes are drawn as in every test of this package; with groups
    standard errors are those of rows that depend on each other.

    Limits hold for all segments at once: the chance at each end is that of the largest studentised
    gap of any segment, and no less than Bonferroni's. They are wide: small segments cannot be told.
    That nothing was found does not show calibration; `worst.high` says how large a gap can be.

    References
    ----------
    .. [1] Kuiper (1960), Indagationes Mathematicae 63, 38-47.
    .. [2] Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu (2022), "Metrics of calibration for
       probabilistic predictions", JMLR 23, arXiv 2205.09680.
    .. [3] Westfall & Young (1993), Resampling-based multiple testing, section 2.6.

    Examples
    --------
    Predictions of 0.5 that are right on the whole, and wrong in two regions:

    >>> y, p = [0, 0, 0, 1] * 30 + [1, 1, 1, 0] * 30, [0.5] * 240
    >>> audit = audit_segments(y, p, {"region": ["north"] * 120 + ["south"] * 120}, rng=0)
    >>> audit.pvalue, [segment.name for segment in audit.found]
    (0.001, ['region = north', 'region = south'])
    >>> audit.found[0].says, audit.found[0].happens
    (0.5, 0.25)
    """
    options = check_search(
        depth, n_bins, min_rows, confidence_level, n_resamples, rng, caller=_CALLER
    )
    if features is None:
        if y_prob is not None:
            hint = "pass a frame with a column a feature."
            raise invalid(_CALLER, "features", "given", "None", hint=hint)
        features = "*"
    raw = RawData(
        y_true,
        y_prob,
        y=y,
        prob=prob,
        labels=labels,
        pos_label=pos_label,
        groups=groups,
        features=features,
        reading=Reading(scale, missing, normalize).checked(caller=_CALLER),
    )
    raw = raw.weighted(sample_weight, weight_type)
    check_option(_CALLER, "engine", engine, ("auto", "memory", "pushdown"))
    pushed = pushed_audit(raw, lens, options, n_bins, engine, caller=_CALLER)
    if pushed is not None:
        return pushed
    data = raw.check(caller=_CALLER)
    induced = data.through(lens, caller=_CALLER)
    columns = data.kept_features(caller=_CALLER)
    audit = audit_of_rows(
        data.sample, induced.lens, columns, options, n_bins, named=data.named, caller=_CALLER
    )
    if audit.n_segments == 1:
        warn_of(audit.notes[-1:], caller=_CALLER)
    return replace(audit, notes=(*data.notes, *audit.notes)) if data.notes else audit


def check_search(
    depth: Any = DEPTH,
    n_bins: Any = BINS,
    min_rows: Any = ROWS,
    confidence_level: Any = 0.95,
    n_resamples: Any = DRAWS,
    rng: Any = None,
    *,
    caller: str,
) -> SearchOptions:
    """Options of a search that make sense."""
    hint = "2 looks at pairs of features, 3 at triples."
    depth = check_integer(caller, "depth", depth, hint=hint)
    check_integer(caller, "n_bins", n_bins, hint="4 cuts numbers at their quartiles.", least=2)
    hint = "small segments cannot be told: 50 or more."
    min_rows = check_integer(caller, "min_rows", min_rows, hint=hint)
    level = check_level(caller, confidence_level)
    return SearchOptions(depth, min_rows, level, check_draws(n_resamples, rng, caller=caller))


def audit_of_rows(
    sample: Sample,
    lens: Lens,
    columns: dict[str, Array],
    options: SearchOptions,
    n_bins: int = BINS,
    *,
    named: Named,
    caller: str,
) -> SegmentAudit:
    """Search the segments of checked rows."""
    copies = sample.weight if sample.weight is not None and counts_rows(sample) else None
    features = fit_features(columns, n_bins=n_bins, counts=copies, caller=caller)
    features, codes, notes = telling_features(
        features, features.codes(columns, caller=caller), copies, options.min_rows
    )
    event = event_of(lens, sample.classes, named.y)
    if isinstance(lens, Classwise):
        event = "each class against the rest"
    table = table_of(
        lens.induce(sample),
        features,
        codes,
        lens=lens.name,
        event=event,
        caller=caller,
    )
    audit = audit_core(table, options)
    return replace(audit, notes=(*notes, *audit.notes))
