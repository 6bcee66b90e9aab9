"""Blocks, and how they are written as pages."""
