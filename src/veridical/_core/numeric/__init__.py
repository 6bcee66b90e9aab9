"""Kernels: one pass over blocks of rows, no checks."""
