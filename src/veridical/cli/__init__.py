"""The command line: argument parsing only, the library does the work."""

from veridical.cli._main import main

__all__ = ["main"]
