"""How a classifier of one feature scores along the line, cut into short pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray
from veridical.simulation._gaussian import GaussianMixtureTask
from veridical.simulation._tasks import Classifier, predict
from veridical.simulation._tasks_bayes import line_nodes

STEEP, HALVINGS = 1e-3, 24  # probabilities may differ by so much between nodes, unless they jump
BLOCK = 1 << 14  # rows a classifier sees at a time: a network keeps all its activations


@dataclass(frozen=True, eq=False)
class Line:
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


def trace(task: GaussianMixtureTask, classifier: Classifier, n_nodes: int, *, caller: str) -> Line:
    """Ask a classifier at about `n_nodes` places, and more where it jumps or changes its mind."""

    def ask(x: FloatArray) -> FloatArray:
        result = np.empty((len(x), task.n_classes))
        for block in row_blocks(len(x), BLOCK):
            result[block] = predict(classifier, x[block, None], task.n_classes, caller=caller)
        return result

    nodes = line_nodes(task, n_nodes)
    p = ask(nodes)
    for _ in range(HALVINGS):
        steep = np.flatnonzero((np.abs(np.diff(p, axis=0)) > STEEP).any(axis=1))
        if len(steep) == 0:
            break
        nodes, p = _insert(nodes, p, (nodes[steep] + nodes[steep + 1]) / 2, ask)
    nodes, p = _insert(nodes, p, _turns(nodes, p), ask)
    return Line(nodes, p, task.interval_mass(nodes))


def of_class(line: Line, index: int) -> Pieces:
    """Pieces for the probability of one class."""
    score = line.p[:, index]
    asked = np.full(len(line.mass), index)
    return Pieces(score[:-1], score[1:], line.mass.sum(axis=1), line.mass[:, index], asked)


def of_top(line: Line) -> Pieces:
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
    more = more[~np.isin(more, nodes)]  # the middle of two neighbouring numbers is one of them
    places = np.searchsorted(nodes, more)
    return np.insert(nodes, places, more), np.insert(p, places, ask(more), axis=0)
