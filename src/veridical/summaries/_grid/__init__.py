"""Sums by bin and fine cell, mergeable."""
