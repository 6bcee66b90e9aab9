"""Answers only when sure: thresholds, curves and sets with a promise."""
