"""Two normal classes on a line and three logistic models of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical._core.validation import check_option, float_array
from veridical.exceptions import invalid
from veridical.simulation._gaussian import GaussianMixtureTask

# Intercept and slope of the log odds of the class -1.
MODELS = {"perfect": (0.0, -2.0), "constant": (0.0, 0.0), "uncalibrated": (1.0, 1.0)}


@dataclass(frozen=True)
class LogisticModel:
    """Classifier of one feature whose log odds are a straight line.

    Parameters
    ----------
    intercept, slope : float
        Of the log odds of the second class.

    Examples
    --------
    >>> LogisticModel(0.0, 0.0)([3.0, 4.0])
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    intercept: float
    slope: float

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Probabilities (n, 2) for features (n,) or (n, 1)."""
        from scipy.special import expit

        feature = float_array(x, caller=type(self).__name__, param="x").astype(np.float64)
        if feature.ndim == 2 and feature.shape[1] == 1:
            feature = feature[:, 0]
        if feature.ndim != 1:
            expected, hint = "of shape (n,) or (n, 1)", "this model has one feature."
            raise invalid(type(self).__name__, "x", expected, f"{feature.shape}", hint=hint)
        odds = self.intercept + self.slope * feature
        return np.column_stack([expit(-odds), expit(odds)])


def two_normals_task() -> GaussianMixtureTask:
    """Two equally likely standard normal classes, -1 around -1 and 1 around 1.

    The log odds of class 1 at x are 2 x, and a classifier is right with probability 0.841345, the
    standard normal distribution function at 1, at best.

    References
    ----------
    .. [1] Vaicenavicius et al. (2019), Evaluating model calibration in classification, AISTATS,
       section 5.1, arXiv 1902.06977.

    Examples
    --------
    >>> round(two_normals_task().bayes_figures().accuracy, 6)
    0.841345
    """
    return GaussianMixtureTask([-1, 1], [1, 1], [0, 1], labels=[-1, 1])


def two_normals_model(kind: str) -> LogisticModel:
    r"""One of the three logistic models of `two_normals_task`.

    Parameters
    ----------
    kind : {"perfect", "constant", "uncalibrated"}
        The true posterior, one half everywhere (these two are the only calibrated logistic
        models), or the paper's uncalibrated model with :math:`\beta_0 = \beta_1 = 1`.

    Notes
    -----
    The paper writes :math:`g_1(x) = 1 / (1 + \exp(-(\beta_0 + \beta_1 x)))` for the *first* class,
    -1; the log odds of the second class are the negative of that. The uncalibrated model leans the
    wrong way and has a true calibration error of 0.563751 (confidence lens: 0.500346).

    References
    ----------
    .. [1] Vaicenavicius et al. (2019), section 5.1, arXiv 1902.06977.

    Examples
    --------
    At x = 1 the odds of the first class are exp(2) with the uncalibrated model.

    >>> p = two_normals_model("uncalibrated")([1.0])[0]
    >>> round(float(np.log(p[0] / p[1])), 9)
    2.0
    """
    check_option("two_normals_model", "kind", kind, MODELS)
    intercept, slope = MODELS[kind]
    return LogisticModel(-intercept, -slope)
