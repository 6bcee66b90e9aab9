"""True calibration of a classifier of one feature, by quadrature over short pieces of the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.labels import find_label
from veridical._core.data.validation import check_option, float_array, is_number
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.simulation._tasks.gaussian import (
    Classifier,
    GaussianMixtureTask,
    check_rows,
    line_nodes,
    predict,
)

STEEP, HALVINGS = 1e-3, 24  # probabilities may differ by so much between nodes, unless they jump
BLOCK = 1 << 14  # rows a classifier sees at a time: a network keeps all its activations


@dataclass(frozen=True, eq=False)
class TracedLine:
    """Nodes on the line, probabilities there, and exact class masses in between."""

    nodes: FloatArray  # (N + 1,)
    p: FloatArray  # (N + 1, K)
    mass: FloatArray  # (N, K)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of the line for one question: where the score begins and ends, and the masses."""

    start: FloatArray
    end: FloatArray
    mass: FloatArray
    right: FloatArray  # mass of rows whose asked class occurs
    asked: IntArray  # which class that is


def trace(
    task: GaussianMixtureTask, classifier: Classifier, n_nodes: int, *, caller: str
) -> TracedLine:
    """Ask a classifier at about `n_nodes` places, and more where it jumps or changes its mind."""

    def ask(x: FloatArray) -> FloatArray:
        result = np.empty((len(x), task.n_classes))
        for block in row_blocks(len(x), BLOCK):
            result[block] = predict(classifier, x[block, None], task.n_classes, caller=caller)
        return result

    nodes = line_nodes(task, check_rows(n_nodes, caller=caller, param="n_nodes"))
    p = ask(nodes)
    for _ in range(HALVINGS):
        steep = np.flatnonzero((np.abs(np.diff(p, axis=0)) > STEEP).any(axis=1))
        if len(steep) == 0:
            break
        nodes, p = _insert(nodes, p, (nodes[steep] + nodes[steep + 1]) / 2, ask)
    nodes, p = _insert(nodes, p, _turns(nodes, p), ask)
    return TracedLine(nodes, p, task.interval_mass(nodes))


def of_class(line: TracedLine, index: int) -> Pieces:
    """Pieces for the probability of one class."""
    score = line.p[:, index]
    asked = np.full(len(line.mass), index)
    return Pieces(score[:-1], score[1:], line.mass.sum(axis=1), line.mass[:, index], asked)


def of_top(line: TracedLine) -> Pieces:
    """Pieces for the largest probability; ties go to the first class."""
    asked = (line.p[:-1] + line.p[1:]).argmax(axis=1)
    score = line.p.max(axis=1)
    right = np.take_along_axis(line.mass, asked[:, None], axis=1)[:, 0]
    return Pieces(score[:-1], score[1:], line.mass.sum(axis=1), right, asked)


def _turns(nodes: FloatArray, p: FloatArray) -> FloatArray:
    """Where the largest probability passes from one class to another, by straight lines."""
    top = p.argmax(axis=1)
    at = np.flatnonzero(top[:-1] != top[1:])
    before, after = top[at], top[at + 1]
    ahead, behind = p[at, before] - p[at, after], p[at + 1, after] - p[at + 1, before]
    share = ahead / np.maximum(ahead + behind, np.finfo(np.float64).tiny)
    x = nodes[at] + share * (nodes[at + 1] - nodes[at])
    return np.unique(x[(x > nodes[at]) & (x < nodes[at + 1])])


def _insert(
    nodes: FloatArray, p: FloatArray, more: FloatArray, ask: Classifier
) -> tuple[FloatArray, FloatArray]:
    """Add places strictly between the nodes, with the answers there."""
    places = np.searchsorted(nodes, more)
    new = nodes[np.minimum(places, len(nodes) - 1)] != more
    more, places = more[new], places[new]  # the middle of two neighbouring numbers is one of them
    return np.insert(nodes, places, more), np.insert(p, places, ask(more), axis=0)


SCORE_CELLS = 1 << 20
LENSES = ("binary", "confidence", "classwise")


def true_calibration_error(
    task: GaussianMixtureTask,
    classifier: Classifier,
    *,
    lens: str | None = None,
    label: Any = None,
    norm: float = 1.0,
    n_nodes: int = 1 << 16,
) -> float:
    r"""Calibration error of a classifier in the population, free of sampling noise.

    Parameters
    ----------
    task : GaussianMixtureTask
        A task with one feature.
    classifier : callable
        Features (n, 1) to probabilities (n, K), for example `model.predict_proba`; for two classes
        also (n,), the probability of the second.
    lens : {"binary", "confidence", "classwise"}, optional
        Default: "binary" for two classes, "confidence" for more.
    label : label of a class, optional
        Ask about this class instead of a lens.
    norm : float >= 1, default 1
        The exponent p.
    n_nodes : int, default 65536
        Places along the line where the classifier is asked.

    Returns
    -------
    float
        In [0, 1]; 0 for a calibrated classifier.

    Notes
    -----
    .. math:: \left( E\,|P(\text{right} \mid S) - S|^p \right)^{1/p}

    and over classes :math:`(\frac1K \sum_k e_k^p)^{1/p}`. Between two nodes the score is taken to
    run straight and evenly; the class masses there are exact. All that share a score within 1e-6
    are pooled, wherever they lie, so scores need not be monotone, may be constant in places, and
    may jump: steps of more than 0.001 are tracked down by halving. Right to about 1e-6. Time
    O(`n_nodes`) besides the classifier.

    References
    ----------
    .. [1] Silva Filho et al. (2023), doi 10.1007/s10994-023-06336-7, section 5.2.
    .. [2] Vaicenavicius et al. (2019), Evaluating model calibration, section 3.2 and 5.1.

    Examples
    --------
    Two equally likely classes and a model that always says 0.75: off by 0.25.

    >>> task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    >>> round(true_calibration_error(task, lambda x: np.full(len(x), 0.75)), 9)
    0.25
    """
    caller = "true_calibration_error"
    if not (is_number(norm) and norm >= 1):
        hint = "1 is the expected, 2 the root mean squared error."
        raise invalid(caller, "norm", "a number of 1 or more", repr(norm), hint=hint)
    asked = _check_question(task, lens, label, caller)
    line = trace(task, classifier, n_nodes, caller=caller)
    if asked == "classwise":
        errors = [_power_error(of_class(line, k), norm) for k in range(task.n_classes)]
        return float(np.mean(errors) ** (1 / norm))
    return float(_power_error(_pieces(line, asked), norm) ** (1 / norm))


def true_reliability(
    task: GaussianMixtureTask,
    classifier: Classifier,
    scores: ArrayLike,
    *,
    lens: str | None = None,
    label: Any = None,
    n_nodes: int = 1 << 16,
) -> FloatArray:
    r"""Probability of being right at given scores, in the population: the true reliability curve.

    Parameters
    ----------
    task, classifier, label, n_nodes
        As in `true_calibration_error`.
    scores : array-like of shape (m,)
        Where the curve is wanted.
    lens : {"binary", "confidence"}, optional
        Default: "binary" for two classes, "confidence" for more.

    Returns
    -------
    ndarray of shape (m,)
        NaN where the classifier never answers that score.

    Notes
    -----
    .. math:: r(s) = \frac{\sum_x f(x)\, \eta(x) / |s'(x)|}{\sum_x f(x) / |s'(x)|}

    over all x with that score, f being the density of the feature and :math:`\eta` the posterior
    of the class asked about. The places are found by straight lines between the nodes. Where a
    whole stretch of the line has the score, it outweighs single points and alone counts. Right to
    about 1e-6 unless the score turns there. Time O(m `n_nodes`).

    Examples
    --------
    Log odds are 2 x, the model says x: at a score of 0.75 the odds are 3, and truly 9.

    >>> task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    >>> true_reliability(task, lambda x: 1 / (1 + np.exp(-x[:, 0])), [0.75]).round(6)
    array([0.9])
    """
    caller = "true_reliability"
    where = float_array(scores, caller=caller, param="scores").astype(np.float64)
    if where.ndim != 1 or not ((where >= 0) & (where <= 1)).all():
        hint = "give a list of scores between 0 and 1."
        raise invalid(caller, "scores", "1-d, in [0, 1]", f"shape {where.shape}", hint=hint)
    asked = _check_question(task, lens, label, caller)
    if asked == "classwise":
        hint = "ask for one class at a time with `label=`."
        raise invalid(caller, "lens", '"binary" or "confidence"', '"classwise"', hint=hint)
    line = trace(task, classifier, n_nodes, caller=caller)
    pieces = _pieces(line, asked)
    return np.array([_reliability_at(task, line.nodes, pieces, float(s)) for s in where])


def _check_question(
    task: GaussianMixtureTask, lens: str | None, label: Any, caller: str
) -> str | int:
    """The lens, or the index of the class asked about."""
    if not isinstance(task, GaussianMixtureTask) or task.n_features != 1:
        hint = "with more features the level sets of a score are surfaces; draw rows instead."
        raise invalid(caller, "task", "a task with one feature", repr(task), hint=hint)
    if label is not None:
        if lens is not None:
            hint = "leave out `lens`: a class is a lens of its own."
            raise invalid(caller, "label", "given without `lens`", f"lens={lens!r}", hint=hint)
        return find_label(label, tuple(task.labels.tolist()), caller=caller, param="label")
    chosen = lens if lens is not None else "binary" if task.n_classes == 2 else "confidence"
    check_option(caller, "lens", chosen, LENSES)
    if chosen == "binary" and task.n_classes > 2:
        hint = 'use "confidence", "classwise" or `label=`.'
        got = f"'binary' with {task.n_classes} classes"
        raise invalid(caller, "lens", "one for several classes", got, hint=hint)
    return 1 if chosen == "binary" else chosen


def _pieces(line: TracedLine, asked: str | int) -> Pieces:
    return of_top(line) if isinstance(asked, str) else of_class(line, asked)


def _power_error(pieces: Pieces, norm: float) -> float:
    """E|P(right | S) - S|^norm, everything of one score cell pooled."""
    score = (pieces.start + pieces.end) / 2
    # The gap is spread as a whole: spread apart, scores would vary along a piece and outcomes not.
    width, (mass, gap) = _spread(pieces, [pieces.mass, pieces.right - score * pieces.mass])
    held = mass > 0
    mean = np.minimum(np.abs(gap[held]) / mass[held], 1)  # above only where mass is rounding
    share = width[held] * mass[held]
    return float((share * mean**norm).sum() / (width * mass).sum())


def _spread(pieces: Pieces, values: list[FloatArray]) -> tuple[IntArray, list[FloatArray]]:
    """Sum of each of the values in every score cell; neighbouring cells that are equal are one.

    A piece within one cell goes there. A longer one gives each cell its share of the length: the
    two ends by themselves, the cells in between by a running sum of beginnings and endings, which
    changes only where a piece begins or ends. Returned are the numbers of equal cells first.
    """
    low = np.minimum(pieces.start, pieces.end) * SCORE_CELLS
    high = np.maximum(pieces.start, pieces.end) * SCORE_CELLS
    first = np.minimum(low.astype(np.int64), SCORE_CELLS - 1)
    last = np.minimum(high.astype(np.int64), SCORE_CELLS - 1)
    short, long = np.flatnonzero(first == last), np.flatnonzero(first < last)
    length = high[long] - low[long]
    head, tail = (first[long] + 1 - low[long]) / length, (high[long] - last[long]) / length
    share = np.concatenate([np.ones(len(short)), head, tail])
    piece = np.concatenate([short, long, long])
    inner = long[last[long] > first[long] + 1]  # longer than a cell: density below the value
    density = 1 / (high[inner] - low[inner])
    edges = np.unique(np.concatenate([first, first + 1, last, last + 1]))
    held = np.concatenate([first[short], first[long], last[long]])
    cell, begin, stop = (np.searchsorted(edges, k) for k in (held, first[inner] + 1, last[inner]))
    n = len(edges)

    def at(place: IntArray, value: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(place, value, n), dtype=np.float64)

    def summed(value: FloatArray) -> FloatArray:
        flow = density * value[inner]
        between = np.cumsum(at(begin, flow) - at(stop, flow))
        return (at(cell, share * value[piece]) + between)[:-1]

    return np.diff(edges), [summed(value) for value in values]


def _reliability_at(
    task: GaussianMixtureTask, nodes: FloatArray, pieces: Pieces, score: float
) -> float:
    flat = pieces.start == pieces.end
    level = flat & (np.abs(pieces.start - score) < 1e-12)
    if level.any() and pieces.mass[level].sum() > 0:
        return float(pieces.right[level].sum() / pieces.mass[level].sum())
    low, high = np.minimum(pieces.start, pieces.end), np.maximum(pieces.start, pieces.end)
    hit = np.flatnonzero((low <= score) & (score < high))
    rise = pieces.end[hit] - pieces.start[hit]
    width = nodes[hit + 1] - nodes[hit]
    x = nodes[hit] + (score - pieces.start[hit]) / rise * width
    weight = task.density(x) * np.abs(width / rise) if len(x) else np.zeros(0)
    if not weight.any():
        return float("nan")
    truth = task.posterior(x)[np.arange(len(x)), pieces.asked[hit]]
    return float(truth @ weight / weight.sum())
