"""Patients of the healthcare game, from a fake classifier."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from veridical._core.typing import FloatArray, IntArray
from veridical.simulation._dirichlet_fake import DirichletFakeClassifier
from veridical.simulation._solver import fake_classifier_for

Level: TypeAlias = Literal["calibrated", "over-confident", "very over-confident"]

ACCURACY = 0.8
# Expected calibration error of each level; over-confidence of every report cannot exceed
# 1 - ACCURACY (Panchenko 2021, Calibration of Classifiers, Lemma 1).
LEVELS = MappingProxyType({"calibrated": 0.0, "over-confident": 0.1, "very over-confident": 0.15})


@dataclass(frozen=True, eq=False)
class Patients:
    """All patients of a game, round by round.

    Attributes
    ----------
    reports, truth : arrays of shape (rounds, patients, conditions)
        What the classifier reports, and what conditions are drawn from.
    conditions : array of shape (rounds, patients)
        True conditions.
    """

    reports: FloatArray
    truth: FloatArray
    conditions: IntArray


@lru_cache(maxsize=32)
def classifier_at(level: Level, n_conditions: int) -> DirichletFakeClassifier:
    """Return the fake classifier of a level; at all levels the truth has the same distribution."""
    return fake_classifier_for(ACCURACY, LEVELS[level], n_classes=n_conditions)


def draw_patients(
    level: Level, *, n_conditions: int, n_rounds: int, n_patients: int, seed: int
) -> Patients:
    """Draw the patients of a game.

    Reports are a function of the truth, so the same seed gives the same patients at every level:
    what differs is what is said about them.
    """
    sample = classifier_at(level, n_conditions).sample(n_rounds * n_patients, rng=seed)
    shape = (n_rounds, n_patients)
    return Patients(
        sample.y_prob.reshape(*shape, n_conditions),
        sample.p_true.reshape(*shape, n_conditions),
        sample.y.reshape(shape),
    )
