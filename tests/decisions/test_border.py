"""Data cross the border once: what was checked is not checked again inside."""

from __future__ import annotations

import numpy as np
import pytest

import veridical
from veridical._core.data import validation
from veridical.planning import AllocationProcess, CostProcess

RNG = np.random.default_rng(0)
P = RNG.random(1000)
Y = (RNG.random(1000) < P).astype(int)

CALLS = {
    "decide": (1, lambda: veridical.decide(P, (1, 2))),
    "expected_cost": (1, lambda: veridical.expected_cost(Y, P, (1, 2))),
    "miscalibration_cost": (1, lambda: veridical.miscalibration_cost(Y, P**0.5, (1, 1))),
    "cost_curve": (1, lambda: veridical.cost_curve(Y, P)),
    "decision_curve": (1, lambda: veridical.decision_curve(Y, P)),
    "estimate_priors": (1, lambda: veridical.estimate_priors(P, reference=(Y, P), rng=0)),
    "simulate_decisions": (1, lambda: veridical.simulate_decisions(CostProcess((1, 2)), (Y, P))),
    "two models": (
        2,
        lambda: veridical.simulate_decisions(
            AllocationProcess([[0, 0], [0, 10]], [0, 1], budget=0.3),
            {"a": (Y, P), "b": (Y, P**1.3)},
            accuracy=0.8,
            ece=[0, 0.1],
            n_samples=200,
            n_repeats=2,
        ),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_array_of_predictions_is_checked_once(name: str, monkeypatch: pytest.MonkeyPatch):
    callers: list[str] = []
    real = validation._assemble

    def counted(*arguments):
        callers.append(arguments[-1])
        return real(*arguments)

    monkeypatch.setattr(validation, "_assemble", counted)
    expected, call = CALLS[name]
    call()
    assert len(callers) == expected
