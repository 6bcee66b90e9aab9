"""Sums by bin of rows in memory."""
