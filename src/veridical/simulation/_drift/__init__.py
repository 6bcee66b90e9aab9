"""Streams that change in a known way."""
