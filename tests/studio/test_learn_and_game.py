"""The pages that teach: a fake classifier whose truth is known, and the game to its end."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.planning import HealthcareGame, TrustingPlayer

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")


def test_temperature_moves_calibration_and_not_the_order(studio):
    found = {t: studio.get("learn", temperature=t, rows=4000) for t in (0.4, 1, 2.5)}
    assert found[1]["true_ece"] == pytest.approx(0, abs=1e-12)
    assert found[1]["ece"]["value"] < found[1]["ece"]["null_q95"] * 1.5
    for t in (0.4, 2.5):
        assert found[t]["ece"]["value"] > 2 * found[t]["ece"]["null_q95"]
        assert found[t]["scores"]["log"] > found[1]["scores"]["log"]
        assert found[t]["auc"] == pytest.approx(found[1]["auc"], abs=1e-12)
        assert found[t]["accuracy"] == found[1]["accuracy"]
        assert found[t]["best_scores"]["log"] == pytest.approx(found[1]["scores"]["log"])
    assert "Over-confident" in found[0.4]["verdict"]
    assert "Under-confident" in found[2.5]["verdict"]


def test_uniform_truth_has_known_figures(studio):
    """Truth uniform on [0, 1]: said p is the power 1/T of the odds; E|p - said| for T = 1/2."""
    found = studio.get("learn", temperature=0.5, spread=1, rows=20_000, cost_fn=3)
    u = (np.arange(200_000) + 0.5) / 200_000
    said = u**2 / (u**2 + (1 - u) ** 2)
    assert found["true_ece"] == pytest.approx(np.abs(said - u).mean(), abs=4 * 0.07 / 20_000**0.5)
    # Acts above 1/4: said > 1/4 where the odds exceed sqrt(1/3).
    odds = 3**-0.5
    wanted = 1 - odds / (1 + odds)
    assert found["threshold"] == pytest.approx(0.25)
    assert found["acts"] == pytest.approx(wanted, abs=4 * 0.5 / 20_000**0.5)
    assert found["should_act"] == pytest.approx(0.75, abs=4 * 0.5 / 20_000**0.5)


@pytest.mark.parametrize("query", [{"temperature": 0}, {"rows": 10**9}, {"n_bins": 0}, {"seed": -1},
                                   {"spread": "inf"}, {"cost_fn": 0}])  # fmt: skip
def test_odd_lessons_are_explained(studio, refused, query):
    refused(studio.client.get("/api/learn", params=query), 400)


def test_a_game_is_played_to_its_end(studio):
    options = {"level": "very over-confident", "n_rounds": 3, "n_patients": 4}
    seen = studio.post("game", **options, seed=11)
    twin = HealthcareGame("very over-confident", n_rounds=3, n_patients=4, rng=11)
    for number in (1, 2, 3):
        assert seen["round"] == number
        assert [tuple(row) for row in seen["reports"]] == list(twin.patients().reports)
        assert "seed" not in seen  # from which all conditions follow
        assert "summary" not in seen
        choices = studio.get("game/advice")["choices"]
        assert tuple(choices) == TrustingPlayer().choose(twin.patients(), (), twin.rules)
        outcome = twin.treat(choices)
        seen = studio.post("game/treat", choices=choices)
        assert seen["last"]["value"] == outcome.value
        assert seen["value"] == pytest.approx(sum(each.value for each in twin.outcomes))
        assert seen["promised"] == pytest.approx(sum(each.promised for each in twin.outcomes))
        assert [each["value"] for each in seen["rounds"]] == [e.value for e in twin.outcomes]
    assert seen["finished"]
    assert seen["summary"]["sentences"] == list(twin.summary().sentences())
    assert studio.get("game") == seen  # another page may ask again


def test_what_cannot_be_played(studio, refused):
    seen = studio.post("game", n_rounds=1, n_patients=2)
    for choices in ([4, 4], [0], [9, 0], None, "AA", {"x": 1}):
        answer = studio.client.post("/api/game/treat", json={"choices": choices})
        assert refused(answer, 400)["hint"]
    assert studio.get("game") == seen  # nothing was played
    studio.post("game/treat", choices=[0, 0])
    refused(studio.client.post("/api/game/treat", json={"choices": [0, 0]}), 400)
    refused(studio.client.post("/api/game", json={"level": "magic"}), 400)
    refused(studio.client.post("/api/game", json={"n_patients": 10**6}), 400)
