"""Graphs are checked, run in ONNX Runtime and compared with `predict_proba`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export import maps

from veridical import __version__
from veridical._core.formula import Column, Constant, Formula, Linear
from veridical.calibrators import (
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    SimplexHistogramCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators.formulas import formula_of
from veridical.exceptions import InvalidInputError, MissingDependencyError
from veridical.export._tensors.blocks import Limit, Logarithm, WeightedSum, steps_of
from veridical.export._tensors.onnx import to_onnx
from veridical.selection import AutoCalibrator

CLOSE = 1e-12
# Calibrators that between them have every kind of node.
EVERY_NODE = ("temperature", "structured_bare", "one_vs_rest", "mixing", "conditional")


@pytest.fixture
def onnx(need: Callable[[str], Any]) -> Any:
    """The library, with a runtime beside it."""
    need("onnxruntime")
    return need("onnx")


def _run(model: Any, scores: np.ndarray) -> np.ndarray:
    return _outputs(model, scores)["calibrated"]


def _outputs(model: Any, given: np.ndarray) -> dict[str, np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_outputs()]
    (source,) = session.get_inputs()
    return dict(zip(names, session.run(None, {source.name: given}), strict=True))


def _compare(calibrator: Any, scores: np.ndarray, **options: Any) -> None:
    model = to_onnx(calibrator, one_column=scores.ndim == 1, **options)
    found = _run(model, scores)
    assert found.dtype == np.float64
    assert np.abs(found - calibrator.predict_proba(scores)).max() < CLOSE


@pytest.mark.parametrize("name", maps.ALL)
def test_one_probability(name: str, onnx: Any) -> None:
    calibrator = maps.fitted(name)
    _compare(calibrator, maps.hard_scores(calibrator))


@pytest.mark.parametrize("name", maps.ALL)
def test_two_probabilities_the_positive_class_first(name: str, onnx: Any) -> None:
    calibrator = maps.fitted(name, labels=(1, 0))
    p = maps.hard_scores(maps.fitted("histogram"))
    _compare(calibrator, np.column_stack([p, 1 - p]))
    _compare(calibrator, p)


@pytest.mark.parametrize("name", maps.ALL)
def test_logits(name: str, onnx: Any) -> None:
    calibrator = maps.fitted(name, input="logit")
    _compare(calibrator, maps.hard_scores(calibrator))


@pytest.mark.parametrize("name", maps.ANY)
def test_three_classes(name: str, onnx: Any) -> None:
    _compare(maps.fitted_three(name), maps.hard_rows())
    if name in maps.SMOOTH:
        logits = np.concatenate([maps.three_logits(maps.hard_rows()), [[900.0, -900.0, 0.0]]])
        _compare(maps.fitted_three(name, input="logit"), logits)


@pytest.mark.parametrize("opset", [13, 18, 21])
@pytest.mark.parametrize("name", EVERY_NODE)
def test_older_and_newer_operators(name: str, opset: int, onnx: Any) -> None:
    _compare(maps.fitted_three(name), maps.hard_rows(), opset=opset)
    model = to_onnx(maps.fitted_three(name), opset=opset)
    assert [(each.domain, each.version) for each in model.opset_import] == [("", opset)]


def test_average_of_many_folds(onnx: Any) -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(p, y)
    _compare(auto, maps.hard_scores(maps.fitted("isotonic")))


def test_temperature_two_turns_odds_of_nine_into_three(onnx: Any) -> None:
    map = TemperatureCalibrator(pseudo_rows=0).fit([0.9] * 4, [1, 1, 1, 0])
    found = _run(to_onnx(map), np.array([[0.1, 0.9]]))
    np.testing.assert_allclose(found, [[0.25, 0.75]], atol=1e-9)


def test_large_logits_keep_their_difference(onnx: Any) -> None:
    z = float(np.log(27))  # odds 27 become 3: temperature 3
    map = TemperatureCalibrator(pseudo_rows=0, input="logit").fit([z] * 4, [1, 1, 1, 0])
    found = _run(to_onnx(map), np.array([[1e12, 1e12 + 1], [-1e12, -1e12 - 3]]))
    expected = 1 / (1 + np.exp([-1 / 3, 3 / 3]))
    np.testing.assert_allclose(found[:, 1], expected, atol=1e-8)


def test_a_row_in_which_every_part_is_zero_is_left_as_it_is(onnx: Any) -> None:
    row = [0.58, 0.38, 0.04]  # no class ever happens at 0.38 or less
    p, y = [row, row[-1:] + row[:-1], row[-2:] + row[:-2]], [0, 1, 2]
    map = OneVsRestCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y)
    found = _run(to_onnx(map), np.array([[0.38, 0.35, 0.27]]))
    np.testing.assert_allclose(found, [[0.38, 0.35, 0.27]])


def test_an_edge_belongs_below_to_the_last_bit(onnx: Any) -> None:
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1])
    just_above = np.nextafter(0.5, 1)  # single precision would not tell it from the edge
    found = _run(to_onnx(map, one_column=True), np.array([0.5, just_above]))
    assert found[:, 1].tolist() == [0.4, 0.8]


@pytest.mark.parametrize("name", ["identity", "platt", "histogram", "isotonic", "conditional"])
def test_what_cannot_be_gives_nan_in_its_row_only(name: str, onnx: Any) -> None:
    wrong = np.array([0.3, np.nan, -0.1, np.nextafter(1, 2), np.inf, -np.inf, 0.3])
    found = _run(to_onnx(maps.fitted(name), one_column=True), wrong)
    assert np.isnan(found).all(axis=1).tolist() == [False, *[True] * 5, False]
    assert np.isfinite(found[[0, -1]]).all()
    rows = np.array([[0.5, 0.5], [np.nan, 0.5], [0.5, np.nan]])
    found = _run(to_onnx(maps.fitted(name)), rows)
    assert np.isnan(found).tolist() == [[False] * 2, [True] * 2, [True] * 2]
    logits = _run(to_onnx(maps.fitted(name, input="logit"), one_column=True), wrong)
    assert np.isnan(logits[:, 0]).tolist() == [False, True, False, False, True, True, False]


@pytest.mark.parametrize("name", maps.ANY)
def test_only_standard_operators_none_of_them_twice(name: str, onnx: Any) -> None:
    model = to_onnx(maps.fitted_three(name))
    onnx.checker.check_model(model, full_check=True)
    assert {each.domain for each in (*model.graph.node, *model.opset_import)} == {""}
    kinds = {onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64, onnx.TensorProto.INT32}
    assert {each.data_type for each in model.graph.initializer} <= kinds
    nodes = Counter(
        (each.op_type, *each.input, *(a.SerializeToString() for a in each.attribute))
        for each in model.graph.node
    )
    assert not nodes or max(nodes.values()) == 1


def test_a_shared_node_is_computed_once_even_beside_its_own_part() -> None:
    odds = Linear(((2.0, Column(0)),), 1.0)
    against = Linear(((-1.0, odds),))  # of one term as well, but not to be computed with `odds`
    formula = Formula(1, "logit", (against, odds, Constant(0.0), odds), 1, (0, 1))
    sums = [step for step in steps_of(formula) if isinstance(step, WeightedSum)]
    assert [[w.tolist() for w in step.weights if w is not None] for step in sums] == [[[2]], [[-1]]]


def test_equal_parts_of_an_average_are_computed_once() -> None:
    formula = formula_of(maps.fitted_three("averaged"), one_column=False, caller="test")
    kinds = Counter(type(step) for step in steps_of(formula))
    assert kinds[Logarithm] == kinds[Limit] == 1


def test_sums_of_the_same_column_keep_their_own_columns() -> None:
    same = Column(0)
    twice = tuple(Linear(((1.0, same),)) for _ in range(2))
    last = steps_of(Formula(1, "logit", twice, 1, (0, 1)))[-1]
    assert isinstance(last, WeightedSum)
    assert [w.tolist() for w in last.weights if w is not None] == [[1, 1]]


def test_weighted_sums_of_all_classes_are_one_product(onnx: Any) -> None:
    operators = [each.op_type for each in to_onnx(maps.fitted_three("matrix")).graph.node]
    assert operators.count("MatMul") == 2  # and one that makes a column of flaws a table


def test_nodes_grow_with_the_logarithm_of_pieces_and_not_with_classes(onnx: Any) -> None:
    def nodes(n_bins: int) -> int:
        p = np.linspace(0.0005, 0.9995, 1000)
        map = HistogramCalibrator(n_bins=n_bins, strategy="uniform").fit(p, np.arange(1000) % 2)
        return len(to_onnx(map, one_column=True).graph.node)

    # Intervals of a table: 4, 32, 256; each doubling is a round of seven operators.
    assert nodes(32) - nodes(4) == nodes(256) - nodes(32) == 3 * 7
    rng = np.random.default_rng(3)
    sizes = []
    for n_classes in (5, 50):
        p = rng.dirichlet(np.ones(n_classes), 200)
        map = TemperatureCalibrator().fit(p, np.arange(200) % n_classes)
        sizes.append(len(to_onnx(map).graph.node))
        _compare(map, p)
    assert sizes[0] == sizes[1]


def test_labels_and_versions_are_in_the_metadata(onnx: Any) -> None:
    p, y = maps.binary_rows()
    map = PlattCalibrator().fit(p, np.where(y == 1, "sick", "healthy"))
    model = to_onnx(map)
    notes = {each.key: each.value for each in model.metadata_props}
    assert json.loads(notes["veridical.classes"]) == ["healthy", "sick"]
    assert notes["veridical.calibrator"] == "PlattCalibrator"
    assert notes["veridical.version"] == model.producer_version == __version__
    assert notes["veridical.input"] == "probability"
    assert [each.name for each in model.graph.input] == ["probabilities"]
    scores = to_onnx(maps.fitted("platt", input="score"))
    assert [each.name for each in scores.graph.input] == ["scores"]


def test_the_file_holds_the_model_and_is_written_whole_or_not_at_all(
    onnx: Any, tmp_path: Path
) -> None:
    model = to_onnx(maps.fitted("isotonic"), tmp_path / "map.onnx")
    assert onnx.load(str(tmp_path / "map.onnx")) == model
    assert [path.name for path in tmp_path.iterdir()] == ["map.onnx"]
    with pytest.raises(FileNotFoundError):
        to_onnx(maps.fitted("platt"), tmp_path / "none" / "map.onnx")
    with pytest.raises(InvalidInputError):
        to_onnx(maps.fitted("platt"), tmp_path / "other.onnx", opset=1)
    assert [path.name for path in tmp_path.iterdir()] == ["map.onnx"]


# A classifier's own graph: logistic regression in single precision, as converters write it.


def _classifier(onnx: Any, *, ending: str = "Softmax", opset: int = 17) -> Any:
    """Two features; softmax over three classes, or a sigmoid; a label beside the probabilities."""
    helper, float32, int64 = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    width = 3 if ending == "Softmax" else 1
    weights = np.random.default_rng(5).normal(size=(2, width)).astype(np.float32)
    decision = "calibrator/Cast_0"  # what the first node behind it would be called
    nodes = [
        helper.make_node("MatMul", ["features", "weights"], [decision]),
        helper.make_node(ending, [decision], ["probabilities"]),
        helper.make_node("ArgMax", [decision], ["label"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("features", float32, ["n", 2])],
        [
            helper.make_tensor_value_info("label", int64, ["n"]),
            helper.make_tensor_value_info("probabilities", float32, ["n", width]),
        ],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=imports, producer_name="converter", ir_version=8)
    helper.set_model_props(model, {"owner": "someone"})
    return model


@pytest.mark.parametrize("name", ["temperature", "one_vs_rest", "conditional"])
def test_behind_a_classifier_of_single_precision(name: str, onnx: Any) -> None:
    base, calibrator = _classifier(onnx, opset=18), maps.fitted_three(name)
    before = base.SerializeToString()
    model = to_onnx(calibrator, onto=base)
    onnx.checker.check_model(model, full_check=True)
    assert base.SerializeToString() == before
    features = np.random.default_rng(6).normal(size=(200, 2)).astype(np.float32)
    plain, both = _outputs(base, features), _outputs(model, features)
    assert list(both) == ["label", "calibrated"]
    expected = calibrator.predict_proba(plain["probabilities"].astype(np.float64))
    assert np.abs(both["calibrated"] - expected).max() < CLOSE
    np.testing.assert_array_equal(both["label"], plain["label"])
    assert model.producer_name == "converter"
    assert {"owner", "veridical.classes"} <= {each.key for each in model.metadata_props}


def test_behind_one_column_of_a_sigmoid(onnx: Any) -> None:
    base, calibrator = _classifier(onnx, ending="Sigmoid"), maps.fitted("isotonic")
    model = to_onnx(calibrator, onto=base, output="probabilities", one_column=True)
    features = np.random.default_rng(6).normal(size=(200, 2)).astype(np.float32)
    p = _outputs(base, features)["probabilities"][:, 0].astype(np.float64)
    found = _outputs(model, features)["calibrated"]
    assert np.abs(found - calibrator.predict_proba(p)).max() < CLOSE


def test_graphs_that_do_not_end_in_what_is_needed_are_refused(onnx: Any) -> None:
    three, two = maps.fitted_three("temperature"), maps.fitted("platt")
    base = _classifier(onnx)
    with pytest.raises(InvalidInputError, match=r"(?s)'label'.*\['label', 'probabilities'\]"):
        to_onnx(three, onto=base, output="label")
    with pytest.raises(InvalidInputError, match=r"shape \(n, 2\); got .*\(\?, 3\)"):
        to_onnx(two, onto=base)
    with pytest.raises(InvalidInputError, match=r"(?s)\(\?, 1\).*one_column=True"):
        to_onnx(two, onto=_classifier(onnx, ending="Sigmoid"))
    with pytest.raises(InvalidInputError, match=r"onnx\.load"):
        to_onnx(three, onto="model.onnx")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"(?s)17, that of `onto`.*convert_version"):
        to_onnx(three, onto=base, opset=18)
    with pytest.raises(InvalidInputError, match=r"(?s)13 or later; got 11.*convert_version"):
        to_onnx(three, onto=_classifier(onnx, opset=11))
    with pytest.raises(InvalidInputError, match="free of the name 'calibrated'"):
        to_onnx(three, onto=to_onnx(three, onto=base))
    zipped = _classifier(onnx)
    zipped.graph.node.append(
        onnx.helper.make_node("ZipMap", ["probabilities"], ["maps"], domain="ai.onnx.ml")
    )
    zipped.graph.output[1].type.Clear()
    with pytest.raises(InvalidInputError, match="'zipmap': False"):
        to_onnx(three, onto=zipped)


def test_what_cannot_be_written_is_refused(onnx: Any) -> None:
    p, y = maps.three_rows()
    with pytest.raises(InvalidInputError, match=r"(?s)SimplexHistogramCalibrator.*save"):
        to_onnx(SimplexHistogramCalibrator(n_bins=2).fit(p, y))
    with pytest.raises(InvalidInputError, match="two classes; got 3 classes"):
        to_onnx(maps.fitted_three("temperature"), one_column=True)
    with pytest.raises(InvalidInputError, match="left out without `onto`"):
        to_onnx(maps.fitted("platt"), output="probabilities")
    for opset in (12, 1000, "17", 17.0):
        with pytest.raises(InvalidInputError, match="an integer from 13 to"):
            to_onnx(maps.fitted("platt"), opset=opset)  # type: ignore[arg-type]


def test_without_onnx_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "onnx>=[\d.]+"'):
        to_onnx(maps.fitted("platt"))
