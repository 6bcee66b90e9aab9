"""Tasks whose classes are mixtures of normal distributions, and what their posterior scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_probabilities, float_array
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.results import BayesFigures

# Features (n, d) in, probabilities (n, K) in class order out: `predict_proba` of any model.
Classifier: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class TaskSample:
    """Rows of a task together with what nobody knows of real data.

    Attributes
    ----------
    x : (n, d) features
    y : (n,) labels
    posterior : (n, K) true probabilities of the classes given the features, in class order
    """

    x: FloatArray
    y: Array
    posterior: FloatArray

    def __len__(self) -> int:
        return len(self.y)


def check_rows(n: Any, *, caller: str, param: str = "n") -> int:
    """Return a positive number of rows."""
    return check_integer(caller, param, n, hint="pass the number of rows to draw.")


def check_prior(prior: Any, n_classes: int, *, caller: str) -> FloatArray:
    """Return positive numbers that sum to one within 1e-9, one for each class."""
    share = float_array(prior, caller=caller, param="prior").astype(np.float64)
    if share.shape != (n_classes,):
        expected, hint = f"a list of {n_classes} probabilities", "give one number a class."
        raise invalid(caller, "prior", expected, f"shape {share.shape}", hint=hint)
    if not (share > 0).all() or abs(float(share.sum()) - 1) > 1e-9:
        hint = "divide by the sum, and leave out classes that never occur."
        raise invalid(caller, "prior", "positive with sum 1", f"{share.tolist()}", hint=hint)
    return share


def predict(classifier: Any, x: FloatArray, n_classes: int, *, caller: str) -> FloatArray:
    """Probabilities (n, K) of a classifier; one column means the second of two classes."""
    if not callable(classifier):
        hint = "pass a function of the features, such as `model.predict_proba`."
        raise invalid(caller, "classifier", "callable", type(classifier).__name__, hint=hint)
    p = float_array(classifier(x), caller=caller, param="classifier")
    if n_classes == 2 and p.shape in ((len(x),), (len(x), 1)):
        p = np.column_stack([1 - p.reshape(-1), p.reshape(-1)])
    if p.shape != (len(x), n_classes):
        expected = f"a function that answers shape (n, {n_classes})"
        got = f"shape {p.shape} for {len(x)} rows"
        hint = "answer one probability for each class of the task, in class order."
        raise invalid(caller, "classifier", expected, got, hint=hint)
    return check_probabilities(p, caller=caller, param="classifier").astype(np.float64)


@dataclass(frozen=True, eq=False)
class Modes:
    """Means (M, d), lower Cholesky factors (M, d, d) of the covariances, and their inverses."""

    means: FloatArray
    covariances: FloatArray
    factors: FloatArray
    whitening: FloatArray
    log_scales: FloatArray  # log of (2 pi)^(d/2) |factor|

    @property
    def size(self) -> tuple[int, int]:
        """Number of modes and of features."""
        return self.means.shape[0], self.means.shape[1]

    def log_density(self, x: FloatArray) -> FloatArray:
        """Log density of every mode at every row, (n, M)."""
        result = np.empty((len(x), len(self.means)))
        for mode, (mean, whiten) in enumerate(zip(self.means, self.whitening, strict=True)):
            white = (x - mean) @ whiten.T
            result[:, mode] = -0.5 * np.einsum("nd,nd->n", white, white) - self.log_scales[mode]
        return result

    def draw(self, mode: IntArray, rng: np.random.Generator) -> FloatArray:
        """One row of each mode named."""
        x = rng.standard_normal((len(mode), self.means.shape[1]))
        for index, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
            rows = np.flatnonzero(mode == index)
            x[rows] = mean + x[rows] @ factor.T
        return x

    def interval_mass(self, edges: FloatArray) -> FloatArray:
        """Mass of every mode between consecutive edges on the line, (len(edges) - 1, M)."""
        from scipy.special import ndtr

        z = (edges[:, None] - self.means[:, 0]) / self.factors[:, 0, 0]
        tail = ndtr(-np.abs(z))  # differences of tails keep digits where mass is small
        across = (z[:-1] < 0) & (z[1:] > 0)
        low, high = tail[:-1], tail[1:]
        return np.where(across, 1 - low - high, np.abs(high - low))


def check_modes(means: Any, covariances: Any, *, caller: str) -> Modes:
    """Return the modes, or say what is wrong with their parameters."""
    centre = float_array(means, caller=caller, param="means").astype(np.float64)
    if centre.ndim == 1:
        centre = centre[:, None]
    if centre.ndim != 2 or centre.size == 0 or not np.isfinite(centre).all():
        expected, got = "finite, of shape (M,) or (M, d)", f"shape {np.shape(means)}"
        hint = "give one mean a mode."
        raise invalid(caller, "means", expected, got, hint=hint)
    m, d = centre.shape
    spread = float_array(covariances, caller=caller, param="covariances").astype(np.float64)
    if d == 1 and spread.shape == (m,):
        spread = spread[:, None, None]
    if spread.shape != (m, d, d):
        expected = f"of shape ({m}, {d}, {d})" + (f" or ({m},)" if d == 1 else "")
        hint = "give one covariance matrix a mode, or one variance where there is one feature."
        raise invalid(caller, "covariances", expected, f"shape {spread.shape}", hint=hint)
    symmetric = np.isfinite(spread).all() and np.allclose(spread, spread.transpose(0, 2, 1))
    try:
        factors = np.linalg.cholesky(spread) if symmetric else None
    except np.linalg.LinAlgError:
        factors = None
    if factors is None or not (np.diagonal(factors, axis1=1, axis2=2) > 0).all():
        expected, hint = "symmetric and positive definite", "give variances, larger than zero."
        raise invalid(caller, "covariances", expected, "a matrix that is not", hint=hint)
    logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1) + d / 2 * np.log(2 * np.pi)
    return Modes(centre, spread, factors, np.linalg.inv(factors), logs)


NODES = 1 << 16  # trapezoids; the kinks of the accuracy cost about (range / nodes)^2
REACH = 12.0  # standard deviations; what lies beyond weighs less than 1e-32
BLOCK = 1 << 15


def bayes_figures(
    task: GaussianMixtureTask, n_draws: int, rng: np.random.Generator
) -> BayesFigures:
    """Expected figures of the posterior; by quadrature on a line, by Monte Carlo in space."""
    if task.n_features == 1:
        nodes = line_nodes(task, NODES)
        values = expected_figures(task.posterior(nodes)) * task.density(nodes)[:, None]
        figures = _trapezoids(values, nodes)
        change = np.abs(figures - _trapezoids(values[::2], nodes[::2]))
        return _figures(figures, change, "quadrature", len(nodes))
    total: FloatArray = np.zeros(3)
    squares: FloatArray = np.zeros(3)
    for block in row_blocks(n_draws, BLOCK):
        rows = task.sample(block.stop - block.start, rng=rng)
        drawn: FloatArray = expected_figures(rows.posterior)
        total += drawn.sum(axis=0)
        squares += (drawn**2).sum(axis=0)
    mean = total / n_draws
    error = np.sqrt(np.maximum(squares / n_draws - mean**2, 0) / n_draws)
    return _figures(mean, error, "monte carlo", n_draws)


def expected_figures(posterior: FloatArray) -> FloatArray:
    """Accuracy, Brier score and log loss a row of posteriors expects of itself, (n, 3)."""
    brier = 1 - (posterior**2).sum(axis=1)
    if posterior.shape[1] == 2:
        brier = brier / 2  # of the one probability
    log = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    return np.column_stack([posterior.max(axis=1), brier, -(posterior * log).sum(axis=1)])


def line_nodes(task: GaussianMixtureTask, count: int) -> FloatArray:
    """About `count` ascending nodes on a line, dense wherever a mode is narrow."""
    modes = task.modes
    z = np.linspace(-REACH, REACH, max(count // modes.size[0], 256))
    nodes = modes.means[:, :1] + modes.factors[:, 0, :1] * z
    return np.unique(nodes)


def _trapezoids(values: FloatArray, nodes: FloatArray) -> FloatArray:
    return np.diff(nodes) @ (values[1:] + values[:-1]) / 2


def _figures(figures: FloatArray, error: FloatArray, method: str, count: int) -> BayesFigures:
    names = ("accuracy", "brier", "log_loss")
    values = dict(zip(names, figures.tolist(), strict=True))
    errors = {f"{name}_error": e for name, e in zip(names, error.tolist(), strict=True)}
    return BayesFigures(**values, **errors, method=method, n_nodes=count)


class GaussianMixtureTask:
    r"""Classification task whose posteriors are known: each class is a mixture of normals.

    Parameters
    ----------
    means : array-like of shape (M, d), or (M,) for one feature
        Means of the M modes.
    covariances : array-like of shape (M, d, d), or (M,) for one feature
        Covariance matrices; for one feature *variances*, not standard deviations.
    classes : array-like of shape (M,)
        Class of each mode as an index 0..K-1, every class at least once.
    mode_share : array-like of shape (M,), optional
        Share of each mode within its class; they sum to one in each class. Default: equal.
    prior : array-like of shape (K,), optional
        Probabilities of the classes. Default: equal.
    labels : sequence of K labels, optional
        Names of the classes, ascending, in class order. Default: 0..K-1.

    Notes
    -----
    .. math::

       P(Y = k \mid x) = \frac{\pi_k \sum_{m \in k} v_m N(x; \mu_m, \Sigma_m)}
       {\sum_j \pi_j \sum_{m \in j} v_m N(x; \mu_m, \Sigma_m)}

    computed in logarithms, so that it is right to rounding also far from every mode. Time
    O(n M d^2) and memory O(n (d + K)), for draws and posteriors alike.

    Examples
    --------
    Two normals of variance 1 at -1 and 1: the log odds at x are 2 x.

    >>> task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    >>> float(round(task.posterior([0.5])[0, 1], 6)) == float(round(1 / (1 + np.exp(-1)), 6))
    True
    """

    def __init__(
        self,
        means: ArrayLike,
        covariances: ArrayLike,
        classes: ArrayLike,
        *,
        mode_share: ArrayLike | None = None,
        prior: ArrayLike | None = None,
        labels: Any = None,
    ) -> None:
        caller = type(self).__name__
        self._modes = check_modes(means, covariances, caller=caller)
        self.classes = _check_classes(classes, self._modes.size[0], caller)
        k = int(self.classes.max()) + 1
        self.labels = _check_labels(labels, k, caller)
        even = np.full(k, 1 / k)
        self.prior = even if prior is None else check_prior(prior, k, caller=caller)
        self.mode_share = _check_shares(mode_share, self.classes, caller)
        for array in (self.classes, self.labels, self.prior, self.mode_share):
            array.flags.writeable = False

    @property
    def modes(self) -> Modes:
        """Means, covariances and their factors."""
        return self._modes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._modes.size[1]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_classes} classes, {self._modes.size[0]} modes,"
            f" {self.n_features} features)"
        )

    def sample(self, n: int, *, rng: Any = None) -> TaskSample:
        """Draw n independent rows with their labels and true posteriors."""
        n = check_rows(n, caller="sample")
        generator = check_rng(rng, caller="sample")
        mode = generator.choice(len(self.mode_share), n, p=self._joint_share())
        x = self._modes.draw(mode, generator)
        return TaskSample(x=x, y=self.labels[self.classes[mode]], posterior=self.posterior(x))

    def posterior(self, x: ArrayLike) -> FloatArray:
        """Exact P(Y | x), (n, K) in class order; `x` is (n, d), or (n,) for one feature."""
        rows = self.check_features(x, caller="posterior")
        result = np.empty((len(rows), self.n_classes))
        for block in row_blocks(len(rows), 1 << 14):
            result[block], _ = self._normalised(rows[block])
        return result

    def density(self, x: ArrayLike) -> FloatArray:
        """Density of the features, (n,)."""
        rows = self.check_features(x, caller="density")
        result = np.empty(len(rows))
        for block in row_blocks(len(rows), 1 << 14):
            _, result[block] = self._normalised(rows[block])
        return np.exp(result)

    def interval_mass(self, edges: ArrayLike) -> FloatArray:
        """P(low < X <= high, Y = k) between consecutive edges, exact, for one feature.

        `edges` ascend and may begin and end with infinities; the answer is (len(edges) - 1, K).
        """
        caller = "interval_mass"
        cut = float_array(edges, caller=caller, param="edges").astype(np.float64)
        if self.n_features != 1:
            hint = "intervals exist on a line; draw rows instead."
            raise invalid(caller, "task", "of one feature", f"{self.n_features}", hint=hint)
        if cut.ndim != 1 or len(cut) < 2 or not (np.diff(cut) > 0).all():
            hint = "give two or more edges, each larger than the one before."
            raise invalid(caller, "edges", "ascending", f"{cut.tolist()}", hint=hint)
        mass = self._modes.interval_mass(cut) * self._joint_share()
        return mass @ self._membership()

    def with_prior(self, prior: ArrayLike) -> Self:
        """The same classes in other proportions: P(X | Y) stays, P(Y) changes."""
        return type(self)(
            self._modes.means,
            self._modes.covariances,
            self.classes,
            mode_share=self.mode_share,
            prior=prior,
            labels=self.labels,
        )

    def bayes_figures(self, *, n_draws: int = 200_000, rng: Any = None) -> BayesFigures:
        """Accuracy, Brier score and log loss of the true posterior, the best that can be had.

        One feature: quadrature, and `n_draws` is not used. Several: means over `n_draws` rows of
        what each figure expects given the row (no label is drawn), with standard errors.
        """
        n_draws = check_rows(n_draws, caller="bayes_figures", param="n_draws")
        return bayes_figures(self, n_draws, check_rng(rng, caller="bayes_figures"))

    def check_features(self, x: ArrayLike, *, caller: str) -> FloatArray:
        """Return features as (n, d)."""
        rows = float_array(x, caller=caller, param="x").astype(np.float64, copy=False)
        if rows.ndim == 1 and self.n_features == 1:
            rows = rows[:, None]
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            expected, hint = f"of shape (n, {self.n_features})", "give one column a feature."
            raise invalid(caller, "x", expected, f"shape {rows.shape}", hint=hint)
        # Beyond, squared distances overflow.
        if not (np.abs(rows) < 1e120).all():
            hint = "drop rows that are missing or infinite."
            raise invalid(caller, "x", "finite, below 1e120 in size", "other values", hint=hint)
        return rows

    def _joint_share(self) -> FloatArray:
        share = self.prior[self.classes] * self.mode_share
        return share / share.sum()

    def _membership(self) -> FloatArray:
        """Which mode belongs to which class, (M, K)."""
        return np.equal.outer(self.classes, np.arange(self.n_classes)).astype(np.float64)

    def _normalised(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Posteriors (n, K) and log densities (n,): a sum of exponentials about the largest."""
        log = self._modes.log_density(x) + np.log(self._joint_share())
        top = log.max(axis=1, keepdims=True)
        parts = np.exp(log - top) @ self._membership()
        total = parts.sum(axis=1)
        return parts / total[:, None], top[:, 0] + np.log(total)


def _check_classes(classes: Any, n_modes: int, caller: str) -> IntArray:
    index = to_numpy(classes, caller=caller, param="classes")
    fits = index.shape == (n_modes,) and index.dtype.kind in "iu"
    found = np.unique(index) if fits else np.empty(0, dtype=np.int64)
    if not fits or len(found) < 2 or not np.array_equal(found, np.arange(len(found))):
        expected = f"{n_modes} indices that use each of 0..K-1, with K of 2 or more"
        hint = "name the class of each mode by its index; `labels` gives names."
        raise invalid(caller, "classes", expected, f"{index.tolist()}", hint=hint)
    return index.astype(np.int64)


def _check_labels(labels: Any, k: int, caller: str) -> Array:
    if labels is None:
        return np.arange(k)
    names = to_numpy(labels, caller=caller, param="labels").copy()
    # Ascending, because elsewhere columns of probabilities follow the sorted labels.
    if names.shape != (k,) or not np.array_equal(np.unique(names), names):
        hint = "name each class once, in ascending order."
        raise invalid(caller, "labels", f"{k} ascending labels", f"{names.tolist()}", hint=hint)
    return names


def _check_shares(mode_share: Any, classes: IntArray, caller: str) -> FloatArray:
    if mode_share is None:
        return 1 / np.bincount(classes)[classes]
    share = float_array(mode_share, caller=caller, param="mode_share").astype(np.float64)
    fits = share.shape == classes.shape and bool((share > 0).all())
    if not fits or np.abs(np.bincount(classes, share) - 1).max() > 1e-9:
        expected, got = "positive with sum 1 in each class", f"{share.tolist()}"
        hint = "give the share of each mode within its own class."
        raise invalid(caller, "mode_share", expected, got, hint=hint)
    return share
