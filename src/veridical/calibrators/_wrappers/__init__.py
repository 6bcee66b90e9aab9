"""Calibrators made of other calibrators."""
