"""Generators with known truth: fake classifiers, tasks and drift."""

from veridical.simulation._binary_fake import BinaryFakeClassifier
from veridical.simulation._coarsening import CoarsenedClassifier, coarsen
from veridical.simulation._dirichlet_fake import (
    DirichletFakeClassifier,
    DirichletMixtureFakeClassifier,
)
from veridical.simulation._drift import DriftBatch, DriftStream
from veridical.simulation._drift_delay import LabelDelay
from veridical.simulation._drift_kinds import GroupDrift, PriorShift, TemperatureDrift
from veridical.simulation._drift_source import TaskPredictions
from veridical.simulation._empirical_fake import EmpiricalFakeClassifier
from veridical.simulation._fake import FakeClassifier, FakeSample
from veridical.simulation._fit import fit_fake_classifier
from veridical.simulation._gaussian import GaussianMixtureTask
from veridical.simulation._gaussian_pair import LogisticModel, two_normals_model, two_normals_task
from veridical.simulation._gaussian_random import random_gaussian_task
from veridical.simulation._score_laws import BetaScores, HistogramScores, ScoreLaw
from veridical.simulation._simplex_maps import (
    CallableMap,
    ClassPowerMap,
    IdentityMap,
    PowerMap,
    SimplexMap,
    TemperatureMap,
    TopComponentMap,
)
from veridical.simulation._solver import fake_classifier_for
from veridical.simulation._survey import (
    survey_binary_task,
    survey_f_over,
    survey_f_under,
    survey_mlp,
    survey_three_class_task,
)
from veridical.simulation._tasks import TaskSample
from veridical.simulation._tasks_truth import true_calibration_error, true_reliability

__all__ = [
    "BetaScores",
    "BinaryFakeClassifier",
    "CallableMap",
    "ClassPowerMap",
    "CoarsenedClassifier",
    "DirichletFakeClassifier",
    "DirichletMixtureFakeClassifier",
    "DriftBatch",
    "DriftStream",
    "EmpiricalFakeClassifier",
    "FakeClassifier",
    "FakeSample",
    "GaussianMixtureTask",
    "GroupDrift",
    "HistogramScores",
    "IdentityMap",
    "LabelDelay",
    "LogisticModel",
    "PowerMap",
    "PriorShift",
    "ScoreLaw",
    "SimplexMap",
    "TaskPredictions",
    "TaskSample",
    "TemperatureDrift",
    "TemperatureMap",
    "TopComponentMap",
    "coarsen",
    "fake_classifier_for",
    "fit_fake_classifier",
    "random_gaussian_task",
    "survey_binary_task",
    "survey_f_over",
    "survey_f_under",
    "survey_mlp",
    "survey_three_class_task",
    "true_calibration_error",
    "true_reliability",
    "two_normals_model",
    "two_normals_task",
]
