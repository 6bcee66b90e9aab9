"""Shares of classes from scores and a few labels."""
