"""A map that learns from every outcome a monitor counts, as the store keeps it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.schema import Fields, Numbers, Place, Text, check_fields
from veridical._core.sample import Sample
from veridical._core.typing import FloatArray
from veridical.calibrators import OnlineCalibrator
from veridical.calibrators.core import MAP_NAMES, ledger, share
from veridical.monitoring._maps.rows import ModelColumns
from veridical.monitoring._store.store import Store
from veridical.results import OnlineStatus

STATE = "online"
_POINTS = (0.1, 0.5, 0.9)
_HINT = "the store was damaged or changed by hand: restore a copy of it."
_SEEN = Fields(weights=Numbers(5, low=0, shares=True), maps=Numbers(5, "d"))


@dataclass(frozen=True, eq=False)
class OnlineMap:
    """The map, and when what it is began.

    Attributes
    ----------
    map : fitted, on top of the map in use
    since : when it began to learn
    leading_since : since when the map that has the largest weight has it
    """

    map: OnlineCalibrator
    since: str
    leading_since: str

    @property
    def leading(self) -> int:
        """Which of its maps has the largest weight."""
        return int(self.map.weights_.argmax())


def read_online(store: Store) -> OnlineMap | None:
    """The map of a store, which anyone may have written to; None before its first rows."""
    state = store.state(STATE)
    if state is None:
        return None
    place = Place("CalibrationMonitor", "store.online", hint=_HINT)
    if not isinstance(state, dict):
        raise place.wrong(state, "a record")
    times = {name: value for name, value in state.items() if name != "map"}
    check_fields(Fields(since=Text(), leading_since=Text()), times, place)
    return OnlineMap(OnlineCalibrator.from_dict(state.get("map")), **times)  # type: ignore[arg-type]


def learn_online(
    store: Store, watched: Sample, columns: ModelColumns, now: str, *, cohort: int | None
) -> None:
    """Learn from a counted batch, as part of the transaction that counts it.

    A cohort is judged by the map as it was when the cohort was observed.
    """
    learnt = read_online(store)
    labels = np.asarray(columns.classes)[watched.y]
    if learnt is None:
        positive = columns.classes[1] if len(columns.labels) == 2 else None
        map = OnlineCalibrator(labels=list(columns.labels), pos_label=positive)
        learnt = OnlineMap(map.partial_fit(watched.p, labels), now, now)
    else:
        leading = learnt.leading
        said = None if cohort is None else _said_then(store, learnt.map, watched.p, cohort)
        learnt.map.partial_fit(watched.p, labels, predicted=said)
        if learnt.leading != leading:
            learnt = replace(learnt, leading_since=now)
    times = {"since": learnt.since, "leading_since": learnt.leading_since}
    store.set_state(STATE, {"map": learnt.map.to_dict(), **times}, lasting=False)


def remember_online(store: Store, learnt: OnlineMap, cohort: int) -> None:
    """Keep what the map was when a cohort was observed, until its outcomes are known."""
    seen = {"weights": learnt.map.weights_.tolist(), "maps": learnt.map.maps_.tolist()}
    store.set_state(_name(cohort), seen, lasting=False)


def _said_then(store: Store, map: OnlineCalibrator, p: FloatArray, cohort: int) -> FloatArray:
    """What the map said of the rows of a cohort when they were observed."""
    seen = store.state(_name(cohort))
    then = copy(map)
    if seen is not None:  # else nothing was learnt then, or another map was in use
        place = Place("CalibrationMonitor", f"store.{_name(cohort)}", hint=_HINT)
        if not isinstance(seen, dict):
            raise place.wrong(seen, "a record")
        values: dict[str, Any] = {}
        for name, value in seen.items():
            try:
                values[name] = np.array(value, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise place.at(name).wrong(value, "numbers") from error
        check_fields(_SEEN, values, place)
        if values["maps"].shape != map.maps_.shape:
            raise place.at("maps").wrong(seen["maps"], f"of shape {map.maps_.shape}")
        then.weights_, then.maps_ = values["weights"], values["maps"]
        store.drop_state(_name(cohort))
    return then.predict_proba(p)


def _name(cohort: int) -> str:
    return f"{STATE} cohort {cohort}"


def online_status(learnt: OnlineMap) -> OnlineStatus:
    """What the map does to a low, a middle and a high prediction today, and what it was worth."""
    map = learnt.map
    labels = map.classes_.tolist()
    if len(labels) == 2:
        found = map.predict_proba(list(_POINTS))[:, [map.positive_index_]]
        event = f"probability of {map.positive_label!r}"
    else:
        found = np.array([_of_each_class(map, point) for point in _POINTS])
        event = f"probability of any of {len(labels)} classes, the others alike"
    low, high = found.min(axis=1).tolist(), found.max(axis=1).tolist()
    bound = None if map.n_late_ else map.most_cost_
    leading, weight = MAP_NAMES[learnt.leading], float(map.weights_.max())
    points = zip(_POINTS, low, high, strict=True)
    becomes = ", ".join(f"{given:g} becomes {_range(a, b)}" for given, a, b in points)
    verdict = (
        f"Online map, learning since {learnt.since}: {ledger(map.gain_, map.n_rows_, bound)}. "
        f"Today, as the {event}, {becomes}; mostly {leading} ({weight:.2f}), since"
        f" {learnt.leading_since}."
    )
    return OnlineStatus(
        since=learnt.since,
        n_rows=map.n_rows_,
        given=_POINTS,
        low=tuple(low),
        high=tuple(high),
        event=event,
        gain=map.gain_,
        most_cost=bound,
        leading=leading,
        leading_weight=weight,
        leading_since=learnt.leading_since,
        verdict=verdict,
    )


def _of_each_class(map: OnlineCalibrator, point: float) -> FloatArray:
    """What becomes of a probability of each class in turn, while the others share the rest."""
    n = len(map.classes_)
    rows = np.full((n, n), (1 - point) / (n - 1))
    np.fill_diagonal(rows, point)
    return np.diag(map.predict_proba(rows))


def _range(low: float, high: float) -> str:
    first, last = share(low), share(high)
    return first if first == last else f"{first} to {last}"
