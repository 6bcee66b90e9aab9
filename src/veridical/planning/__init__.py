"""Planning: what decisions made with predictions are worth before there is a model."""

from veridical.planning._allocation_process import AllocationProcess
from veridical.planning._game_engine import GameState, HealthcareGame, play
from veridical.planning._game_players import (
    InformedPlayer,
    Player,
    RecalibratingPlayer,
    TrustingPlayer,
    best_choices,
)
from veridical.planning._game_rules import GameRules
from veridical.planning._game_terminal import play_in_terminal
from veridical.planning._kelly import KellyProcess
from veridical.planning._processes import (
    CallableProcess,
    CostProcess,
    DecisionProcess,
    ThresholdProcess,
)
from veridical.planning._simulate import simulate_decisions

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
