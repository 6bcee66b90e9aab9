"""Fitted calibrators elsewhere: as files, Python source, SQL, ONNX graphs and torch modules."""

from veridical.export._files import load, save
from veridical.export._onnx import to_onnx
from veridical.export._python import to_python
from veridical.export._sql import to_sql
from veridical.export._torch import to_torch

__all__ = ["load", "save", "to_onnx", "to_python", "to_sql", "to_torch"]
