"""What the pages "Learn" and "Game" ask for: fake classifiers whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.data.validation import check_sample
from veridical.decisions import cost_threshold, expected_cost
from veridical.evaluation.core import evaluate_source
from veridical.evaluation.data import DataRequest
from veridical.lenses.reading import RawData
from veridical.planning import HealthcareGame, TrustingPlayer
from veridical.report.charts import reliability_chart
from veridical.results import ReliabilityCurve, RoundOutcome
from veridical.simulation import DirichletFakeClassifier, TemperatureMap
from veridical.studio._api.evaluate import error_data
from veridical.studio._data.answers import Refused, chart_data, number, values_of, whole_number
from veridical.studio._data.session import Session

_EDGES = np.linspace(0, 1, 101)


def learn(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Rows of a fake classifier at a temperature, and what is measured on them."""
    temperature = number(query.get("temperature", 1), "temperature", 0.2, 5)
    spread = number(query.get("spread", 1), "spread", 0.2, 10)
    rows = whole_number(query.get("rows", 2000), "rows", 50, 20_000)
    n_bins = whole_number(query.get("n_bins", 10), "n_bins", 1, 50)
    seed = whole_number(query.get("seed", 0), "seed", 0, 10**6)
    cost_fn = number(query.get("cost_fn", 1), "cost_fn", 0.02, 50)
    fake = DirichletFakeClassifier((spread, spread), TemperatureMap(temperature))
    drawn = fake.sample(rows, rng=seed)  # the same truth at every temperature
    predicted, truth = drawn.y_prob[:, 1], drawn.p_true[:, 1]
    source = DataRequest(RawData(drawn.y, predicted, labels=[0, 1]), caller="learn").rows()
    found = evaluate_source(source, n_bins=n_bins, confidence_level=0.95, n_resamples=200, rng=0)
    curves = {"measured": found.curve, "truth": _true_curve(temperature)}
    title = "Reliability diagram of the fake classifier"
    threshold = float(cost_threshold(1, cost_fn))
    cost = expected_cost(drawn.y, predicted, (1, cost_fn), labels=[0, 1])
    best = expected_cost(drawn.y, truth, (1, cost_fn), labels=[0, 1])
    return {
        "verdict": found.verdict.text,
        "chart": chart_data(
            reliability_chart(curves, classes=("after", "other"), title=title), "lesson-chart"
        ),
        "ece": error_data(found.default),
        "true_ece": float(np.mean(np.abs(truth - predicted))),
        "scores": {name: found.scores[name] for name in ("log", "brier")},
        "best_scores": _scores_of_truth(drawn.y, truth),
        "accuracy": found.accuracy,
        "auc": found.auc,
        "threshold": threshold,
        "acts": float(np.mean(predicted > threshold)),
        "should_act": float(np.mean(truth > threshold)),
        "cost": cost.realised.estimate,
        "promised": cost.predicted.estimate,
        "best_cost": best.realised.estimate,
    }


def _true_curve(temperature: float) -> ReliabilityCurve:
    """What is true of each prediction: its log-odds times the temperature."""
    predicted = (_EDGES[1:] + _EDGES[:-1]) / 2
    truth = 1 / (1 + np.exp(-temperature * np.log(predicted / (1 - predicted))))
    # Known everywhere, so no rows are counted; every part weighs the same.
    count, weight = np.zeros(len(predicted)), np.ones(len(predicted))
    return ReliabilityCurve(
        lower=_EDGES[:-1].copy(),
        upper=_EDGES[1:].copy(),
        count=count,
        weight=weight,
        predicted=predicted,
        observed=truth,
        gap=truth - predicted,
        lens="binary",
        method="smooth",
        definition="known, not estimated",
        event="y = 1",
        n_samples=0,
    )


def _scores_of_truth(y: Any, truth: Any) -> dict[str, float]:
    from veridical.scores import get_rule

    sample = check_sample(y, truth, caller="learn", labels=[0, 1])
    return {name: get_rule(name, caller="learn").mean(sample) for name in ("log", "brier")}


def new_game(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Begin a game; one that was played is forgotten."""
    rounds = whole_number(body.get("n_rounds", 5), "n_rounds", 1, 20)
    patients = whole_number(body.get("n_patients", 10), "n_patients", 2, 30)
    seed = body.get("seed")
    game = HealthcareGame(
        body.get("level", "over-confident"),
        n_rounds=rounds,
        n_patients=patients,
        rng=None if seed is None else whole_number(seed, "seed", 0, 2**32 - 1),
    )
    with session.lock:
        session.game = game
    return _visible(game)


def state(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """The game as it stands."""
    if session.game is None:
        return {"levels": HealthcareGame.LEVELS, "playing": False}
    return _visible(session.game)


def treat(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Play a round."""
    game = _game(session)
    with session.lock:  # two clicks must not play two rounds with one choice
        game.treat(body.get("choices"))  # type: ignore[arg-type]  # checked there
    return _visible(game)


def advice(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """What one would choose who takes the reports at their word."""
    game = _game(session)
    choices = TrustingPlayer().choose(game.patients(), game.outcomes, game.rules)
    return {"choices": list(choices)}


def _game(session: Session) -> HealthcareGame:
    if session.game is None:
        raise Refused(409, "no game yet", "start one.")
    return session.game


def _visible(game: HealthcareGame) -> dict[str, Any]:
    """What a player may see: no truth, no conditions of the round to play."""
    known: dict[str, Any] = {
        "levels": HealthcareGame.LEVELS,
        "playing": True,
        **values_of(game, "level", "n_rounds", "n_patients", "finished"),
        "rules": values_of(game.rules, "conditions", "treatments", "costs", "benefit", "unit"),
        "last": _outcome(game.outcomes[-1]) if game.outcomes else None,
        "value": sum(outcome.value for outcome in game.outcomes),
        "promised": sum(outcome.promised for outcome in game.outcomes),
        "rounds": [values_of(outcome, "value", "promised") for outcome in game.outcomes],
        "seen": _seen(game) if game.outcomes else None,
    }
    if not game.finished:
        patients = game.patients()
        return known | _patients(patients) | {"budget": patients.budget}
    summary = game.summary()
    return known | {
        "summary": {
            "sentences": summary.sentences(),
            "players": [player.to_dict() for player in summary.players],
            "hindsight": summary.hindsight,
        },
        "seed": game.seed,
    }


def _outcome(outcome: RoundOutcome) -> dict[str, Any]:
    names = ("choices", "conditions", "effects", "cost", "promised", "value")
    return _patients(outcome.patients) | values_of(outcome, *names)


def _patients(patients: Any) -> dict[str, Any]:
    return {"round": patients.round_number, **values_of(patients, "reports", "stakes")}


def _seen(game: HealthcareGame) -> dict[str, Any]:
    """Reliability diagram of all reports whose conditions are known: what can be learnt from."""
    reports = np.array([row for outcome in game.outcomes for row in outcome.patients.reports])
    conditions = [condition for outcome in game.outcomes for condition in outcome.conditions]
    rows = RawData(conditions, reports, labels=list(range(reports.shape[1])))
    source = DataRequest(rows, caller="game").rows()
    # A few wide bins: a player asks whether "about 0.9" was right nine times in ten.
    found = evaluate_source(source, n_bins=5, confidence_level=0.95, n_resamples=200, rng=0)
    title = f"How sure {len(conditions)} reports were, and how often they were right"
    return chart_data(reliability_chart(found.curve, title=title), "seen-chart")
