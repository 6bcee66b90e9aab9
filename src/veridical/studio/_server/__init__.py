"""Addresses, safety and the process."""
