"""What an evaluation does differently where rows are many gives what it does of few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import veridical as v
from veridical._core import sample as rows_module
from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical.evaluation._figures import limits
from veridical.evaluation._verdict import size
from veridical.inference._nulls import cells
from veridical.scores._rules import rules


def _assert_alike(found: Any, expected: Any, path: str = "") -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for name, value in expected.items():
            _assert_alike(found[name], value, f"{path}.{name}")
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), path
        for number, pair in enumerate(zip(found, expected, strict=True)):
            _assert_alike(*pair, f"{path}.{number}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True), path
    else:
        assert found == expected, path


@pytest.mark.parametrize("shape", [(2.0, 3.0), (0.05, 3.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_figures_of_many_rows_are_those_of_few(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[float, float], dtype: Any
) -> None:
    rng = np.random.default_rng(1)
    n = 6000  # values of scores are pooled either way
    p = rng.beta(*shape, n).clip(1e-12, 1).astype(dtype)
    p = np.unique(p)
    rng.shuffle(p)
    y = (rng.random(len(p)) < p).astype(int)
    expected = v.evaluate(y, p, rng=0, n_resamples=200).to_dict()
    monkeypatch.setattr(rows_module, "_MANY", 100)
    monkeypatch.setattr(rules, "_MANY", 100)
    monkeypatch.setattr(limits, "_MANY_ROWS", 100)
    _assert_alike(v.evaluate(y, p, rng=0, n_resamples=200).to_dict(), expected)


@pytest.mark.parametrize("tied", [False, True])
def test_predictions_that_stand_for_many_are_their_quantiles(
    monkeypatch: pytest.MonkeyPatch, *, tied: bool
) -> None:
    rng = np.random.default_rng(2)
    p = np.append(rng.random(4998), [0.0, 1.0])
    p = p.round(2) if tied else p
    sample = BinarySample(y=np.zeros(5000, dtype=int), p=p)
    monkeypatch.setattr(size, "_ROWS", 500)
    some, spread, entropy = size._as_drawn(sample)
    places = ((np.arange(500) + 0.5) / 500 * len(p)).astype(int)
    assert some.tolist() == np.sort(p)[places].tolist()
    assert spread == pytest.approx((p * (1 - p)).mean(), rel=1e-12)
    inner = p[(p > 0) & (p < 1)]
    own = -(inner * np.log(inner) + (1 - inner) * np.log(1 - inner)).sum() / len(p)
    assert entropy == pytest.approx(own, rel=1e-12)


def test_single_outcomes_are_drawn_as_the_binomial_law_draws_them() -> None:
    p = np.append(np.random.default_rng(3).random(300), [1e-9, 0.5, 1 - 1e-9, 1.0])
    drawn = cells._draw_counts(np.ones(len(p)), p, Draws(200, np.random.default_rng(4)))
    numpy = np.random.default_rng(4).binomial(1, p, (200, len(p)))
    np.testing.assert_array_equal(drawn, numpy)
