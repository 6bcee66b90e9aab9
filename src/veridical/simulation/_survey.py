"""The two- and three-class tasks of the survey of classifier calibration, and its classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.randomness import check_rng
from veridical._core.typing import ArrayLike, FloatArray
from veridical.simulation._gaussian import GaussianMixtureTask
from veridical.simulation._gaussian_pair import LogisticModel
from veridical.simulation._tasks import check_rows

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
    return GaussianMixtureTask(means, [960, 1280, 980, 1024, 8**2], [0, 0, 1, 1, 2],
                               labels=[1, 2, 3])  # fmt: skip


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
