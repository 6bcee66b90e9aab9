"""``veridical simulate decisions``, also beside the predictions of a real model."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.validation import check_sample
from veridical._core.runtime.files import check_folder, whole_file
from veridical._core.sample import Sample, weighted_mean
from veridical.cli.shared import data, files, output
from veridical.cli.shared.messages import in_options
from veridical.cli.shared.parser import Parser
from veridical.decisions.core import check_costs
from veridical.exceptions import invalid
from veridical.frames.inputs import gather_inputs
from veridical.frames.tables import column_names

if TYPE_CHECKING:
    from veridical._core.typing import Array
    from veridical.results import Requirements, RequirementTable


@dataclass(frozen=True)
class Model:
    """Predictions from a file, as given and as checked.

    Attributes
    ----------
    name : the file
    y, p : outcomes and predictions
    options : `labels`, `pos_label` and `sample_weight`
    sample : the same, checked
    said : what was guessed about columns
    """

    name: str
    y: Any
    p: Any
    options: dict[str, Any]
    sample: Sample
    said: str | None

    def places(self) -> list[int]:
        """Column of each class in the order of decisions: for two classes the positive last."""
        columns = list(self.sample.columns)
        return [columns.index(label) for label in self.sample.classes]

    def shares(self, *, caller: str) -> list[float]:
        """How frequent classes are, in the order of decisions."""
        y, weight, classes = self.sample.y, self.sample.weight, self.sample.classes
        shares = [weighted_mean(y == k, weight) for k in range(len(classes))]
        if 0 in shares:
            hint = "say with --class-shares how frequent classes will be."
            got = f"no row of {classes[shares.index(0)]!r}"
            raise invalid(caller, "file", "with rows of every class", got, hint=hint)
        return shares


def read_model(arguments: argparse.Namespace, *, caller: str) -> Model:
    """Read the predictions that --file and its companions are about."""
    column_names(arguments.file, caller=caller, param="file")
    prob = data.split_names(arguments.prob)
    typed = data.LabelReader(arguments.file, arguments.y, prob, caller=caller)
    labels, positive = data.split_names(arguments.labels), arguments.pos_label
    inputs = gather_inputs(
        arguments.file,
        None,
        y=arguments.y,
        prob=prob,
        sample_weight=arguments.weight,
        by=None,
        labels=None if labels is None else typed(labels),
        caller=caller,
    )
    options: dict[str, Any] = {
        "labels": inputs.labels,
        "pos_label": None if positive is None else typed([positive])[0],
        "sample_weight": inputs.sample_weight,
    }
    sample = check_sample(inputs.y_true, inputs.y_prob, caller=caller, **options)
    return Model(arguments.file, inputs.y_true, inputs.y_prob, options, sample, inputs.said)


_CALLER = "simulate decisions"
_ECE = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2)
_FIGURES = (".png", ".svg", ".pdf")
_OF_FILE = ("y", "prob", "weight", "labels", "pos_label")

_EPILOG = """\
example:
  veridical simulate decisions --cost-fp 1 --cost-fn 5 --accuracy 0.8 0.85 0.9 --ece 0 0.05 0.1 \\
      --saving 0.3

Fake classifiers of every accuracy and expected calibration error (ECE) decide at least expected
cost; the table shows what that is worth a row, minus the cost. With --saving it is said what a
model must be like to save that share of the cost of deciding without a model. With --file the same
is measured for predictions of a real model, and the classes are as frequent as there. A file of
costs is one of `veridical decide`.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = "Say what accuracy and calibration are worth to decisions of given costs."
    parser.epilog = _EPILOG
    _add_questions(parser)
    of_file = parser.add_argument_group("predictions of a real model")
    of_file.add_argument(
        "--file", metavar="FILE", help="CSV, JSON Lines, Parquet or Arrow file, or a glob"
    )
    data.add_column_arguments(of_file, *_OF_FILE)
    of_simulation = parser.add_argument_group("simulation")
    of_simulation.add_argument(
        "--n-samples", type=int, default=20_000, metavar="N", help="rows a repeat; default: 20,000"
    )
    of_simulation.add_argument("--n-repeats", type=int, default=10, metavar="N", help="default: 10")
    of_simulation.add_argument("--seed", type=int, default=0, metavar="SEED", help="default: 0")
    data.add_confidence_level(of_simulation)
    output.add_format_arguments(parser)
    parser.add_argument("--plot", metavar="PATH", help="draw it: .png, .svg or .pdf")
    parser.set_defaults(run=run)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    files.add_cost_arguments(parser)
    parser.add_argument(
        "--accuracy",
        type=float,
        nargs="+",
        metavar="SHARE",
        help="to simulate; default: six from chance to certainty",
    )
    shown = " ".join(f"{e:g}" for e in _ECE)
    parser.add_argument(
        "--ece", type=float, nargs="+", default=_ECE, metavar="ERROR", help=f"default: {shown}"
    )
    output.add_direction(parser)
    parser.add_argument(
        "--class-shares",
        type=float,
        nargs="+",
        metavar="SHARE",
        help="how frequent classes are: negative and positive, else in the order of the costs (or"
        " of --file); default: as in --file, else equally",
    )
    parser.add_argument("--saving", type=float, metavar="SHARE", help="to reach, e.g. 0.05")
    parser.add_argument(
        "--relative-to",
        choices=("baseline", "file"),
        default="baseline",
        help="what to save on: deciding without a model (default), or the model of --file",
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate, draw and print."""
    from veridical.planning import CostProcess, simulate_decisions

    _check_options(arguments)
    with output.doubts_as_notes():
        model = None if arguments.file is None else read_model(arguments, caller=_CALLER)
        costs = _costs(arguments, model)
        table = simulate_decisions(
            CostProcess(costs, arguments.abstain_cost),
            None if model is None else {model.name: (model.y, model.p)},
            accuracy=arguments.accuracy,
            ece=arguments.ece,
            direction=arguments.direction,
            n_classes=len(costs),
            class_shares=_shares(arguments, model),
            n_samples=arguments.n_samples,
            n_repeats=arguments.n_repeats,
            confidence_level=arguments.confidence_level,
            rng=arguments.seed,
            **({} if model is None else model.options),
        )
    goal: dict[str, Any] = {"saving": arguments.saving}
    if model is not None and arguments.relative_to == "file":
        goal["relative_to"] = model.name
    found = None if arguments.saving is None else table.require(**goal)
    if arguments.plot is not None:
        _draw(table, goal, arguments.plot)
    notes = [] if model is None or model.said is None else [model.said]
    _print(arguments, table, found, notes)
    return 0


def _check_options(arguments: argparse.Namespace) -> None:
    """Find out what is wrong before anything takes time."""
    files.check_cost_arguments(arguments, caller=_CALLER)
    if arguments.file is None:
        given = [name for name in _OF_FILE if getattr(arguments, name) is not None]
        if arguments.relative_to == "file":
            given.append("relative_to")
        if given:
            hint = "it is about the predictions in a file."
            got = repr(getattr(arguments, given[0]))
            raise invalid(_CALLER, given[0], "unset without --file", got, hint=hint)
    if arguments.plot is not None:
        import veridical.plots  # noqa: F401  # says how to get matplotlib if it is not there

        if Path(arguments.plot).suffix.lower() not in _FIGURES:
            hint = "the ending says in what form to draw."
            expected = f"a file ending in {', '.join(_FIGURES)}"
            raise invalid(_CALLER, "plot", expected, repr(arguments.plot), hint=hint)
        check_folder(Path(arguments.plot).expanduser())


def _costs(arguments: argparse.Namespace, model: Model | None) -> Any:
    """Costs with a row for each class in the order of the process: for two the positive last."""
    if arguments.costs is None:
        return (arguments.cost_fp, arguments.cost_fn)
    costs = files.read_costs(arguments.costs, caller=_CALLER)
    if model is not None:
        return _table(costs, model.sample)[model.places()]
    classes = files.classes_of(costs)
    if len(classes) < 2:
        hint = "a decision depends on which of several classes is the true one."
        raise invalid(_CALLER, "costs", "of two classes or more", f"{classes}", hint=hint)
    # Without predictions any will do: only the classes count.
    p = np.full((len(classes), len(classes)), 1 / len(classes))
    return _table(costs, check_sample(classes, p, caller=_CALLER, labels=classes))


def _table(costs: dict[str, dict[Any, float]], sample: Sample) -> Array:
    """Costs (K, A) in the order of columns."""
    named = files.with_labels(costs, np.asarray(sample.columns).tolist())
    found = check_costs(named, sample, sample.n, actions=None, abstain_cost=None, caller=_CALLER)
    return found.matrix


def _shares(arguments: argparse.Namespace, model: Model | None) -> Any:
    if arguments.class_shares is not None or model is None:
        return arguments.class_shares
    return model.shares(caller=_CALLER)


def _draw(table: RequirementTable, goal: dict[str, Any], target: str) -> None:
    from veridical.plots import requirements

    drawn = requirements(table, **goal)
    with whole_file(Path(target).expanduser()) as temporary:
        drawn.figure.savefig(temporary, format=Path(target).suffix[1:].lower(), dpi=150)


def _print(
    arguments: argparse.Namespace,
    table: RequirementTable,
    found: Requirements | None,
    notes: list[str],
) -> None:
    if arguments.format == "json":
        result = {
            "table": table.to_dict(),
            "requirements": None if found is None else found.to_dict(),
            "sentences": [] if found is None else str(found).splitlines(),
            "plot": arguments.plot,
            "notes": notes,
        }
        print(output.as_json(result))
        return
    output.show(table)
    for note in notes:
        output.show(f"  note: {in_options(note)}")
    if found is not None:
        output.show("", found)
    if arguments.plot is not None:
        output.show(f"\nfigure written to {arguments.plot}")
