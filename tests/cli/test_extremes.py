"""What no program expects, through the library and the command line: words, and nothing lost."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import veridical as v
from veridical.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

Y, P = [0, 1] * 20, [0.3, 0.6] * 20
HUGE = 10**400
DAYS = [dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 20
HALF = "a\ud800"  # half a character
TEXT = "labels that are integers, booleans or strings"


def _ragged() -> np.ndarray:
    return np.array([[0.1, 0.9], [0.5]] * 20, dtype=object)


# name: (arguments of evaluate, options, what the one message says)
API: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "weights far apart": ((Y, P), {"sample_weight": [1e-300, 1e300] * 20}, "within a factor of"),
    "a huge weight": ((Y, P), {"sample_weight": [1, HUGE] * 20}, "`sample_weight` must be numeric"),
    "a huge prediction": ((Y, [0.3, HUGE] * 20), {}, "got an integer beyond 1e308"),
    "a huge label": (([0, HUGE] * 20, P), {}, "must be integers below 2^53"),
    "huge labels": ((Y, P), {"labels": [0, HUGE]}, "must be integers below 2^53"),
    "a huge positive label": ((Y, P), {"pos_label": HUGE}, "`pos_label` must be one of"),
    "a huge number of bins": ((Y, P), {"n_bins": HUGE}, "`n_bins` must be at most"),
    "a huge number of draws": ((Y, P), {"n_resamples": HUGE}, "`n_resamples` must be at most"),
    "a huge level": ((Y, P), {"confidence_level": HUGE}, "must be between 0 and 1"),
    "dates": ((DAYS, P), {}, f"{TEXT}; got dates"),
    "dates of NumPy": ((np.array(DAYS, dtype="M8[D]"), P), {}, f"{TEXT}; got dates"),
    "dates of pandas": ((pd.Series(pd.to_datetime(DAYS)), P), {}, f"{TEXT}; got dates"),
    "dates of polars": ((pl.Series(DAYS), P), {}, f"{TEXT}; got dates"),
    "spans of time": ((np.array(Y, dtype="m8[D]"), P), {}, f"{TEXT}; got time spans"),
    "bytes": (([b"a", b"b"] * 20, P), {}, f"{TEXT}; got bytes"),
    "bytes as objects": ((np.array([b"a", b"b"] * 20, dtype=object), P), {}, f"{TEXT}; got bytes"),
    "lists as labels": ((pd.Series([[0], [1, 2]] * 20), P), {}, TEXT),
    "half a character in a label": (([HALF, "b"] * 20, P), {}, "`y_true` must be text in Unicode"),
    "half a character in labels": (
        (["a", "b"] * 20, P), {"labels": [HALF, "b"]}, "`labels` must be text in Unicode",
    ),
    "half a character in a group": ((Y, P), {"by": [HALF, "b"] * 20}, "`by` must be text"),
    "half a character in a name": ((Y, pd.Series(P, name=HALF)), {}, "`y_prob` must be text"),
    "rows of different lengths": ((Y, [[0.1, 0.9], [0.5]] * 20), {}, "`y_prob` must be array-like"),
    "such rows in an array": ((Y, _ragged()), {}, "got rows of different lengths"),
    "such rows in a series": ((Y, pd.Series(list(_ragged()))), {}, "got rows of different lengths"),
    "dates for predictions": ((Y, DAYS), {}, "`y_prob` must be numeric"),
    "complex predictions": ((Y, [1j] * 40), {}, "`y_prob` must be numeric"),
    "a masked array": ((Y, np.ma.array(P, mask=[1, 0] * 20)), {}, "free of missing values"),
}  # fmt: skip


@pytest.mark.parametrize("case", API)
def test_the_library_says_it_in_words(case):
    rows, options, message = API[case]
    with pytest.raises(v.InvalidInputError) as caught:
        v.evaluate(*rows, **options)
    assert message in str(caught.value)
    assert caught.value.hint
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("case", [name for name in API if not API[name][1]])
def test_calibrators_and_monitors_say_the_same(case):
    (y, p), _, message = API[case]
    watched = v.CalibrationMonitor()
    for call in (lambda: v.PlattCalibrator().fit(p, y), lambda: watched.update(y, p)):
        with pytest.raises(v.InvalidInputError) as caught:
            call()
        assert message in str(caught.value)
    assert watched.status().n_samples == 0


@pytest.mark.parametrize("column", [DAYS, [b"a", b"b"] * 20, [[0], [1]] * 20], ids=type)
@pytest.mark.parametrize("engine", ["memory", "pushdown"])
def test_frames_and_engines_refuse_what_is_no_label(column, engine):
    with pytest.raises(v.InvalidInputError, match=r"integers, booleans or strings|numbers, text"):
        v.evaluate(pl.DataFrame({"y": column, "p": P}), y="y", prob="p", engine=engine)


BATCHES: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"batch_id": float("nan")}, "`batch_id` must be text; got nan"),
    "a list": ({"batch_id": [1]}, "`batch_id` must be text; got [1]"),
    "a huge number": ({"batch_id": HUGE}, "`batch_id` must be text"),
    "half a character": ({"batch_id": HALF}, "`batch_id` must be text in Unicode"),
    "a time of half a character": ({"timestamp": HALF}, "`timestamp` must be text in Unicode"),
    "groups of half a character": ({"by": [HALF, "b"] * 20}, "`by` must be text in Unicode"),
}


@pytest.mark.parametrize("case", BATCHES)
def test_batches_are_refused_whole(case, tmp_path):
    options, message = BATCHES[case]
    with v.CalibrationMonitor(tmp_path / "store.db") as watched:
        watched.update(Y, P, batch_id="first")
        with pytest.raises(v.InvalidInputError) as caught:
            watched.update(Y, P, **options)
        assert message in str(caught.value)
        assert watched.update(Y, P, batch_id=7).n_samples == 80  # the store is as it was


def _csv(labels: list[Any], predictions: list[Any], weights: list[Any] | None = None) -> bytes:
    columns = [labels, predictions] + ([] if weights is None else [weights])
    head = "label,p" + ("" if weights is None else ",w")
    lines = [head, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


# name: (file, options, what the one line says)
FILES: dict[str, tuple[bytes, list[str], str]] = {
    "weights far apart": (
        _csv(Y, P, ["1e-300", "1e300"] * 20), ["--weight", "w"], "must be within a factor of",
    ),
    "a huge weight": (
        _csv(Y, P, [1, HUGE] * 20), ["--weight", "w"], "`--weight` must be finite",
    ),
    "a huge prediction": (_csv(Y, [0.3, HUGE] * 20), [], "`--prob` must be finite"),
    "a huge label": (_csv([0, HUGE] * 20, P), [], "`--y` must be class labels; got inf"),
    "half a character": (_csv([HALF, "b"] * 20, P), [], "save the file as UTF-8"),
    "a huge number of bins": (_csv(Y, P), ["--n-bins", str(HUGE)], "must be at most"),
    "a huge number of draws": (_csv(Y, P), ["--n-resamples", str(HUGE)], "must be at most"),
    "a huge level": (_csv(Y, P), ["--confidence-level", "1e400"], "must be between 0 and 1"),
    "a row cut short": (_csv(Y, P) + b"\n1", [], "`--prob` must be finite; got nan at index 40"),
    "bins of groups": (_csv(Y, P), ["--by", "p", "--by-bins", "1"], "`--by-bins` must be"),
    "another scale": (_csv(Y, P), ["--scale", "percents"], "invalid choice: 'percents'"),
    "another rule": (_csv(Y, P), ["--missing", "ignore"], "invalid choice: 'ignore'"),
    "percent of a hundred": (
        _csv(Y, [150, 20] * 20), ["--scale", "percent"], "`--prob` must be in [0, 100]",
    ),
    "nothing left": (
        _csv(Y, [""] * 40), ["--missing", "drop"], "must be non-empty; got 0 rows",
    ),
}  # fmt: skip


def _run(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    try:
        code = main([*arguments])
    except SystemExit as stopped:
        code = stopped.code  # type: ignore[assignment]
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("case", FILES)
def test_the_command_line_says_it_in_one_line(case, capsys, tmp_path, monkeypatch):
    content, options, message = FILES[case]
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_bytes(content)
    Path("result.json").write_text("kept")
    asked = ["rows.csv", "--y", "label", "--prob", "p", *options, "-o", "result.json"]
    code, out, err = _run(capsys, "evaluate", *asked)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1
    assert Path("result.json").read_text() == "kept"


@pytest.mark.parametrize("kind", ["dates", "bytes"])
def test_labels_of_files_that_are_none(kind, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    column = DAYS if kind == "dates" else [b"a", b"b"] * 20
    pl.DataFrame({"label": column, "p": P}).write_parquet("rows.parquet")
    Path("map.json").write_text("kept")
    for command in ("evaluate", "test", "calibrate"):
        asked = ["rows.parquet", "--y", "label", "--prob", "p", "-o", "map.json"]
        code, out, err = _run(capsys, command, *asked)
        assert (code, out) == (2, "")
        assert TEXT in err
        assert Path("map.json").read_text() == "kept"
