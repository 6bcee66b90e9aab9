"""Predictions of a real model, to be put beside simulated ones."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from veridical._core.sample import Sample, weighted_mean
from veridical._core.validation import check_sample
from veridical.cli._data import LabelReader, split_names
from veridical.evaluation._inputs import gather_inputs
from veridical.exceptions import invalid
from veridical.frames import column_names


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
    prob = split_names(arguments.prob)
    typed = LabelReader(arguments.file, arguments.y, prob, caller=caller)
    labels, positive = split_names(arguments.labels), arguments.pos_label
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
