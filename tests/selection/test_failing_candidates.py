"""Candidates of AutoCalibrator that fail are left out, and the evidence says why."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from calibrators.every_calibrator import assert_probabilities

from veridical.calibrators import IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator
from veridical.selection import AutoCalibrator

SOURCE = Path(__file__).parents[2] / "evidence" / "fuzz_calibrators.py"


class RefusesRows(IsotonicCalibrator):
    """Raises in `predict_proba`."""

    def predict_proba(self, y_prob):
        raise ZeroDivisionError("no probability for these rows")


class ReturnsNaN(IsotonicCalibrator):
    """Returns NaN from a `predict_proba` that does not check it."""

    def predict_proba(self, y_prob):
        return np.full((len(y_prob), 2), np.nan)


class AboveOne(IsotonicCalibrator):
    """Returns a value above 1."""

    def predict_proba(self, y_prob):
        return np.tile([0.0, 1 + 2.0**-52], (len(y_prob), 1))


class Misspelled(IsotonicCalibrator):
    """Has a programming error."""

    def predict_proba(self, y_prob):
        return self.misspelled_name(y_prob)


def sample(n=80):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return p, (rng.random(n) < 0.2 + 0.5 * p).astype(int)


@pytest.mark.parametrize("strategy", ["pool", "select"])
@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        (RefusesRows(), "no probability for these rows"),
        (ReturnsNaN(), "`predict_proba` must be in [0, 1]; got nan"),
        (AboveOne(), "`predict_proba` must be in [0, 1]; got 1.0000000000000002"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failing_candidate_is_left_out_with_its_reason(failing, reason, strategy):
    p, y = sample()
    others = {"temperature": TemperatureCalibrator(), "platt": PlattCalibrator()}
    auto = AutoCalibrator(strategy=strategy, candidates={"failing": failing, **others}).fit(p, y)
    left_out = auto.evidence_.candidate("failing")
    assert left_out.weight == 0
    assert left_out.note.startswith("left out: ")
    assert reason in left_out.note
    assert "left out" not in auto.evidence_.candidate("platt").note
    assert_probabilities(auto.predict_proba(p), len(p), 2)


def test_programming_errors_are_raised():
    with pytest.raises(AttributeError, match="misspelled_name"):
        AutoCalibrator(candidates=[Misspelled(), PlattCalibrator()]).fit(*sample())


class FailsOnAllRows(PlattCalibrator):
    """Cannot be fitted to more rows than a fold keeps."""

    def _fit_checked(self, rows):
        if len(rows.y) >= 80:
            raise FloatingPointError("too many rows")
        return super()._fit_checked(rows)


def test_maps_of_folds_stand_in_for_one_that_cannot_be_fitted_to_all_rows():
    p, y = sample()
    too_high = p / (p + 0.002 * (1 - p))  # the candidate is much better than the model
    auto = AutoCalibrator(strategy="select", candidates=[FailsOnAllRows()]).fit(too_high, y)
    assert auto.evidence_.candidate("FailsOnAllRows").chosen
    assert_probabilities(auto.predict_proba(p), len(p), 2)


def test_sixty_cases_of_the_fuzz():
    """`make fuzz` runs 10,000 of them."""
    spec = importlib.util.spec_from_file_location("fuzz_calibrators", SOURCE)
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    assert len(list(fuzz.check_cases(range(60)))) == 60
