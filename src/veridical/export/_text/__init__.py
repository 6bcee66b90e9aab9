"""Calibrators as files, Python and SQL."""
