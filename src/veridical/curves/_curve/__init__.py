"""Reliability curves and their bands."""
