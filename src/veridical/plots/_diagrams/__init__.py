"""Diagrams of predictions and outcomes."""
