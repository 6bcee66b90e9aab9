"""Smooth maps of log odds, fitted by Newton's method."""
