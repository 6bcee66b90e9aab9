"""The command line: argument parsing only, the library does the work."""

from veridical.cli.main import main

__all__ = ["main"]
