"""How the stake of the alarm is divided among what is watched, and how it is bet over time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from veridical._core.data.schema import Fields, Number, Place, check_fields
from veridical._core.typing import FloatArray
from veridical.inference.core import ONSET_ROWS, Bets
from veridical.monitoring._store.counts import MOST_CLASSES, REGIONS
from veridical.monitoring._store.database import Database

STATE = "bets"
FAMILIES = ("all", "region", "class", "group")
VECTOR = "vector"
MOST_IN_VECTORS = 20  # classes whose vectors are bet on as a whole
_HINT = "the store was damaged or changed by hand: restore a copy of it."
_PART = Number(low=0, high=1)
_FIELDS = Fields(
    first_groups=Number(low=0, whole=True), **dict.fromkeys((*FAMILIES, VECTOR), _PART)
)


@dataclass(frozen=True)
class Plan:
    """Shares of the alarm's stake, fixed by the first batch before its outcomes are looked at.

    A weighted mean of fair games is fair if weights are fixed beforehand; what no stream has
    claimed counts as 1.

    Attributes
    ----------
    edition : 1 for stores from before whole vectors were watched
    parts : of each family
    first_groups : groups of the first batch, which share three quarters of their part equally
    """

    edition: int
    parts: dict[str, float]
    first_groups: int = 0

    @classmethod
    def of_first_batch(cls, n_classes: int, n_groups: int) -> Plan:
        """What suits rows like these."""
        parts = {"region": 0.05, "class": 0.0, VECTOR: 0.0, "group": 0.4 if n_groups else 0.1}
        if n_classes > 2:
            less = 0.6 if n_groups else 1.0
            parts["class"] = 0.2 * less if n_classes <= MOST_CLASSES else 0.0
            parts[VECTOR] = 0.25 * less if n_classes <= MOST_IN_VECTORS else 0.0
        parts["all"] = 1 - sum(parts.values())
        return cls(2, parts, n_groups)

    def share(self, family: str, position: int, n_classes: int) -> float:
        """Part of the stake that the stream at this place of its family has.

        Classes and ranges share equally, as groups of the first batch do. Nobody knows how many
        others will come: the j-th has 1 / ((j + 1) (j + 2)) of what is left, so that all that
        ever come fit in.
        """
        part = self.parts[family]
        if family == "region":
            return part / (len(REGIONS) - 1)
        if family == "class":
            return part / n_classes
        if family != "group":
            return part
        if position < self.first_groups:
            return 0.75 * part / self.first_groups
        later = position - self.first_groups
        left = 0.25 * part if self.first_groups else part
        return left / ((later + 1) * (later + 2))

    def scale(self, family: str) -> float:
        """Rows of a stream after which half of what was set aside has been bet; 0 in edition 1."""
        if self.edition == 1:
            return 0.0
        return 5000.0 if family in ("all", VECTOR) else 1000.0

    def to_state(self) -> dict[str, Any]:
        """JSON-safe, for `read_plan`."""
        return {**self.parts, "first_groups": self.first_groups}


FIRST_EDITION = Plan(1, {"all": 0.5, "region": 0.1, "class": 0.15, "group": 0.25, VECTOR: 0.0})


def read_plan(database: Database) -> Plan | None:
    """The plan of a store; None before its first batch, or in one that is older than plans."""
    text = database.value("SELECT value FROM states WHERE name = ?", STATE)
    return None if text is None else _plan(text)


@lru_cache(maxsize=16)
def _plan(text: str) -> Plan:
    """The plan that a text says; it is read with every batch, and the same each time."""
    place = Place("CalibrationMonitor", "store.bets", hint=_HINT)
    try:
        state = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise place.wrong(text, "JSON") from error
    if not isinstance(state, dict):
        raise place.wrong(state, "a record")
    check_fields(_FIELDS, state, place)
    parts = {name: float(state[name]) for name in (*FAMILIES, VECTOR)}
    if sum(parts.values()) > 1 + 1e-9:
        raise place.wrong(sum(parts.values()), "shares of at most one together")
    return Plan(2, parts, state["first_groups"])


def aside(n_rows: FloatArray | float, scale: FloatArray | float) -> FloatArray:
    r"""Part of the stake not yet bet after so many rows.

    In edition 2 a quarter is bet from the beginning, and half of the rest within `scale` rows;
    in edition 1 (`scale` 0) it was :math:`(1 + \lceil n / 100 \rceil)^{-1/2}`.
    """
    n, rows = np.asarray(n_rows, dtype=np.float64), np.asarray(scale, dtype=np.float64)
    before = (1 + np.ceil(n / ONSET_ROWS)) ** -0.5
    now = np.where(n == 0, 1.0, 0.75 / (1 + n / np.where(rows == 0, 1.0, rows)))
    return np.where(rows == 0, before, now)


@cache
def log_prior(edition: int) -> FloatArray:
    """Log of the part of a stream's stake that each rival has.

    In edition 2 rivals of moderate size have more: bold ones win in a few rows whatever they
    start with. Tuned on other streams than those of `docs/monitoring.md`.
    """
    bets = Bets("two-sided")
    if edition == 1:
        return bets.log_prior
    shift, slope = bets.maps
    kinds = (slope == 1, shift == 0, (slope != 1) & (shift != 0))
    size = np.exp(-0.5 * (shift / 0.6) ** 2 - 0.5 * (np.log(slope) / 0.4) ** 2)
    size[np.abs(shift) == np.abs(shift[shift != 0]).min()] *= 0.5
    weights = np.zeros(len(bets))
    for kind, part in zip(kinds, (0.4, 0.3, 0.15), strict=True):
        weights[: len(shift)][kind] = part * size[kind] / size[kind].sum()
    weights[len(shift) :] = 0.15 / (len(bets) - len(shift))
    return np.log(weights)
