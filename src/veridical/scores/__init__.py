"""Proper scoring rules: score, entropy and divergence, per observation (survey section 3)."""

from veridical.scores._base import RULES, ScoringRule, get_rule
from veridical.scores._brier import BrierRule, brier_score
from veridical.scores._log import LogRule, log_loss
from veridical.scores._spherical import SphericalRule, spherical_score
from veridical.scores._zero_one import ZeroOneRule, zero_one_loss

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
