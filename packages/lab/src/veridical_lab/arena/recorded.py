"""Numbers that others published or that their program gives, and the rows they belong to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veridical_lab.arrays import FloatArray, IntArray

_FILE = Path(__file__).parents[1] / "data" / "arena.json"


@dataclass(frozen=True)
class TestRows:
    """A recipe of the tests of probmetrics: shares of classes and how far logits are off.

    Attributes
    ----------
    n, n_classes : size
    inverse_temperature : by which logits would have to be multiplied to be right
    seed : of the probabilities; the tests leave labels to chance, here it draws them, too
    """

    n: int
    n_classes: int
    inverse_temperature: float
    seed: int

    @property
    def name(self) -> str:
        """As the recorded values call it."""
        return f"{self.n} rows, {self.n_classes} classes"

    def draw(self) -> tuple[IntArray, FloatArray]:
        """Labels and probabilities.

        Examples
        --------
        >>> y, p = TEST_ROWS[0].draw()
        >>> y[:3].tolist(), p[0].round(4).tolist()
        ([1, 0, 0], [0.3493, 0.6507])
        """
        rng = np.random.default_rng(self.seed)
        p = rng.dirichlet(rng.exponential(size=self.n_classes), self.n)
        logits = self.inverse_temperature * np.log(p + 1e-30)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        true = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
        drawn = np.random.default_rng(self.seed).random((self.n, 1))
        return (drawn < true).argmax(axis=1), p


TEST_ROWS = (TestRows(500, 2, 0.3, 0), TestRows(2000, 4, 2.0, 1))


def recorded(of: str) -> dict[str, Any]:
    """What the file holds of "probmetrics" or "calarena".

    Examples
    --------
    >>> recorded("probmetrics")["version"]
    '1.3.0'
    """
    found: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return dict(found[of])
