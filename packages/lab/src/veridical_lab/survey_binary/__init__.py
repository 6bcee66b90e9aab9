"""The survey's two-class task."""
