"""Fitted calibrators elsewhere: as files, Python source, SQL, ONNX graphs and torch modules."""

from veridical.export._tensors.onnx import to_onnx
from veridical.export._tensors.torch import to_torch
from veridical.export._text.files import load, save
from veridical.export._text.python import to_python
from veridical.export._text.sql import to_sql

__all__ = ["load", "save", "to_onnx", "to_python", "to_sql", "to_torch"]
