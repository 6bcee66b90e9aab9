"""``veridical experiment``: tables and figures of the literature, regenerated and judged.

The experiments are in the distribution veridical-lab. Without it, the command has its help and
says how to install it.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from veridical._core.runtime.moved import INSTALL
from veridical._core.runtime.text import printable
from veridical.cli.shared import output
from veridical.cli.shared.parser import Parser
from veridical.exceptions import MissingDependencyError

_EPILOG = """\
examples:
  veridical experiment --list
  veridical experiment survey-toy --quick
  veridical experiment evaluating --data network.npz -o pages
  veridical experiment all --quick -o pages

Each writes NAME.md with its pictures (in NAME/), NAME.json and an index.md to the folder. An
interrupted run goes on where it stopped. Needs the distribution veridical-lab. In a checkout of
veridical:

  pip install ./packages/lab
"""
_LAB = "veridical_lab"
_ALL = "all"


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Regenerate the tables and figures of a source with this library, beside the"
        " printed values, and say what holds, what differs and why."
    )
    parser.epilog = _EPILOG
    lab = _find_lab()
    names = [] if lab is None else [experiment.name for experiment in lab.list_experiments()]
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        choices=[*names, _ALL] if names else None,
        help=f"{', '.join(names)}; or {_ALL}" if names else f"an experiment, or {_ALL}",
    )
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, under a minute")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="experiments",
        help="folder of the pages, made if there is none; default: experiments",
    )
    parser.add_argument(
        "--data",
        metavar="FILE",
        action="append",
        default=[],
        help="predictions of a model of yours, for evaluating and fake: .npz with `predictions`"
        " and `ground_truth`, or a file as `veridical evaluate` reads it; may be repeated",
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers; default: 0")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes; default: one a core")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """List the experiments, or run those that were named."""
    lab = _find_lab()
    if lab is None:
        missing = MissingDependencyError(
            f"experiment: needs the distribution veridical-lab.\nHint: {INSTALL}"
        )
        missing.hint = INSTALL
        raise missing
    if arguments.list:
        _print_list(lab)
        return 0
    if arguments.name is None:
        arguments.parser.error("which one? `veridical experiment --list` says what there is")
    for experiment in lab.list_experiments():
        if arguments.name == experiment.name or (
            arguments.name == _ALL and (experiment.takes_data or not arguments.data)
        ):
            result = lab.run_experiment(
                experiment.name,
                folder=arguments.output,
                quick=arguments.quick,
                data=arguments.data,
                rng=arguments.seed,
                n_jobs=arguments.jobs,
            )
            output.show(result)
            page = Path(arguments.output) / f"{experiment.name}.md"
            print(printable(f"Page: {page}"))  # on one line, however long: to be copied
    return 0


def _find_lab() -> Any:
    """The package of veridical-lab, None if it is not installed."""
    try:
        return import_module(_LAB)
    except ModuleNotFoundError as error:
        if error.name != _LAB:
            raise  # the lab is installed but broken
        return None


def _print_list(lab: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "what", "full run", "of", box=None, pad_edge=False)
    for experiment in lab.list_experiments():
        minutes = f"{experiment.minutes:g} min"
        table.add_row(experiment.name, experiment.title, minutes, experiment.cited)
    Console().print(table)
