"""Fit a calibrator, apply it, export it, run the export, decide, check and watch.

What one process writes another reads, whatever either of them has imported before.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from calibrators.every_calibrator import BINARY, EVERY
from installed import Shell
from needs import needed

import veridical
from veridical.calibrators._base.persistence import CLASSES
from veridical.selection.core import calibrator_names

ROWS = 240
PYTHON = {  # calibrators that no command fits: they wrap others, or need features
    "AveragedCalibrator": "AveragedCalibrator([PlattCalibrator(), BetaCalibrator()])",
    "CalibrationTree": "CalibrationTree(PlattCalibrator(), min_rows=20, cv=3)",
    "ChainedCalibrator": "ChainedCalibrator([PlattCalibrator(), IsotonicCalibrator()])",
    "ClassConditionalCalibrator": "ClassConditionalCalibrator(TemperatureCalibrator())",
    "CompactCalibrator": "CompactCalibrator(HistogramCalibrator())",
    "ConfidenceReducedCalibrator": "ConfidenceReducedCalibrator(BetaCalibrator())",
    "GroupedCalibrator": "GroupedCalibrator(PlattCalibrator())",
    "MixingCalibrator": "MixingCalibrator(TemperatureCalibrator(), mix=0.05)",
    "OneVsRestCalibrator": "OneVsRestCalibrator(PlattCalibrator())",
    "SegmentCalibrator": "SegmentCalibrator(PlattCalibrator(), depth=1, min_rows=20, cv=3)",
}
WITH_FEATURES = ("CalibrationTree", "GroupedCalibrator", "SegmentCalibrator")


def _file(folder: Path, n_classes: int = 2) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    if n_classes == 2:
        p = rng.beta(1, 1, ROWS).round(4)
        label = (rng.random(ROWS) < p**2 / (p**2 + (1 - p) ** 2)).astype(int)
        columns = {"p": p}
    else:
        p = rng.dirichlet(np.ones(n_classes), ROWS)
        truth = (p**2 / (p**2).sum(axis=1, keepdims=True)).cumsum(axis=1)
        label = (rng.random(ROWS)[:, None] > truth).sum(axis=1).clip(max=n_classes - 1)
        columns = {f"p_{k}": p[:, k] for k in range(n_classes)}
    region = np.where(rng.random(ROWS) < 0.5, "north", "south")
    frame = pl.DataFrame({"id": np.arange(ROWS), "label": label, **columns, "region": region})
    frame.write_csv(folder / "scores.csv")
    return frame


@pytest.mark.parametrize(
    ("method", "n_classes"),
    [("", 2), ("", 3), ("--method isotonic --folds 0", 2), ("--method vector --folds 0", 3)],
)
def test_from_scores_to_a_watched_model(shell: Shell, method: str, n_classes: int) -> None:
    frame = _file(shell.folder, n_classes)
    names = ["p"] if n_classes == 2 else ["p_0", "p_1", "p_2"]
    prob = shlex.quote(",".join(names))
    shell.run(f"veridical calibrate scores.csv --y label --prob {prob} {method} -o map.json")
    shell.run("veridical apply map.json scores.csv -o out.csv")
    expected = veridical.load(shell.folder / "map.json").predict_proba(frame[names].to_numpy())
    out = pl.read_csv(shell.folder / "out.csv")
    applied = [name for name in out.columns if name.startswith("calibrated")]
    shown = expected[:, [1]] if n_classes == 2 else expected
    np.testing.assert_allclose(out[applied].to_numpy(), shown, atol=1e-12)

    shell.run("veridical export map.json --to sql --table scores --keep id -o map.sql")
    base = needed("duckdb").connect()
    base.execute("CREATE TABLE scores AS SELECT * FROM read_csv(?)", [f"{shell.folder}/scores.csv"])
    answer = base.execute((shell.folder / "map.sql").read_text()).fetchall()
    computed = [row[-shown.shape[1] :] for row in sorted(answer)]
    np.testing.assert_allclose(np.array(computed, dtype=float), shown, atol=1e-12)

    shell.run("veridical export map.json --to python -o mapped.py")
    row = frame[names].row(7) if n_classes > 2 else frame["p"][7]
    printed = shell.python(f"from mapped import calibrate; print(list(calibrate({row})))")
    np.testing.assert_allclose(json.loads(printed), expected[7], atol=1e-12)

    shell.run("veridical export map.json --to onnx -o map.onnx")
    session = needed("onnxruntime").InferenceSession(shell.folder / "map.onnx")
    (put,) = session.get_inputs()
    scores = frame["p" if n_classes == 2 else names].to_numpy()
    scores = scores.astype(np.float64 if "double" in put.type else np.float32)
    np.testing.assert_allclose(session.run(None, {put.name: scores})[-1], expected, atol=1e-4)

    calibrated = shlex.quote(",".join(applied))
    if n_classes == 2:
        answer = shell.run("veridical decide --map map.json --threshold 0.2 --format json")
        score = json.loads(answer)["cutoff"]["score"]
        np.testing.assert_array_equal(expected[:, 1] >= 0.2, frame["p"].to_numpy() >= score)
    pl.DataFrame({"class": range(n_classes), "act": 1, "wait": [0, 4, 4][:n_classes]}).write_csv(
        shell.folder / "costs.csv"
    )
    both = calibrated if n_classes == 3 else "calibrated"
    shell.run(f"veridical decide out.csv --prob {both} --costs costs.csv -o decisions.csv")
    decided = pl.read_csv(shell.folder / "decisions.csv")
    wait = expected @ np.array([0, 4, 4][:n_classes])
    assert (decided["action"] == np.where(wait < 1, "wait", "act")).all()

    asked = "--require 'ece < 0.5' --format json"
    gate = json.loads(shell.run(f"veridical check out.csv --y label --prob {both} {asked}"))
    p = expected[:, 1] if n_classes == 2 else expected
    error = veridical.expected_calibration_error(frame["label"].to_numpy(), p)
    assert gate["checks"][0]["value"] == pytest.approx(error, abs=1e-9)

    labels = ",".join(map(str, range(n_classes)))
    shell.run(f"veridical monitor init store.sqlite --labels {labels}")
    shell.run(f"veridical monitor update store.sqlite out.csv --y label --prob {both}")
    status = shell.run("veridical monitor status store.sqlite --format json")
    assert json.loads(status)["n_samples"] == ROWS


@pytest.mark.parametrize("name", sorted(set(calibrator_names()) - {"auto"}))
def test_a_calibrator_is_fitted_applied_and_loaded_in_three_processes(
    shell: Shell, name: str
) -> None:
    several = type(EVERY.get(name.replace("-", " "), None)) in map(type, EVERY.values())
    frame = _file(shell.folder, 2 if name in BINARY or not several else 3)
    names = [column for column in frame.columns if column.startswith("p")]
    prob = shlex.quote(",".join(names))
    fit = f"--method {name} --folds 0 -o m.json"
    shell.run(f"veridical calibrate scores.csv --y label --prob {prob} {fit}")
    shell.run("veridical apply m.json scores.csv -o out.csv")
    row = frame[names].head(1).to_numpy().tolist()
    load = f"import veridical; print(veridical.load('m.json').predict_proba({row}).tolist())"
    loaded = json.loads(shell.python(load))[0]
    out = pl.read_csv(shell.folder / "out.csv")
    applied = out[[c for c in out.columns if c.startswith("calibrated")]].row(0)
    np.testing.assert_allclose(applied, loaded[-len(applied) :], atol=1e-12)


@pytest.mark.parametrize("name", PYTHON)
def test_a_calibrator_is_saved_in_one_process_and_loaded_in_another(
    shell: Shell, name: str
) -> None:
    _file(shell.folder)
    column = "['region']" if name == "GroupedCalibrator" else "[['region']]"
    by = f", by=rows{column}" if name in WITH_FEATURES else ""
    lines = """
import json, warnings
import numpy as np
import polars as pl
import veridical
rows = pl.read_csv("scores.csv")
p, y = rows["p"].to_numpy(), rows["label"].to_numpy()
"""
    told = f"print(json.dumps(made.predict_proba(p[:5]{by.replace('rows', 'rows[:5]')}).tolist()))"
    make = f"""
from veridical.calibrators import *
made = {PYTHON[name]}.fit(p, y{by})
veridical.save(made, "map.json")
"""
    saved = shell.python(f"{lines}{make}{told}")
    loaded = shell.python(f'{lines}made = veridical.load("map.json")\n{told}')
    assert json.loads(saved) == json.loads(loaded)


def test_every_class_that_a_file_can_name_has_a_journey() -> None:
    commands = {type(made).__name__ for made in EVERY.values()}
    fitted = {kind.__name__ for kind in calibrator_names().values() if kind is not None}
    assert fitted <= commands
    assert set(CLASSES) == fitted | set(PYTHON) | {"AutoCalibrator"}


def test_saved_results_and_summaries_are_read_by_another_process(shell: Shell) -> None:
    frame = pl.concat([_file(shell.folder)] * 3)
    y, p = frame["label"].to_numpy(), frame["p"].to_numpy()
    folder = shell.folder
    made = {
        "Evaluation": veridical.evaluate(y, p),
        "Comparison": veridical.compare({"a": p, "b": p / 2}, y),
        "ReliabilityCurve": veridical.reliability_curve(y, p),
        "Decomposition": veridical.decompose(y, p),
        "Interval": veridical.bootstrap_interval(veridical.BinnedError(), y, p, rng=0),
        "NullLevel": veridical.null_level(veridical.BinnedError(), y, p, rng=0),
        "GridSummary": veridical.grid_summary(frame, y="label", prob="p"),
    }
    for name, result in made.items():
        (folder / f"{name}.json").write_text(result.to_json(), encoding="utf-8")
    code = """
import dataclasses, json, pathlib, typing, veridical
from veridical import results, summaries
names = {}
for kind in (getattr(results, name) for name in results.__all__):
    if dataclasses.is_dataclass(kind):
        typing.get_type_hints(kind)  # reading back needs the types of all fields
for path in sorted(pathlib.Path().glob("*.json")):
    kind = getattr(results, path.stem, None) or getattr(summaries, path.stem)
    names[path.stem] = kind.from_json(path.read_text(encoding="utf-8")).to_json()
print(json.dumps(names))
"""
    again = json.loads(shell.python(code))
    assert {name: result.to_json() for name, result in made.items()} == again


def test_a_monitor_store_is_continued_by_another_process(shell: Shell) -> None:
    frame = _file(shell.folder)
    shell.python(
        "import polars as pl, veridical\n"
        "rows = pl.read_csv('scores.csv')\n"
        "monitor = veridical.CalibrationMonitor('store.sqlite')\n"
        "monitor.update(rows['label'].to_numpy(), rows['p'].to_numpy(), batch_id='one')"
    )
    update = "veridical monitor update store.sqlite scores.csv --y label --prob p --batch-id two"
    assert "ALARM" in shell.run(update, 3)
    status = json.loads(shell.run("veridical monitor status store.sqlite --format json", 3))
    assert status["n_samples"] == 2 * len(frame)
