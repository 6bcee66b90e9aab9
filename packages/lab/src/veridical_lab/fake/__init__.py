"""Classifiers made to measure."""
