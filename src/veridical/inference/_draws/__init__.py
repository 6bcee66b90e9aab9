"""Outcomes drawn from predictions, and p-values of what they show."""
