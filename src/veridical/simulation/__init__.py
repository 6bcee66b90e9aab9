"""Generators with known truth: fake classifiers and tasks."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
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
    "EmpiricalFakeClassifier",
    "FakeClassifier",
    "FakeSample",
    "GaussianMixtureTask",
    "HistogramScores",
    "IdentityMap",
    "JointFakeClassifier",
    "LogisticModel",
    "PowerMap",
    "ScoreLaw",
    "SimplexMap",
    "TaskSample",
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
