"""Proper scoring rules: score, entropy and divergence, per observation (survey section 3)."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.scores._rules.rules import (
        RULES,
        BrierRule,
        LogRule,
        ScoringRule,
        SphericalRule,
        ZeroOneRule,
        brier_score,
        get_rule,
        log_loss,
        spherical_score,
        zero_one_loss,
    )

__all__ = [
    "RULES",
    "BrierRule",
    "LogRule",
    "ScoringRule",
    "SphericalRule",
    "ZeroOneRule",
    "brier_score",
    "get_rule",
    "log_loss",
    "spherical_score",
    "zero_one_loss",
]

__getattr__, __dir__ = late_names(__name__)
