"""``veridical apply``."""

from __future__ import annotations

import argparse

import numpy as np

from veridical._core.data.reading import Reading
from veridical._core.formula import probability_of
from veridical._core.numeric.blocks import row_blocks
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray
from veridical.cli.shared import data, files, output
from veridical.cli.shared.parser import Parser
from veridical.frames.files import check_new_columns, check_target, write_with_columns
from veridical.frames.tables import column_names, open_table

_CALLER = "apply"
_BLOCK_VALUES = 1 << 20  # bounds what a calibrator works on at a time

_EPILOG = """\
examples:
  veridical apply calibrator.json new.csv -o calibrated.csv
  veridical apply calibrator.json 'part-*.parquet' --prob score -o calibrated.parquet

The output has all columns of the input and those of calibrated probabilities: one column named
`calibrated` for one column of predictions (about the same class, which the calibrator knows), or
`calibrated_CLASS` for each class. Rows keep their order.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Calibrate the predictions in a file with a calibrator that `veridical"
        " calibrate` has saved."
    )
    parser.epilog = _EPILOG
    parser.add_argument("calibrator", metavar="CALIBRATOR", help="JSON file of a calibrator")
    parser.add_argument(
        "file", metavar="FILE", help="CSV, JSON Lines, Parquet or Arrow file, or a glob"
    )
    meaning = "predictions, in the order of the classes (default: the columns it was fitted to)"
    data.add_column_arguments(parser, "prob", prob=meaning)
    told = "class that a single column is about: a check, as the calibrator knows it"
    data.add_column_arguments(parser, "pos_label", pos_label=told)
    parser.add_argument(
        "--prefix", default="calibrated", metavar="TEXT", help="of new columns; default: calibrated"
    )
    blank = "a row without a prediction is an error, or (drop, the default) left uncalibrated"
    data.add_reading_arguments(parser, missing="drop", meaning=blank)
    output.add_table_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, calibrate, write."""
    saved = files.read_calibrator(arguments.calibrator, caller=_CALLER)
    files.check_positive(saved, arguments.pos_label, caller=_CALLER)
    check_target(arguments.file, arguments.output, caller=_CALLER)
    available = column_names(arguments.file, caller=_CALLER, param="FILE")
    columns = files.calibrated_columns(
        saved, data.split_names(arguments.prob), available, caller=_CALLER
    )
    names = [arguments.prefix]
    if len(columns) > 1:
        names = [f"{arguments.prefix}_{label}" for label in saved.classes]
    check_new_columns(names, available, caller=_CALLER)
    with output.busy(f"reading {arguments.file}"):
        table = open_table(arguments.file, columns=columns, caller=_CALLER, param="FILE")
        given = table.matrix(columns, scale=arguments.scale, caller=_CALLER, param="prob")
    values = given[:, 0] if len(columns) == 1 else given
    reading = data.reading_for(arguments, saved.calibrator.input, caller=_CALLER)
    calibrated, n_missing = _where_given(saved, values, reading)
    added = {name: calibrated[:, k] for k, name in enumerate(names)}
    with output.busy(f"writing {arguments.output}"):
        write_with_columns(arguments.file, arguments.output, added, caller=_CALLER)
    about = ""
    if len(columns) == 1:
        about = f", the {_meaning(saved)},"
    text = f"{len(calibrated):,} rows with {', '.join(names)}{about} written to {arguments.output}"
    if n_missing:
        text += f"; {n_missing:,} of them without a prediction, before and after"
    output.show(text)
    return 0


def _where_given(
    saved: files.SavedCalibrator, values: FloatArray, reading: Reading
) -> tuple[FloatArray, int]:
    """Calibrated predictions, missing where the predictions are, and how many are missing."""
    missing = np.isnan(values.reshape(len(values), -1)).any(axis=1)
    if reading.missing == "error" or not missing.any():
        return _calibrated(saved, reading.probabilities(values, caller=_CALLER, param="y_prob")), 0
    given = reading.probabilities(values[~missing], caller=_CALLER, param="y_prob")
    found = _calibrated(saved, given) if len(given) else np.empty((0, 1))
    result = np.full((len(values), found.shape[1]), np.nan)
    result[~missing] = found
    return result, int(missing.sum())


def _meaning(saved: files.SavedCalibrator) -> str:
    """Which probability a single column is, before and after."""
    outcome = getattr(saved.calibrator, "outcome_name_", None)
    return probability_of(saved.classes[saved.one_class], outcome)


def _calibrated(saved: files.SavedCalibrator, values: FloatArray) -> FloatArray:
    """Calibrated probabilities: (n, 1) of the same class for one column, else (n, K)."""
    values = saved.checked(values, caller=_CALLER)
    parts = []
    blocks = list(row_blocks(len(values), max(256, _BLOCK_VALUES // len(saved.classes))))
    for block in track(len(blocks), "calibrating"):
        parts.append(np.ascontiguousarray(saved.predict(values[blocks[block]])))
    return np.concatenate(parts)
