"""Segments nobody named: searched all at once, with one p-value for the search."""
