"""Modules are run and differentiated, and compared with `predict_proba`."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from export import maps

from veridical.calibrators import (
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    SimplexHistogramCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError, MissingDependencyError
from veridical.export._tensors.torch import to_torch
from veridical.selection import AutoCalibrator

CLOSE = 1e-12
STEPS = ("histogram", "uniform", "near", "venn", "bbq", "scaling_binning")
SMOOTH_OR_PIECES = [name for name in maps.BINARY if name not in (*STEPS, "cross_venn")]


@pytest.fixture
def torch(need: Callable[[str], Any]) -> Any:
    return need("torch")


def _compare(torch: Any, calibrator: Any, scores: np.ndarray) -> None:
    found = to_torch(calibrator)(torch.from_numpy(scores))
    assert found.dtype == torch.float64
    assert np.abs(found.numpy() - calibrator.predict_proba(scores)).max() < CLOSE


@pytest.mark.parametrize("name", maps.ALL)
def test_one_probability(name: str, torch: Any) -> None:
    calibrator = maps.fitted(name)
    _compare(torch, calibrator, maps.hard_scores(calibrator))


@pytest.mark.parametrize("name", maps.ALL)
def test_two_probabilities_the_positive_class_first(name: str, torch: Any) -> None:
    calibrator = maps.fitted(name, labels=(1, 0))
    p = maps.hard_scores(maps.fitted("histogram"))
    _compare(torch, calibrator, np.column_stack([p, 1 - p]))
    _compare(torch, calibrator, p)


@pytest.mark.parametrize("name", maps.ALL)
def test_logits(name: str, torch: Any) -> None:
    calibrator = maps.fitted(name, input="logit")
    _compare(torch, calibrator, maps.hard_scores(calibrator))


@pytest.mark.parametrize("name", maps.ANY)
def test_three_classes(name: str, torch: Any) -> None:
    _compare(torch, maps.fitted_three(name), maps.hard_rows())
    if name in maps.SMOOTH:
        logits = np.concatenate([maps.three_logits(maps.hard_rows()), [[900.0, -900.0, 0.0]]])
        _compare(torch, maps.fitted_three(name, input="logit"), logits)


def test_average_of_many_folds(torch: Any) -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(p, y)
    _compare(torch, auto, maps.hard_scores(maps.fitted("isotonic")))


def test_temperature_two_turns_odds_of_nine_into_three(torch: Any) -> None:
    z = float(np.log(9))
    map = TemperatureCalibrator(pseudo_rows=0, input="logit").fit([z] * 4, [1, 1, 1, 0])
    x = torch.tensor([z], dtype=torch.float64, requires_grad=True)
    found = to_torch(map)(x)
    assert found.tolist() == [pytest.approx([0.25, 0.75], abs=1e-9)]
    found[0, 1].backward()
    assert x.grad.item() == pytest.approx(0.75 * 0.25 / 2, abs=1e-9)  # p (1 - p) / temperature


def test_large_logits_keep_their_difference(torch: Any) -> None:
    z = float(np.log(27))  # odds 27 become 3: temperature 3
    map = TemperatureCalibrator(pseudo_rows=0, input="logit").fit([z] * 4, [1, 1, 1, 0])
    found = to_torch(map)(torch.tensor([[1e12, 1e12 + 1]], dtype=torch.float64))
    assert found[0, 1].item() == pytest.approx(1 / (1 + np.exp(-1 / 3)), abs=1e-8)


@pytest.mark.parametrize("name", SMOOTH_OR_PIECES)
def test_gradients_are_numerical_differences(name: str, torch: Any) -> None:
    for input, at in (("probability", [0.123, 0.377, 0.781]), ("logit", [-2.13, 0.27, 1.71])):
        x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(to_torch(maps.fitted(name, input=input)), (x,))


@pytest.mark.parametrize("name", maps.SMOOTH)
def test_gradients_of_three_classes_are_numerical_differences(name: str, torch: Any) -> None:
    p = torch.tensor([[0.61, 0.15, 0.24]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(to_torch(maps.fitted_three(name)), (p,))
    z = p.detach().log().requires_grad_()
    assert torch.autograd.gradcheck(to_torch(maps.fitted_three(name, input="logit")), (z,))


@pytest.mark.parametrize("name", maps.ALL)
def test_gradients_are_finite_everywhere_and_zero_of_steps(name: str, torch: Any) -> None:
    calibrator = maps.fitted(name)
    x = torch.from_numpy(maps.hard_scores(calibrator)).requires_grad_()
    to_torch(calibrator)(x)[:, 1].sum().backward()
    steep = name in ("isotonic", "bare", "strict", "centred", "one_vs_rest", "one_vs_rest_bare")
    assert not x.grad.isnan().any()
    assert steep or x.grad.isfinite().all()  # between two knots beside each other it may overflow
    if name in STEPS:
        assert not x.grad.any()


def test_a_row_in_which_every_part_is_zero_keeps_its_gradient(torch: Any) -> None:
    row = [0.58, 0.38, 0.04]  # no class ever happens at 0.38 or less
    p, y = [row, row[-1:] + row[:-1], row[-2:] + row[:-2]], [0, 1, 2]
    map = OneVsRestCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y)
    x = torch.full((1, 3), 1 / 3, dtype=torch.float64, requires_grad=True)
    found = to_torch(map)(x)
    found[0, 0].backward()  # left as it is: x_k / sum of x
    assert found.tolist() == [pytest.approx([1 / 3] * 3)]
    assert x.grad.tolist() == [pytest.approx([2 / 3, -1 / 3, -1 / 3])]


@pytest.mark.parametrize("name", ["identity", "platt", "histogram", "isotonic", "conditional"])
def test_what_cannot_be_gives_nan_in_its_row_only(name: str, torch: Any) -> None:
    wrong = torch.tensor([0.3, np.nan, -0.1, 1 + 2**-52, np.inf, -np.inf], dtype=torch.float64)
    found = to_torch(maps.fitted(name))(wrong)
    assert found.isnan().tolist() == [[False] * 2, *[[True] * 2] * 5]
    logits = to_torch(maps.fitted(name, input="logit"))(wrong)
    assert logits[:, 0].isnan().tolist() == [False, True, False, False, True, True]


@pytest.mark.parametrize("name", ["platt", "spline", "temperature", "histogram", "one_vs_rest"])
def test_single_precision(name: str, torch: Any) -> None:
    calibrator = maps.fitted(name)
    p = np.append(np.random.default_rng(2).random(500), [0.0, 1.0, 5e-324])
    found = to_torch(calibrator, dtype=torch.float32)(torch.from_numpy(p))
    assert found.dtype == torch.float32
    far = np.abs(found.numpy() - calibrator.predict_proba(p)).max(axis=1) > 1e-5
    assert far.sum() <= (2 if name in STEPS else 0)  # beside a jump


def test_what_keeps_from_zero_does_so_in_single_precision(torch: Any) -> None:
    p, y = [1e-100, 0.3, 0.2, 0.4, 0.6, 0.8], [0, 1, 0, 0, 1, 1]  # zeros are taken for 5e-101
    x = torch.zeros(1, requires_grad=True)
    found = to_torch(PlattCalibrator().fit(p, y), dtype=torch.float32)(x)
    found[0, 1].backward()
    assert found.isfinite().all()
    assert x.grad.isfinite().all()


def test_state_copies_pickles_and_saved_modules_predict_the_same(torch: Any) -> None:
    module, other = to_torch(maps.fitted("isotonic")), maps.fitted("isotonic", labels=(0, 1))
    x = torch.linspace(0, 1, 50, dtype=torch.float64)
    expected = module(x)
    assert not list(module.parameters())
    assert module.state_dict()
    emptied = to_torch(other)
    for buffer in emptied.buffers():
        buffer.zero_()
    assert not torch.equal(emptied(x), expected)
    emptied.load_state_dict(module.state_dict())
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    for again in (emptied, loaded, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(again(x), expected)
    assert module.classes == [0, 1]
    about = "IsotonicCalibrator of probability, 2 classes: probability of 0; probability of 1"
    assert repr(module) == f"CalibratorModule({about})"


def test_torch_export_with_any_number_of_rows(torch: Any) -> None:
    module, rows = to_torch(maps.fitted_three("one_vs_rest")), torch.from_numpy(maps.hard_rows())
    shapes = ({0: torch.export.Dim("n")},)
    exported = torch.export.export(module, (rows[:5],), dynamic_shapes=shapes)
    assert torch.equal(exported.module()(rows), module(rows))


def test_what_does_not_fit_is_refused(torch: Any) -> None:
    module = to_torch(maps.fitted("platt"))
    with pytest.raises(InvalidInputError, match=r"shape \(n, 2\) or \(n,\); got \(4, 3\)"):
        module(torch.rand(4, 3))
    with pytest.raises(InvalidInputError, match=r"shape \(n, 3\); got \(4,\)"):
        to_torch(maps.fitted_three("temperature"))(torch.rand(4))
    with pytest.raises(InvalidInputError, match=r"float64 or torch.float32; got torch.float16"):
        to_torch(maps.fitted("platt"), dtype=torch.float16)
    p, y = maps.three_rows()
    with pytest.raises(InvalidInputError, match=r"(?s)SimplexHistogramCalibrator.*save"):
        to_torch(SimplexHistogramCalibrator(n_bins=2).fit(p, y))


def test_without_torch_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "torch[>=]=[\d.]+"'):
        to_torch(maps.fitted("platt"))
