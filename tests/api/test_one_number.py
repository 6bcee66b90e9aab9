"""Labels of any kind, in any container, to any function: the number of the plain 0/1 arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from label_kinds import CONTAINERS, KINDS, P3, Y3, Cell, P, Y, brier, cell_of, options_of
from sklearn.linear_model import LogisticRegression

import veridical as v

pytest.importorskip("duckdb", reason="one of the engines")
pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

X = np.column_stack([np.log(P / (1 - P)), np.cos(np.arange(len(P)))])


def _forms(cell: Cell) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The ways the rows can be passed: as arrays, as a table, or both."""
    forms: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    if cell.y is not None:
        forms.append(((cell.y, cell.p), cell.options))
    if cell.table is not None:
        named = {"y": "y", "prob": cell.prob}
        forms.append(((cell.table,), {**named, **cell.options}))
    return forms


def evaluate(cell: Cell) -> list[float]:
    return [v.evaluate(*rows, **o, n_resamples=0).scores["brier"] for rows, o in _forms(cell)]


def gate(cell: Cell) -> list[float]:
    asked = {"requirements": ["brier < 2"]}
    found = [v.check_requirements(*rows, **o, **asked) for rows, o in _forms(cell)[-1:]]
    return [one.checks[0].value for one in found]


def score(cell: Cell) -> list[float]:
    return [v.brier_score(cell.y, cell.p, **cell.options)]


def decide(cell: Cell) -> list[float]:
    """Share of the last class by the cheapest action; the labels are given in class order."""
    labels = list(cell.kind.labels)
    costs = {str(a): {b: float(a != b) for b in labels} for a in labels}
    told = {"pos_label": labels[1]} if len(labels) == 2 else {}
    p = cell.p
    if isinstance(p, np.ndarray) and p.ndim == 2:
        labels = sorted(labels) if len(labels) == 2 else labels
    return [
        float(
            (v.decide(p, costs, labels=labels, **told).action == str(cell.kind.labels[-1])).mean()
        )
    ]


def monitor(cell: Cell) -> list[float]:
    watched = v.CalibrationMonitor(**cell.options)
    return [watched.update(cell.y, cell.p).e_value]


def _fitted(cell: Cell, make: Callable[..., Any]) -> list[float]:
    """Brier score of what a map says of the rows it was fitted to, by the name of the class."""
    found = []
    for rows, options in _forms(cell):
        told = {name: value for name, value in options.items() if name in ("pos_label", "labels")}
        columns = {name: value for name, value in options.items() if name in ("y", "prob")}
        fitted = make(**told)
        fitted.fit(rows[1], rows[0]) if len(rows) == 2 else fitted.fit(rows[0], **columns)
        plain = P if len(cell.kind.columns) == 1 else _matrix(fitted.classes_.tolist(), cell)
        q = fitted.predict_proba(plain)
        order = [fitted.classes_.tolist().index(label) for label in cell.kind.labels]
        found.append(_brier(q[:, order], cell))
    return found


def _matrix(classes: list[Any], cell: Cell) -> np.ndarray:
    return np.column_stack([cell.kind.p_of(cell.kind.labels.index(label)) for label in classes])


def _brier(q: np.ndarray, cell: Cell) -> float:
    if q.shape[1] == 2:
        return float(np.mean((q[:, 1] - Y) ** 2))
    return float(np.mean(((q - np.eye(3)[Y3]) ** 2).sum(axis=1)))


def calibrator(cell: Cell) -> list[float]:
    return _fitted(
        cell, v.TemperatureCalibrator if len(cell.kind.labels) > 2 else v.PlattCalibrator
    )


def auto(cell: Cell) -> list[float]:
    return _fitted(cell, v.AutoCalibrator)


def classifier(cell: Cell) -> list[float]:
    model = LogisticRegression(tol=1e-10, max_iter=1000)
    fitted = v.CalibratedClassifier(model, v.PlattCalibrator(), cv=2).fit(X, cell.y)
    order = [fitted.classes_.tolist().index(label) for label in cell.kind.labels]
    return [_brier(fitted.predict_proba(X)[:, order], cell)]


def report(cell: Cell) -> list[float]:
    rows, options = _forms(cell)[-1]
    found = v.make_report(*rows, **options, n_resamples=20).to_dict()
    return [_find(found, "scores")["brier"]]


def _find(data: Any, name: str) -> Any:
    """The first value of that name, however deep."""
    if isinstance(data, dict):
        if name in data:
            return data[name]
        data = list(data.values())
    for each in data if isinstance(data, list) else []:
        found = _find(each, name)
        if found is not None:
            return found
    return None


EVERYWHERE, ROWS = tuple(CONTAINERS), ("arrays", "pandas", "polars", "pyarrow")
# What is asked, in which containers and of which kinds of labels it is, and how exactly it agrees
# (engines fit maps to sums, and classifiers are fitted by iterations).
ASKED: dict[Callable[[Cell], list[float]], tuple[tuple[str, ...], tuple[str, ...], float]] = {
    evaluate: (EVERYWHERE, tuple(KINDS), 1e-12),
    gate: (("pandas", "CSV", "lazy"), tuple(KINDS), 1e-12),
    score: (ROWS, tuple(KINDS), 1e-12),
    calibrator: (EVERYWHERE, tuple(KINDS), 1e-6),
    monitor: (ROWS, tuple(KINDS), 1e-9),
    decide: (ROWS, tuple(KINDS), 1e-12),
    classifier: (ROWS, tuple(kind for kind in KINDS if len(KINDS[kind].labels) == 2), 1e-4),
    auto: (("pandas",), ("strings, positive first", "three named, shuffled"), 1e-6),
    report: (("polars",), ("Enum",), 1e-12),
}


@cache
def expected(asked: Callable[[Cell], list[float]], n_classes: int) -> float:
    """The number of the plain 0/1 arrays."""
    if asked in (evaluate, gate, score, report):
        return brier("0/1" if n_classes == 2 else "three named, shuffled")
    plain = KINDS["0/1"] if n_classes == 2 else type(KINDS["0/1"])((0, 1, 2), ("p0", "p1", "p2"))
    rows = Cell(plain, Y, P) if n_classes == 2 else Cell(plain, Y3, P3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return asked(rows)[0]


@pytest.mark.parametrize(
    ("asked", "container"),
    [pytest.param(one, c, id=f"{one.__name__}-{c}") for one, row in ASKED.items() for c in row[0]],
)
def test_every_kind_of_label_gives_the_number_of_plain_arrays(asked, container, tmp_path):
    _, kinds, tolerance = ASKED[asked]
    wrong = {}
    for kind in kinds:
        cell = cell_of(kind, container, tmp_path)
        number = expected(asked, len(cell.kind.labels))
        found = asked(cell)
        if not np.allclose(found, number, rtol=tolerance, atol=tolerance):
            wrong[kind] = (found, number)
    assert not wrong


def test_at_most_one_option_is_needed():
    """Nothing is refused: where neither values, types nor names say it, one option does."""
    needed = {(kind, c): options_of(kind, c) for kind in KINDS for c in CONTAINERS}
    assert all(len(options) <= 1 for options in needed.values())
    reasons = {
        "no type declares an order": lambda kind, c: (
            KINDS[kind].declared and c in ("arrays", "CSV")
        ),
        "the larger label is the other one": lambda kind, c: kind == "strings, positive first",
        "arrays have no names": lambda kind, c: (
            "column named" in kind and c in ("arrays", "pyarrow")
        ),
    }
    without_reason = [
        key
        for key, options in needed.items()
        if options and not any(reason(*key) for reason in reasons.values())
    ]
    assert not without_reason


@pytest.mark.parametrize("container", ["arrays", "pandas", "CSV", "lazy"])
def test_an_order_that_nothing_declares_is_not_guessed(container, tmp_path):
    """Without the option, the larger label is the positive one, and the verdict says "Reversed"."""
    cell = cell_of("strings, positive first", container, tmp_path)
    rows, options = _forms(cell)[-1]
    options = {name: value for name, value in options.items() if name != "pos_label"}
    assert v.evaluate(*rows, **options, n_resamples=0).classes == ("bad", "good")
