"""Planning: what decisions made with predictions are worth before there is a model."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.planning._game.engine import GameState, HealthcareGame, play
    from veridical.planning._game.players import (
        InformedPlayer,
        Player,
        RecalibratingPlayer,
        TrustingPlayer,
        best_choices,
    )
    from veridical.planning._game.rules import GameRules
    from veridical.planning._game.terminal import play_in_terminal
    from veridical.planning._value.processes import (
        AllocationProcess,
        CallableProcess,
        CostProcess,
        DecisionProcess,
        KellyProcess,
        ThresholdProcess,
    )
    from veridical.planning._value.simulate import simulate_decisions

__all__ = [
    "AllocationProcess",
    "CallableProcess",
    "CostProcess",
    "DecisionProcess",
    "GameRules",
    "GameState",
    "HealthcareGame",
    "InformedPlayer",
    "KellyProcess",
    "Player",
    "RecalibratingPlayer",
    "ThresholdProcess",
    "TrustingPlayer",
    "best_choices",
    "play",
    "play_in_terminal",
    "simulate_decisions",
]

__getattr__, __dir__ = late_names(__name__)
