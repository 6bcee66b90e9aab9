"""How bad input is checked: through public functions, down to the words of the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import veridical as v

# Public callables that check their data at the border, by the name their messages start with.
CALLERS: dict[str, Callable[..., Any]] = {
    "brier_score": v.brier_score,
    "log_loss": v.log_loss,
    "expected_calibration_error": v.expected_calibration_error,
    "maximum_calibration_error": v.maximum_calibration_error,
    "classwise_calibration_error": v.classwise_calibration_error,
    "decompose": v.decompose,
    "reliability_curve": v.reliability_curve,
    "evaluate": v.evaluate,
    "BinnedError": v.BinnedError(),
    "LogScore": v.LogScore(),
    "null_level": lambda y, p, **options: v.null_level(v.BinnedError(), y, p, **options),
}


@pytest.fixture(params=CALLERS)
def caller(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def rejects(caller: str) -> Callable[..., None]:
    """Call with bad input and compare the whole message: who, what, where, and the hint."""

    def check(*data: Any, param: str, expected: str, got: str, hint: str, **options: Any) -> None:
        with pytest.raises(v.InvalidInputError) as caught:
            CALLERS[caller](*data, **options)
        first, second = str(caught.value).split("\n")
        assert first == f"{caller}: `{param}` must be {expected}; got {got}."
        assert second.startswith("Hint: ")
        assert hint in second
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, v.VeridicalError)

    return check
