"""Regression of outcomes on predictions."""
