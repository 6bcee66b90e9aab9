"""Bets on whole vectors of probabilities: rivals that learn how often classes happen, and where."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from veridical._core.data.schema import Fields, Number, Numbers, Place, Text, check_fields, said
from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray, IntArray
from veridical.monitoring._store.counts import FLOOR
from veridical.monitoring._store.database import Database
from veridical.monitoring._store.plan import MOST_IN_VECTORS, aside
from veridical.monitoring._store.states import read_state

STATE = "vectors"
SCALE = 5000.0  # rows, of what is set aside
_MOST_IN_PAIRS = 5  # classes, up to which a leaf is a pair: the most probable class and the next
_FORGETTING = (1.0, 0.9995, 0.998)  # what a row counts after the next one came
_PARTS = (0.4, 0.9)  # of a correction that rivals bet on
_N_RIVALS = len(_FORGETTING) * len(_PARTS)
_RIDGE = 20.0  # rows that pull corrections to none
_HINT = "the store was damaged or changed by hand: restore a copy of it."
_FIELDS = Fields(
    n_classes=Number(low=3, high=MOST_IN_VECTORS, whole=True),
    n_rows=Number(low=0, whole=True),
    log_e=Number(),
    log_max=Number(low=0),
    wealth=Numbers(_N_RIVALS),
    missed=Numbers(len(_FORGETTING), "l", "k"),
    spread=Numbers(len(_FORGETTING), "l", "k", low=0),
    sums=Numbers(2),
    alarmed_at=Text(none=True),
)
_ARRAYS = ("wealth", "missed", "spread", "sums")


@dataclass(eq=False)
class VectorProcess:
    r"""Wealth of gamblers who bet on how frequent every class is where others are likely.

    Predictions may be right class by class and in their confidence, while vectors are not
    (Vaicenavicius et al. 2019, Table 1). Rows are divided into leaves by their most probable
    class, of up to five classes also by the next one, as by a tree whose questions are fixed
    beforehand. In a leaf l a rival corrects classes by what was learnt there so far,

    .. math:: q_k \propto p_k \exp(c \, \delta_{lk}), \quad
        \delta_{lk} = \frac{\sum (y_k - p_k)}{\sum p_k (1 - p_k) + 20},

    one Newton step from none, with sums over earlier batches, discounted by 1, 0.9995 or 0.998 a
    row, and c = 0.4 or 0.9. A rival is made before the batch, so that the factor
    :math:`q_y / p_y` of a row has mean 1 if p is right. Wealth is a martingale, as is its mean
    over rivals and over the batches at which they begin, and P(it ever reaches 1 / alpha) <=
    alpha (Ville; predictable rivals: Henzi & Ziegel 2022, Biometrika 109, 647-663, and Waudby-Smith
    & Ramdas 2024, JRSS B 86, 1-27, arXiv 2010.09686).

    Attributes
    ----------
    n_classes : K, from 3 to 20
    n_rows, log_e, log_max : as of other streams
    wealth : logs, of each rival
    missed, spread : sums of y - p and of p (1 - p), (discounts, leaves, K)
    sums : of y - p and of (y - p)^2, y being whether the second most probable class happened
    alarmed_at : when whole vectors alone were to blame; None if never
    """

    n_classes: int
    n_rows: int = 0
    log_e: float = 0.0
    log_max: float = 0.0
    wealth: FloatArray = field(default_factory=lambda: np.full(_N_RIVALS, -np.inf))
    missed: FloatArray = field(default_factory=lambda: np.empty(0))
    spread: FloatArray = field(default_factory=lambda: np.empty(0))
    sums: FloatArray = field(default_factory=lambda: np.zeros(2))
    alarmed_at: str | None = None

    def __post_init__(self) -> None:
        if not self.missed.size:
            leaves = self.n_classes ** (2 if self._in_pairs else 1)
            self.missed = np.zeros((len(_FORGETTING), leaves, self.n_classes))
            self.spread = np.zeros_like(self.missed)

    @property
    def _in_pairs(self) -> bool:
        return self.n_classes <= _MOST_IN_PAIRS

    def advance(self, sample: MulticlassSample) -> None:
        """Bet on a batch, then learn from it."""
        p = np.maximum(sample.p.astype(np.float64, copy=False), FLOOR)
        p /= p.sum(axis=1, keepdims=True)
        first, second = _most_probable(p)
        leaf = first * self.n_classes + second if self._in_pairs else first
        before, after = (float(aside(n, SCALE)) for n in (self.n_rows, self.n_rows + len(p)))
        begun = math.log((before - after) / _N_RIVALS)
        self.wealth = np.logaddexp(self.wealth, begun) + self._log_factors(p, sample.y, leaf)
        self.n_rows += len(p)
        self.log_e = float(np.logaddexp(math.log(after), np.logaddexp.reduce(self.wealth)))
        self.log_max = max(self.log_max, self.log_e)
        self._learn(p, sample.y, leaf)
        rest = (sample.y == second) - p[np.arange(len(p)), second]
        self.sums = self.sums + np.array([rest.sum(), rest @ rest])

    def _log_factors(self, p: FloatArray, y: IntArray, leaf: IntArray) -> FloatArray:
        """Log likelihood ratio of every rival to the predictions over a batch."""
        shift = self.missed / (self.spread + _RIDGE)
        found = []
        for part in _PARTS:
            factor = np.exp(part * shift)  # one for each leaf and class, not for each row
            total = np.einsum("nk,fnk->fn", p, factor[:, leaf])
            found.append((part * shift[:, leaf, y] - np.log(total)).sum(axis=1))
        return np.stack(found, axis=1).reshape(-1)

    def _learn(self, p: FloatArray, y: IntArray, leaf: IntArray) -> None:
        shape = self.missed.shape[1:]
        place = leaf[:, None] * self.n_classes + np.arange(self.n_classes)
        size = shape[0] * shape[1]
        happened = np.bincount(leaf * self.n_classes + y, minlength=size)
        missed = happened - np.bincount(place.ravel(), p.ravel(), minlength=size)
        spread = np.bincount(place.ravel(), (p * (1 - p)).ravel(), minlength=size)
        kept = np.array(_FORGETTING)[:, None, None] ** len(p)
        self.missed = kept * self.missed + missed.reshape(shape)
        self.spread = kept * self.spread + spread.reshape(shape)

    def direction(self, labels: tuple[Any, ...]) -> str:
        """Which class differs most, by standard errors of its discounted sum, and where."""
        best = int(self.wealth.argmax()) // len(_PARTS)
        size = np.abs(self.missed[best]) / np.sqrt(self.spread[best] + 1.0)
        leaf, k = np.unravel_index(int(size.argmax()), size.shape)
        frequent = "more" if self.missed[best][leaf, k] > 0 else "less"
        first, second = divmod(int(leaf), self.n_classes if self._in_pairs else 1)
        then = f" and {labels[second]!r} next" if self._in_pairs else ""
        what = f"{labels[int(k)]!r} {frequent} frequent than predicted"
        where = f"where {labels[first]!r} is the most probable class{then}"
        return f"whole vectors are off: {what} {where}"

    def to_state(self) -> dict[str, Any]:
        """JSON-safe, for `read_vectors`."""
        state: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("n_classes", "n_rows", "log_e", "log_max", "alarmed_at")
        }
        return state | {name: _text(getattr(self, name)) for name in _ARRAYS}


def read_vectors(database: Database) -> VectorProcess | None:
    """The bets of a store, which anyone may have written to; None without."""
    state = read_state(database, STATE)
    if state is None:
        return None
    place = Place("CalibrationMonitor", "store.vectors", hint=_HINT)
    if not isinstance(state, dict):
        raise place.wrong(state, "a record")
    values = dict(state)
    n_classes: Any = values.get("n_classes")
    Number(low=3, high=MOST_IN_VECTORS, whole=True).check(n_classes, place.at("n_classes"))
    empty = VectorProcess(n_classes)
    for name in _ARRAYS:
        values[name] = _array(values.get(name), getattr(empty, name).shape, place.at(name))
    check_fields(_FIELDS, values, place)
    return VectorProcess(**values)


def _text(values: FloatArray) -> str:
    """Numbers as text that is written and read faster than digits."""
    return b64encode(values.astype("<f8").tobytes()).decode("ascii")


def _array(text: Any, shape: tuple[int, ...], place: Place) -> FloatArray:
    """Numbers of this shape from their text."""
    try:
        values = np.frombuffer(b64decode(text, validate=True), dtype="<f8")
    except (TypeError, ValueError) as error:
        raise place.wrong(text, "numbers as text") from error
    if values.size != math.prod(shape):
        raise place.wrong(said(f"{values.size} numbers"), f"{math.prod(shape)} numbers")
    return values.reshape(shape).astype(np.float64)


def _most_probable(p: FloatArray) -> tuple[IntArray, IntArray]:
    """The most probable class of each row and the next one; ties go to the first column."""
    first = p.argmax(axis=1)
    others = p.copy()
    others[np.arange(len(p)), first] = -1.0
    return first, others.argmax(axis=1)
