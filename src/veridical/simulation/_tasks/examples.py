"""Tasks with known truth by name: a normal pair, random mixtures, and the survey's two tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_option, float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid
from veridical.simulation._tasks.gaussian import GaussianMixtureTask, check_rows

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


def random_gaussian_task(
    n_classes: int,
    n_features: int,
    *,
    n_modes: int = 4,
    spread: float = 0.3,
    rng: Any = None,
) -> GaussianMixtureTask:
    r"""Random task of equally likely classes with several normal modes each.

    Parameters
    ----------
    n_classes, n_features : int
        Posocco & Bonnefoy take 2, 5 and 7 of both.
    n_modes : int, default 4
        Equally weighted modes a class.
    spread : float > 0, default 0.3
        How wide the modes are.
    rng : int, Generator or None
        Which task.

    Returns
    -------
    GaussianMixtureTask

    Notes
    -----
    Means are uniform on :math:`[0, 1]^d`, covariances :math:`A A^T` with entries of A uniform on
    [-spread, spread] [1]_. The posteriors are those of this law. (The authors' code differs from
    their text in two ways: means are uniform on :math:`[-1, 1]^d`, and posteriors come from the
    inverse of the covariance where the Cholesky factor of the inverse belongs, so they are wrong.)

    References
    ----------
    .. [1] Posocco & Bonnefoy (2021), Estimating expected calibration errors, section 5.1,
       arXiv 2109.03480.

    Examples
    --------
    >>> random_gaussian_task(5, 2, rng=0)
    GaussianMixtureTask(5 classes, 20 modes, 2 features)
    """
    caller = "random_gaussian_task"
    given = {"n_classes": (n_classes, 2), "n_features": (n_features, 1), "n_modes": (n_modes, 1)}
    for name, (value, least) in given.items():
        expected, hint = f"an integer of {least} or more", "the paper takes 2 to 7."
        check_integer(caller, name, value, hint=hint, least=least, expected=expected)
    if not (is_number(spread) and spread > 0):
        hint = "the paper takes 0.3."
        raise invalid(caller, "spread", "a positive number", repr(spread), hint=hint)
    generator = check_rng(rng, caller=caller)
    shape = (n_classes * n_modes, n_features, n_features)
    means = generator.random(shape[:2])
    factors = generator.uniform(-spread, spread, shape)
    return GaussianMixtureTask(
        means, factors @ factors.transpose(0, 2, 1), np.repeat(np.arange(n_classes), n_modes)
    )


UNDER, OVER = LogisticModel(0.0, 0.01), LogisticModel(0.0, 0.05)
HIDDEN = (128, 128)


def survey_binary_task() -> GaussianMixtureTask:
    """Two equally likely classes of two normal modes each on a line, of section 5.2.

    Label 1 is the survey's class 1 (modes at -4 and 64), which its classifiers give the
    probability of; label 0 is the survey's class 2 (modes at 4 and -72).

    Notes
    -----
    The second parameters the survey prints (960, 1280, 980, 1024) are variances: figure 11 has no
    room for such standard deviations. A classifier is right with probability 0.714909 at best.

    References
    ----------
    .. [1] Silva Filho et al. (2023), Classifier calibration: a survey, Machine Learning 112,
       doi 10.1007/s10994-023-06336-7, section 5.2 and figure 11.

    Examples
    --------
    >>> round(survey_binary_task().bayes_figures().accuracy, 6)
    0.714909
    """
    return GaussianMixtureTask([4, -72, -4, 64], [980, 1024, 960, 1280], [0, 0, 1, 1])


def survey_three_class_task() -> GaussianMixtureTask:
    """Three equally likely classes on a line, of section 5.4; labels 1, 2 and 3 as printed.

    Notes
    -----
    Classes 1 and 2 are those of section 5.2. The survey writes class 3 as Gaussian(0, 8). Unlike
    all other second parameters this one is a *standard deviation*: only then is the posterior of
    class 3 capped near 0.8 (at 0.777), as the text on figure 20 says; a variance of 8 would give
    0.908. The variance used here is therefore 64.

    References
    ----------
    .. [1] Silva Filho et al. (2023), Classifier calibration: a survey, Machine Learning 112,
       doi 10.1007/s10994-023-06336-7, section 5.4 and figures 17 to 20.

    Examples
    --------
    >>> float(survey_three_class_task().posterior([0.0])[0, 2].round(2))
    0.78
    """
    means = [-4, 64, 4, -72, 0]
    return GaussianMixtureTask(
        means, [960, 1280, 980, 1024, 8**2], [0, 0, 1, 1, 2], labels=[1, 2, 3]
    )


def survey_f_under(x: ArrayLike) -> FloatArray:
    """Under-confident classifier of section 5.2, log odds 0.01 x; (n, 2), label 1 second.

    On `survey_binary_task` its true calibration error is 0.112160 (confidence lens: 0.105531).

    Examples
    --------
    >>> survey_f_under([0.0])
    array([[0.5, 0.5]])
    """
    return UNDER(x)


def survey_f_over(x: ArrayLike) -> FloatArray:
    """Over-confident classifier of section 5.2, log odds 0.05 x; (n, 2), label 1 second.

    On `survey_binary_task` its true calibration error is 0.120627 (confidence lens: 0.120249).

    Examples
    --------
    >>> survey_f_over([0.0])
    array([[0.5, 0.5]])
    """
    return OVER(x)


def survey_mlp(task: GaussianMixtureTask, *, n_train: int = 10_000, rng: Any = None) -> Any:
    """Train the survey's network on a fresh sample of a task.

    Parameters
    ----------
    task : GaussianMixtureTask
        Usually `survey_binary_task()` or `survey_three_class_task()`.
    n_train : int, default 10000
        Rows to train on; the survey's number.
    rng : int, Generator or None
        Draws the sample and the initial weights.

    Returns
    -------
    sklearn.neural_network.MLPClassifier
        Fitted; its `predict_proba` is the classifier.

    Notes
    -----
    Two hidden layers of 128 rectified linear units, all else scikit-learn's defaults, features not
    scaled [1]_. The survey gives no seed, so its very network cannot be had again: regions of over-
    and under-confidence differ from run to run. Ten seconds to a minute of one
    core with the default rows.

    References
    ----------
    .. [1] Silva Filho et al. (2023), doi 10.1007/s10994-023-06336-7, sections 5.2 and 5.4.
    """
    from sklearn.neural_network import MLPClassifier

    caller = "survey_mlp"
    n_train = check_rows(n_train, caller=caller, param="n_train")
    generator = check_rng(rng, caller=caller)
    sample = task.sample(n_train, rng=generator)
    state = int(generator.integers(np.iinfo(np.int32).max))
    return MLPClassifier(hidden_layer_sizes=HIDDEN, random_state=state).fit(sample.x, sample.y)
