"""`make_report`: everything about predictions on one page, and Python that makes it again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np

from veridical._core.data.randomness import check_resamples
from veridical._core.data.validation import check_level, is_integer
from veridical._core.runtime.files import check_folder
from veridical._core.runtime.optional import require
from veridical._core.typing import ArrayLike
from veridical.binning import UniformBins
from veridical.evaluation.data import Source
from veridical.exceptions import invalid
from veridical.inference.core import check_delta
from veridical.lenses import Lens
from veridical.report._charts.catalogue import runtime_script
from veridical.report._content.content import Settings
from veridical.report._content.findings import Options, Step, comparison_of, findings_of
from veridical.report._content.origin import Origin, guesses, origin_of, read_report
from veridical.report._page.page import check_kind, versions
from veridical.report._sections.report import Report

_MOST_LABELS = 20


def call_of(origin: Origin, *, lens: Any, labels: Any, pos_label: Any, options: Options) -> str:
    """Return a few lines that run as they stand where the data came from a file."""
    arguments = dict(origin.arguments)
    data = arguments.pop("data")
    if lens is not None:
        arguments["lens"] = repr(lens)
    if labels is not None:
        listed = np.asarray(labels).tolist()
        arguments["labels"] = repr(listed) if len(listed) <= _MOST_LABELS else "labels"
    if pos_label is not None:
        arguments["pos_label"] = repr(pos_label)
    arguments |= {
        "n_bins": repr(options.n_bins),
        "confidence_level": repr(options.level),
        "n_resamples": repr(options.n_resamples),
        "margins": repr(options.margins),
        "rng": repr(options.seed),
    }
    lines = [f"    {data},", *(f"    {name}={value}," for name, value in arguments.items())]
    imports = f"from veridical import {type(lens).__name__}" if isinstance(lens, Lens) else ""
    return "\n".join(
        [
            "import veridical",
            *([imports] if imports else []),
            "",
            "report = veridical.make_report(",
            *lines,
            ")",
            "print(report.headline)",
            'report.save("report.html")',
        ]
    )


_CALLER = "make_report"


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
    by: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    margins: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1),
    rng: int | None = None,
    title: str | None = None,
    date: str | None = None,
    path: str | os.PathLike[str] | None = None,
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
    lens, labels, pos_label, n_bins, sample_weight, by
        As in :func:`evaluate`.
    confidence_level : float, default 0.95
        Of all intervals; tests are at the level 1 - `confidence_level`.
    n_resamples : int, default 1000
        Draws of outcomes for null levels and tests.
    margins : tuple of float
        Margins within which calibration is tried to be shown (:func:`equivalence_test`).
    rng : int or None
        Seed. None is a fixed seed: the same data give the same report, byte for byte.
    title : str, optional
        Heading; default names the source.
    date : str, optional
        Shown under the heading. There is none by default, so that reports can be reproduced.
    path : str or path, optional
        Write the report there: .html for the page, .md for Markdown, .json for every number.
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
    The verdict is that of :func:`evaluate`, with one line in plain words whose rule is in the
    appendix of the page. Recalibration is cross-fitted: everything the calibrator decides is
    decided without the rows it is judged on. Beyond 20,000 rows (fewer for several classes) it
    is measured on a random sample, which the page says.

    Time is a few seconds, mostly of recalibration; 1,000,000 rows of two classes take less than
    half a minute. Only the page needs the extra `report`.

    Examples
    --------
    >>> y = [1] * 45 + [0] * 55 + [1] * 55 + [0] * 45
    >>> report = make_report(y, [0.1] * 100 + [0.9] * 100)
    >>> print(report.headline)
    Over-confident: says 0.90, happens 0.55 (predictions above 0.50). Recalibrating with ...
    """
    return build_report(
        y_true,
        y_prob,
        y=y,
        prob=prob,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        n_bins=n_bins,
        sample_weight=sample_weight,
        by=by,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        margins=margins,
        rng=rng,
        title=title,
        date=date,
        path=path,
        engine=engine,
        step=_silent,
    )


def build_report(
    y_true: Any,
    y_prob: Any = None,
    *,
    y: str | None,
    prob: Any,
    lens: Any,
    labels: ArrayLike | None,
    pos_label: Any,
    n_bins: Any,
    sample_weight: Any,
    by: Any,
    confidence_level: float,
    n_resamples: int,
    margins: tuple[float, ...],
    rng: int | None,
    title: str | None,
    date: str | None,
    path: str | os.PathLike[str] | None,
    engine: Literal["auto", "memory", "pushdown"],
    step: Step,
) -> Report:
    """Do what `make_report` says; `step` is told what is being computed."""
    options = Options(
        n_bins=n_bins,
        level=check_level(_CALLER, confidence_level),
        n_resamples=check_resamples(n_resamples, caller=_CALLER),
        seed=_seed(rng),
        margins=tuple(check_delta(margin, caller=_CALLER) for margin in margins),
    )
    UniformBins(n_bins)  # refuses a bad number before anything is read
    runtime = None if path is None else _check_target(Path(path))
    step("reading")
    named = {"y": y, "prob": prob, "sample_weight": sample_weight, "by": by}
    sources = read_report(
        y_true,
        y_prob,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        n_bins=n_bins,
        engine=engine,
        caller=_CALLER,
        **named,
    )
    columns = guesses(sources)
    models = []
    for name, source in sources.items():
        prefixed = _prefixed(step, name) if len(sources) > 1 else step
        models.append(findings_of(name, source, options, columns, prefixed))
    if len(models) > 1:
        step("comparison of models")
    origin = origin_of(y_true, y_prob, **named)
    call = call_of(origin, lens=lens, labels=labels, pos_label=pos_label, options=options)
    first = next(iter(sources.values()))
    report = Report(
        title=title or origin.title,
        date=date or "",
        settings=_settings(first, columns, options, origin, call),
        models=tuple(models),
        comparison=comparison_of(sources, options),
    )
    if path is not None:
        step("writing")
        if runtime is not None:
            runtime.result()
        report.save(path)
    return report


def _settings(
    source: Source, columns: str, options: Options, origin: Origin, call: str
) -> Settings:
    return Settings(
        source=origin.source,
        call=call,
        lens=source.lens.name,
        n_bins=options.n_bins,
        confidence_level=options.level,
        n_resamples=options.n_resamples,
        seed=options.seed,
        margins=options.margins,
        weighted=source.weighted,
        weight_type="importance",
        columns=columns,
        versions=versions(),
    )


def _seed(rng: Any) -> int:
    if rng is None:
        return 0
    if not is_integer(rng) or rng < 0:
        hint = "a report names its seed, so pass an integer such as 0."
        raise invalid(_CALLER, "rng", "a non-negative integer or None", repr(rng), hint=hint)
    return int(rng)


def _check_target(path: Path) -> Future[str] | None:
    """Fail before the work, not after it; a page's script is put together while figures are."""
    check_kind(path, caller=_CALLER)
    check_folder(path.resolve())
    if path.suffix.lower() not in (".html", ".htm"):
        return None
    require("vl_convert", extra="report", purpose="the page of a report")
    pool = ThreadPoolExecutor(1)
    started = pool.submit(runtime_script)
    pool.shutdown(wait=False)
    return started


def _prefixed(step: Step, name: str) -> Callable[[str], None]:
    return lambda what: step(f"{name}: {what}")


def _silent(what: str) -> None:
    """Tell nobody."""
