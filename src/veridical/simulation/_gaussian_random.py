"""Random tasks: classes of several normal modes each."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.randomness import check_rng
from veridical._core.validation import is_integer, is_number
from veridical.exceptions import invalid
from veridical.simulation._gaussian import GaussianMixtureTask


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
    least = {"n_classes": 2, "n_features": 1, "n_modes": 1}
    given = {"n_classes": n_classes, "n_features": n_features, "n_modes": n_modes}
    for name, value in given.items():
        if not (is_integer(value) and value >= least[name]):
            expected, hint = f"an integer of {least[name]} or more", "the paper takes 2 to 7."
            raise invalid(caller, name, expected, repr(value), hint=hint)
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
