"""The survey's three-class task."""
