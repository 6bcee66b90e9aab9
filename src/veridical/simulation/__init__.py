"""Generators with known truth: fake classifiers, tasks and drift."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.simulation._drift.drift import DriftBatch, DriftStream, LabelDelay
    from veridical.simulation._drift.kinds import (
        GroupDrift,
        PriorShift,
        TaskPredictions,
        TemperatureDrift,
    )
    from veridical.simulation._fakes.binary import (
        BetaScores,
        BinaryFakeClassifier,
        HistogramScores,
        ScoreLaw,
    )
    from veridical.simulation._fakes.dirichlet import (
        DirichletFakeClassifier,
        DirichletMixtureFakeClassifier,
    )
    from veridical.simulation._fakes.fake import FakeClassifier, FakeSample
    from veridical.simulation._fakes.fit import EmpiricalFakeClassifier, fit_fake_classifier
    from veridical.simulation._fakes.joint import JointFakeClassifier
    from veridical.simulation._fakes.maps import (
        CallableMap,
        ClassPowerMap,
        IdentityMap,
        PowerMap,
        SimplexMap,
        TemperatureMap,
        TopComponentMap,
    )
    from veridical.simulation._fakes.solver import fake_classifier_for
    from veridical.simulation._tasks.coarsening import CoarsenedClassifier, coarsen
    from veridical.simulation._tasks.examples import (
        LogisticModel,
        random_gaussian_task,
        survey_binary_task,
        survey_f_over,
        survey_f_under,
        survey_mlp,
        survey_three_class_task,
        two_normals_model,
        two_normals_task,
    )
    from veridical.simulation._tasks.gaussian import GaussianMixtureTask, TaskSample
    from veridical.simulation._tasks.truth import true_calibration_error, true_reliability

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
    "JointFakeClassifier",
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

__getattr__, __dir__ = late_names(__name__)
