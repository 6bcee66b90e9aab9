"""`make_report`: everything about predictions on one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.runtime.files import check_folder
from veridical._core.typing import ArrayLike
from veridical.report._content.content import Settings
from veridical.report._content.findings import Step, comparison_of, findings_of
from veridical.report._content.fingerprint import fingerprint_of
from veridical.report._content.request import CALLER, MARGINS, ReportRequest, guesses
from veridical.report._page.page import check_kind, versions
from veridical.report._sections.report import Report


def make_report(
    y_true: Any,
    y_prob: Any = None,
    *,
    y: str | None = None,
    prob: str | list[str] | tuple[str, ...] | Mapping[str, Any] | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: Any = 15,
    sample_weight: Any = None,
    groups: Any = None,
    by: Any = None,
    by_bins: int = 4,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    margins: tuple[float | str, ...] = MARGINS,
    rng: int | None = None,
    title: str | None = None,
    date: str | None = None,
    author: str | None = None,
    period: str | None = None,
    purpose: str | None = None,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> Report:
    """Report on probabilistic predictions: one page that answers, in words, tables and charts.

    Parameters
    ----------
    y_true : array-like, frame, path or mapping
        Labels; or a frame or file with the columns named by `y` and `prob`; or several models
        as ``{"name": y_prob, ...}``, with the labels in the place of `y_prob`.
    y_prob : array-like of shape (n,), (n, 1) or (n, K), optional
        Probability of the positive class, or of every class. Leave out for a frame or file.
    y, prob : str; str, list of str or mapping, optional
        Columns of a frame, as in :func:`evaluate`; a mapping such as ``{"a": "p_a", "b": "p_b"}``
        names the columns of several models.
    lens, labels, pos_label, n_bins, sample_weight, groups, by, by_bins, scale, missing, normalize
        As in :func:`evaluate`.
    confidence_level : float, default 0.95
        Of all intervals; tests are at the level 1 - `confidence_level`.
    n_resamples : int, default 1000
        Draws of outcomes for null levels and tests.
    margins : tuple of float or str
        Margins within which calibration is tried to be shown (:func:`equivalence_test`): shares of
        the base rate such as "10%", or numbers of probability.
    rng : int or None
        Seed. None is a fixed seed: the same data give the same report, byte for byte.
    title : str, optional
        Heading; default names the source.
    date : str, optional
        Shown under the heading. There is none by default, so that reports can be reproduced.
    author, period, purpose : str, optional
        Who answers for the report, of which time the data are, and what the predictions are for:
        shown beside the heading, and part of the file of numbers.
    path : str or path, or several, optional
        Write the report there: .html for the page, .md for Markdown, .json for every number.
        ``path=["report.html", "report.json"]`` writes both.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        Where rows are summed up, as in :func:`evaluate`. From sums, which queries and files of a
        million rows or more are pushed down to, there is no recalibration of several classes and
        no triangle of three; several models are always read.

    Returns
    -------
    Report
        With `headline`, `html`, `markdown`, `to_dict`, `to_json` and `save`.

    Notes
    -----
    The verdict is that of :func:`evaluate`, word for word; its rule is in the appendix of the page.
    Recalibration is one fit of :class:`AutoCalibrator`, whose folds have been held out already:
    maps and their weights are found without the rows they are judged on. Beyond 25,000 rows
    (fewer for several classes) it is measured on a random sample, which the page says.

    Settings hold a fingerprint of the data: the SHA-256 of the file, as ``sha256sum`` prints it, or
    that of the rows of arrays.

    Examples
    --------
    >>> y = [1] * 45 + [0] * 55 + [1] * 55 + [0] * 45
    >>> report = make_report(y, [0.1] * 100 + [0.9] * 100)
    >>> print(report.headline)
    Miscalibrated: probability that y = 1 (p < 0.001; 200 rows, binary lens). Over-confident: ...
    """
    request = ReportRequest(
        y_true=y_true,
        y_prob=y_prob,
        y=y,
        prob=prob,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        n_bins=n_bins,
        sample_weight=sample_weight,
        groups=groups,
        by=by,
        reading=Reading(scale, missing, normalize, by_bins).checked(caller=CALLER),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        margins=margins,
        rng=rng,
        title=title,
        date=date,
        author=author,
        period=period,
        purpose=purpose,
        path=path,
        engine=engine,
    )
    return build_report(request, step=lambda what: None)


def build_report(request: ReportRequest, step: Step) -> Report:
    """Do what `make_report` says; `step` is told what is being computed."""
    options = request.options()
    for path in request.paths:
        _check_target(path)
    step("reading")
    sources = request.read()
    columns = guesses(sources)
    models = []
    for name, source in sources.items():
        prefixed = _prefixed(step, name) if len(sources) > 1 else step
        models.append(findings_of(name, source, options, columns, prefixed))
    if len(models) > 1:
        step("comparison of models")
    first = next(iter(sources.values()))
    report = Report(
        title=request.heading,
        date=request.date or "",
        settings=Settings(
            source=request.source,
            call=request.call(options),
            lens=first.lens.name,
            weighted=first.weighted,
            weight_type="importance",
            columns=columns,
            versions=versions(),
            fingerprint=fingerprint_of(request.y_true, sources.values()),
            shell=request.shell(),
            shell_positive=request.shell_positive(),
            shell_by=request.shell_by(),
            **vars(options) | {"margins": tuple(map(str, options.margins))},
        ),
        models=tuple(models),
        comparison=comparison_of(sources, options),
        author=request.author or "",
        period=request.period or "",
        purpose=request.purpose or "",
    )
    for path in request.paths:
        step(f"writing {path.name}")
        report.save(path)
    return report


def _check_target(path: Path) -> None:
    """Fail before the work, not after it."""
    check_kind(path, caller=CALLER)
    check_folder(path.resolve())


def _prefixed(step: Step, name: str) -> Callable[[str], None]:
    return lambda what: step(f"{name}: {what}")
