"""Fitted calibrators elsewhere: as files, as Python source and as SQL."""

from veridical.export._files import load, save
from veridical.export._python import to_python
from veridical.export._sql import to_sql

__all__ = ["load", "save", "to_python", "to_sql"]
