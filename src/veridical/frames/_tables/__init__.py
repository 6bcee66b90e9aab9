"""Frames and files as tables: which columns, which rows, which labels."""
