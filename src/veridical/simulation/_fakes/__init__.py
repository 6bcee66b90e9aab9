"""Fake classifiers."""
