"""Calibrators on whole blocks of columns: ONNX and torch."""
