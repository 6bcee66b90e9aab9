"""Formulas as columns of any engine."""
