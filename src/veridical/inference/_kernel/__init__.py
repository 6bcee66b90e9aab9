"""Tests with kernels, and over all scales at once."""
