"""Run an experiment, write its page, and the page that lists all pages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from veridical import __version__
from veridical._core.data.validation import check_option, is_integer
from veridical._core.runtime.files import write_whole
from veridical.exceptions import invalid
from veridical_lab._frame.catalogue import EXPERIMENTS, Experiment
from veridical_lab._frame.facts import COUNTED, ExperimentResult
from veridical_lab._frame.laboratory import Laboratory, without_doubts
from veridical_lab._frame.page import Page, markdown_table

_INTRODUCTION = """\
# What of the literature holds

Each page regenerates the tables and figures of a source with this library, from seeds, beside the
printed values, and says what holds, what differs and why, and what cannot be told: a claim is
judged by two of its standard errors, and words such as "well" or "close" by one table of numbers
that every page prints. Differences of one cause count once; outputs of programs, and claims judged
once more in a corrected version, count by themselves, in the last column.
`veridical experiment NAME -o FOLDER` makes a page; `--quick` takes under a minute, and says so."""


def index_page(folder: Path) -> str:
    """Return the list of the pages that are in the folder, with their verdicts."""
    found = [
        ExperimentResult.from_json(path.read_text(encoding="utf-8"))
        for experiment in EXPERIMENTS
        if (path := folder / f"{experiment.name}.json").exists()
    ]
    own = [result.counts()[""] for result in found]
    table = markdown_table(
        {
            "experiment": [f"[{result.name}]({result.name}.md)" for result in found],
            "what": [result.title for result in found],
            "run": ["quick" if result.quick else "full" for result in found],
            **{verdict: [counts[verdict] for counts in own] for verdict in COUNTED},
            "verdict": [result.verdict for result in found],
        },
        digits=0,
    )
    total = {verdict: sum(counts[verdict] for counts in own) for verdict in COUNTED}
    told = ", ".join(f"{count} {verdict}" for verdict, count in total.items())
    return f"{_INTRODUCTION}\n\nClaims and numbers of the sources: {told}.\n\n{table}\n"


_CALLER = "run_experiment"
_CELLS = ".cells"  # folder of finished parts, from which an interrupted run goes on


def list_experiments() -> tuple[Experiment, ...]:
    """Return the experiments there are, each with its title, source and duration.

    Examples
    --------
    >>> [experiment.name for experiment in list_experiments()][:2]
    ['survey-toy', 'survey-binary']
    """
    return EXPERIMENTS


def run_experiment(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    data: Sequence[str | os.PathLike[str]] = (),
    rng: int = 0,
    n_jobs: int | None = None,
) -> ExperimentResult:
    """Reproduce tables and figures of a source, and say what holds.

    Parameters
    ----------
    name : str
        One of `list_experiments`.
    folder : path, optional
        Where the page ``NAME.md``, its pictures and tables (in ``NAME/``), ``NAME.json`` and an
        ``index.md`` of all pages go; it is made if it does not exist. Finished parts are kept in
        ``.cells``, so that an interrupted run goes on where it stopped. Default: nothing is
        written.
    quick : bool, default False
        Fewer repetitions, under a minute.
    data : sequence of paths, default ()
        Predictions to use besides the example that ships with the library, for the experiments on
        real networks: ``.npz`` with arrays ``predictions`` (n, K) and ``ground_truth`` (n,), or
        CSV, Parquet and Arrow files as `evaluate` reads them.
    rng : int, default 0
        Seed of all random numbers.
    n_jobs : int, optional
        Processes, default one a core. The result does not depend on it.

    Returns
    -------
    ExperimentResult
        Every number and claim of the source beside the one found, and the verdict.

    Examples
    --------
    >>> result = run_experiment("survey-toy", quick=True, n_jobs=1)
    >>> result.fact("Table 8, multiclass Hosmer-Lemeshow").value.__round__(3)
    25.295
    """
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    check_option(_CALLER, "name", name, tuple(known))
    experiment = known[name]
    paths = _check_data(experiment, data)
    if not is_integer(rng) or rng < 0:
        hint = "a seed makes the run, and its resumption, reproducible."
        raise invalid(_CALLER, "rng", "a whole number from 0 on", repr(rng), hint=hint)
    jobs = os.cpu_count() or 1 if n_jobs is None else n_jobs
    if not is_integer(jobs) or jobs < 1:
        hint = "None means one process a core."
        raise invalid(_CALLER, "n_jobs", "a whole number from 1 on", repr(n_jobs), hint=hint)
    target = None if folder is None else Path(folder)
    if target is not None:
        target.mkdir(parents=True, exist_ok=True)
    store = None if target is None else target / _CELLS / name
    laboratory = Laboratory(name, quick=quick, seed=rng, n_jobs=jobs, data=paths, store=store)
    page = Page(name)
    with without_doubts():
        experiment.run(laboratory, page)
    result = ExperimentResult(
        name=name,
        title=experiment.title,
        source=experiment.source,
        quick=quick,
        seed=rng,
        facts=tuple(page.facts),
        conclusion=page.conclusion,
        version=__version__,
    )
    if target is not None:
        page.write(target, _header(experiment, result, paths))
        write_whole(target / f"{name}.json", result.to_json(indent=1) + "\n")
        write_whole(target / "index.md", index_page(target))
    return result


def _header(experiment: Experiment, result: ExperimentResult, data: tuple[Path, ...]) -> list[str]:
    run = f"veridical experiment {experiment.name}" + (" --quick" if result.quick else "")
    run += "".join(f" --data {path.name}" for path in data)
    return [
        f"# {experiment.title}",
        f"Source: {experiment.source}.",
        f"**{result.verdict}**",
        f"Made by `{run}` (seed {result.seed}, version {result.version}).",
    ]


def _check_data(experiment: Experiment, data: Sequence[str | os.PathLike[str]]) -> tuple[Path, ...]:
    if isinstance(data, (str, os.PathLike)):
        data = (data,)
    if data and not experiment.takes_data:
        takers = " or ".join(one.name for one in EXPERIMENTS if one.takes_data)
        hint = f"leave it out, or run {takers}."
        raise invalid(_CALLER, "data", f"left out for {experiment.name}", "files", hint=hint)
    paths = tuple(Path(path) for path in data)
    for path in paths:
        if not path.is_file():
            raise invalid(_CALLER, "data", "files that exist", str(path), hint="check the path.")
    return paths
