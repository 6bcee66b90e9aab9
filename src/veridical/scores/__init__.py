"""Proper scoring rules: score, entropy and divergence, per observation (survey section 3)."""

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
